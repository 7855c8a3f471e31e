"""The guard against server-side request forgery: decides for each socket whether to connect.

aiohttp asks the guard for every socket, with the IP address to which it will be connected: after
the DNS lookup, whatever the notation of the address, and for every redirect. There is no later
lookup that could return another address.
"""

import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final, Self
from urllib.parse import urlsplit

from aiohttp import AddrInfoType

from printworks.net.addresses import METADATA, is_forbidden, read_address
from printworks.settings import Settings, is_loopback

PORTS: Final = frozenset({80, 443})
_LOOPBACK: Final = (IPv4Network("127.0.0.0/8"), IPv6Network("::1/128"))


class Forbidden(PermissionError):
    """The guard does not allow this address; the text is for the log."""


class Guard:
    """Creates sockets for public addresses on ports 80 and 443, and for allowed networks.

    Allowed networks, and loopback if allowed, can be reached on any port, but only by their own
    addresses: an IPv6 address that embeds such an IPv4 address remains forbidden.
    """

    def __init__(
        self,
        allowed_networks: Collection[IPv4Network | IPv6Network] = (),
        *,
        allow_loopback: bool = False,
    ) -> None:
        self._allowed = (*allowed_networks, *(_LOOPBACK if allow_loopback else ()))

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(settings.outbound_allow_networks, allow_loopback=is_private_sandbox(settings))

    def check(self, address: str, port: int) -> None:
        """Raise `Forbidden` unless we may connect to this address and port."""
        found = read_address(address)
        if found is not None and self._is_allowed(found):
            return
        why = is_forbidden(address)
        if why is None and port not in PORTS:
            why = "port"
        if why is not None:
            raise Forbidden(f"{address} port {port} is forbidden: {why}.")

    def __call__(self, info: AddrInfoType) -> socket.socket:
        """Create a socket for an address of `getaddrinfo`; the factory for aiohttp."""
        family, kind, protocol, _, where = info
        if family not in (socket.AF_INET, socket.AF_INET6):
            raise Forbidden(f"Address family {family} is forbidden.")
        self.check(str(where[0]), int(where[1]))
        return socket.socket(family, kind, protocol)

    def _is_allowed(self, address: IPv4Address | IPv6Address) -> bool:
        return address not in METADATA and any(address in network for network in self._allowed)


def is_private_sandbox(settings: Settings) -> bool:
    """Return whether this is a sandbox that can only be used from this machine.

    Behind a proxy, or with a public address, others can use it too: they must not reach our
    loopback through us.
    """
    return (
        settings.environment == "sandbox"
        and is_loopback(settings.host)
        and not settings.behind_proxy
        and is_loopback(urlsplit(settings.public_url).hostname or "")
    )
