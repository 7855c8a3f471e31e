"""Knows this service's own address, which it must not fetch: a request could ask for itself."""

import socket
import threading
import time
from contextlib import suppress
from ipaddress import ip_address
from typing import Final, Self
from urllib.parse import urlsplit

from printworks.settings import Settings

# What our own name resolves to may change, but not often.
_SECONDS_OF_TRUST: Final = 300.0
_HTTPS: Final = 443


class OwnAddress:
    """The name, the ports and the IP addresses at which this service answers."""

    def __init__(self, host: str, ports: frozenset[int]) -> None:
        self._host = host.lower().removesuffix(".")
        self._ports = ports
        self._resolved: frozenset[str] = frozenset()
        self._resolved_at: float | None = None
        self._lock = threading.Lock()

    @classmethod
    def of(cls, settings: Settings) -> Self:
        """Read it from the settings: where clients reach us, and where we listen."""
        public = urlsplit(settings.public_url)
        return cls(public.hostname or "", frozenset({public.port or _HTTPS, settings.port}))

    def is_named(self, host: str, port: int) -> bool:
        """Say whether an address is written as ours; no name server is asked."""
        named = host.lower().removesuffix(".")
        if port not in self._ports:
            return False
        return named == self._host or _is_of_this_machine(named)

    def is_at(self, address: str, port: int) -> bool:
        """Say whether an IP address and port are ours."""
        if port not in self._ports:
            return False
        return _is_of_this_machine(address) or address in self._get_resolved()

    def _get_resolved(self) -> frozenset[str]:
        """Return what our name resolved to last; looked up in the background, for nobody waits."""
        now = time.monotonic()
        with self._lock:
            is_old = self._resolved_at is None or now - self._resolved_at > _SECONDS_OF_TRUST
            if is_old and self._host:
                self._resolved_at = now
                threading.Thread(target=self.look_up, name="own-address", daemon=True).start()
        return self._resolved

    def look_up(self) -> None:
        """Ask what our own name resolves to."""
        with suppress(OSError, UnicodeError):
            found = socket.getaddrinfo(self._host, None, type=socket.SOCK_STREAM)
            self._resolved = frozenset(str(info[4][0]) for info in found)


def _is_of_this_machine(address: str) -> bool:
    """Say whether an IP address is one of this machine: only then can a socket be bound to it."""
    try:
        family = socket.AF_INET if ip_address(address).version == 4 else socket.AF_INET6
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except (OSError, ValueError):
        return False
    return True
