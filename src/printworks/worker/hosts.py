"""How much each host has to do for us, and which hosts were slow lately, as this worker sees it."""

import asyncio
from collections import Counter
from collections.abc import Callable
from datetime import timedelta
from functools import lru_cache
from typing import Self, TypeAlias
from urllib.parse import urlsplit

from printworks.net.deadlines import SharedTimer
from printworks.rules.hosts import BUSY_WAIT, MANY_SLOW_HOSTS, SLOW_FOR, HostLimits, is_slow
from printworks.rules.jobs import RetryLater

Host: TypeAlias = tuple[str, int | None]


class HostExchange:
    """A request that is under way; the block in which it has one of its host's slots."""

    def __init__(self, hosts: "Hosts", merchant_id: int | None, host: Host) -> None:
        self._hosts = hosts
        self.merchant_id = merchant_id
        self.host = host
        self.began = 0.0
        self.received = 0
        self.was_slow = False

    def __enter__(self) -> Self:
        self._hosts.begin(self)
        return self

    def __exit__(self, *_: object) -> None:
        self._hosts.end(self)

    def time_is_up(self) -> None:
        self._hosts.judge(self)

    def count(self, write: Callable[[bytes], object]) -> Callable[[bytes], None]:
        """Count what comes, on its way to somewhere else."""

        def count_and_write(piece: bytes) -> None:
            self.received += len(piece)
            write(piece)

        return count_and_write


class Hosts:
    """Remembers it for one kind of requests, in this process only."""

    def __init__(self, limits: HostLimits) -> None:
        self._limits = limits
        self._timer = SharedTimer(limits.answers_within)
        self._busy: Counter[Host] = Counter()
        self._busy_for: Counter[tuple[int | None, Host]] = Counter()
        # Until when the hosts of a merchant count as slow. A host that is slow for one merchant is
        # not for others: they must not be able to slow each other.
        self._slow: dict[int | None, dict[Host, float]] = {}

    def is_slow(self, merchant_id: int | None, url: str) -> bool:
        """Whether a host was slow for a merchant lately, or is slow now."""
        hosts = self._slow.get(merchant_id)
        if not hosts:
            return False
        now = asyncio.get_running_loop().time()
        for host in [host for host, until in hosts.items() if until <= now]:
            del hosts[host]
        return _read_host(url) in hosts or len(hosts) >= MANY_SLOW_HOSTS

    def slot(self, merchant_id: int | None, url: str) -> HostExchange:
        """Take one of a host's slots for a block; raise `RetryLater` there if all are taken."""
        return HostExchange(self, merchant_id, _read_host(url))

    def begin(self, exchange: HostExchange) -> None:
        """Take a slot for an exchange."""
        host, both = exchange.host, (exchange.merchant_id, exchange.host)
        limits = self._limits
        busy = self._busy.get(host, 0)
        busy_for = self._busy_for.get(both, 0)
        if busy >= limits.most or busy_for >= limits.most_for_merchant:
            raise RetryLater(f"{busy} {limits.what} {host[0]} are under way.", wait=BUSY_WAIT)
        self._busy[host] = busy + 1
        self._busy_for[both] = busy_for + 1
        exchange.began = asyncio.get_running_loop().time()
        self._timer.start(exchange)

    def end(self, exchange: HostExchange) -> None:
        """Free the slot of an exchange; if it was quick, its host is not slow any more."""
        self._timer.stop(exchange)
        host, both = exchange.host, (exchange.merchant_id, exchange.host)
        self._busy[host] -= 1
        self._busy_for[both] -= 1
        if not self._busy[host]:
            del self._busy[host]
        if not self._busy_for[both]:
            del self._busy_for[both]
        hosts = self._slow.get(exchange.merchant_id)
        if hosts is not None:
            if not exchange.was_slow:
                hosts.pop(exchange.host, None)
            if not hosts:
                del self._slow[exchange.merchant_id]

    def judge(self, exchange: HostExchange) -> None:
        """Note that a host is slow, and not when it has answered: others wait to begin."""
        now = asyncio.get_running_loop().time()
        waited = timedelta(seconds=now - exchange.began)
        if is_slow(self._limits, max(waited, self._limits.answers_within), exchange.received):
            exchange.was_slow = True
            until = now + SLOW_FOR.total_seconds()
            self._slow.setdefault(exchange.merchant_id, {})[exchange.host] = until
        else:
            self._timer.start(exchange)


# Merchants have few addresses, and each is read for every request.
@lru_cache(maxsize=1024)
def _read_host(url: str) -> Host:
    address = urlsplit(url)
    return address.hostname or "", address.port
