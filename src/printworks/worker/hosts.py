"""How much each host has to do for us, and which hosts were slow lately, as this worker sees it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TypeAlias
from urllib.parse import urlsplit

from printworks.rules.hosts import BUSY_WAIT, MANY_SLOW_HOSTS, SLOW_FOR, HostLimits, is_slow
from printworks.rules.jobs import RetryLater

Host: TypeAlias = tuple[str, int | None]


class Exchange:
    """A request that is under way."""

    def __init__(self, merchant_id: int | None, host: Host) -> None:
        self.merchant_id = merchant_id
        self.host = host
        self.began = asyncio.get_running_loop().time()
        self.received = 0
        self.was_slow = False
        self.timer: asyncio.TimerHandle | None = None

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

    @contextmanager
    def slot(self, merchant_id: int | None, url: str) -> Iterator[Exchange]:
        """Take one of a host's slots; raise `RetryLater` while all are taken."""
        host = _read_host(url)
        limits = self._limits
        if (
            self._busy[host] >= limits.most
            or self._busy_for[merchant_id, host] >= limits.most_for_merchant
        ):
            under_way = f"{self._busy[host]} {limits.what} {host[0]} are under way."
            raise RetryLater(under_way, wait=BUSY_WAIT)
        exchange = Exchange(merchant_id, host)
        self._add(exchange, 1)
        self._judge_in(exchange, limits.answers_within)
        try:
            yield exchange
        finally:
            self._end(exchange)

    def _end(self, exchange: Exchange) -> None:
        if exchange.timer is not None:
            exchange.timer.cancel()
        self._add(exchange, -1)
        hosts = self._slow.get(exchange.merchant_id)
        if hosts is not None:
            if not exchange.was_slow:
                hosts.pop(exchange.host, None)
            if not hosts:
                del self._slow[exchange.merchant_id]

    def _add(self, exchange: Exchange, number: int) -> None:
        host, both = exchange.host, (exchange.merchant_id, exchange.host)
        self._busy[host] += number
        self._busy_for[both] += number
        if not self._busy[host]:
            del self._busy[host]
        if not self._busy_for[both]:
            del self._busy_for[both]

    def _judge_in(self, exchange: Exchange, wait: timedelta) -> None:
        loop = asyncio.get_running_loop()
        exchange.timer = loop.call_later(wait.total_seconds(), self._judge, exchange)

    def _judge(self, exchange: Exchange) -> None:
        """Note that a host is slow, and not when it has answered: others wait to begin."""
        now = asyncio.get_running_loop().time()
        waited = timedelta(seconds=now - exchange.began)
        if is_slow(self._limits, max(waited, self._limits.answers_within), exchange.received):
            exchange.was_slow = True
            until = now + SLOW_FOR.total_seconds()
            self._slow.setdefault(exchange.merchant_id, {})[exchange.host] = until
        else:
            self._judge_in(exchange, self._limits.answers_within)


def _read_host(url: str) -> Host:
    address = urlsplit(url)
    return address.hostname or "", address.port
