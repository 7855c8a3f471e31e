"""The guard against server-side request forgery: decides for each socket whether to connect.

aiohttp asks the guard for every socket, with the IP address to which it will be connected: after
the DNS lookup, whatever the notation of the address, and for every redirect. There is no later
lookup that could return another address.
"""

import socket
from collections.abc import Collection
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import urlsplit

from yarl import URL

from printworks.net.addresses import METADATA, is_forbidden, read_address
from printworks.net.errors import BadAddress
from printworks.net.own_address import OwnAddress
from printworks.net.urls import read_url
from printworks.settings import Settings, is_loopback

if TYPE_CHECKING:
    # Web processes check addresses, and connect to none.
    from aiohttp import AddrInfoType

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
        own: OwnAddress | None = None,
    ) -> None:
        self._own = own
        self._allowed = (*allowed_networks, *(_LOOPBACK if allow_loopback else ()))

    @classmethod
    def of(cls, settings: Settings) -> Self:
        return cls(
            settings.outbound_allow_networks,
            allow_loopback=is_private_sandbox(settings),
            own=OwnAddress.of(settings),
        )

    def check(self, address: str, port: int) -> None:
        """Raise `Forbidden` unless we may connect to this address and port."""
        if self._own is not None and self._own.is_at(address, port):
            raise Forbidden(f"{address} port {port} is forbidden: our own.")
        found = read_address(address)
        if found is not None and self._is_allowed(found):
            return
        why = is_forbidden(address)
        if why is None and port not in PORTS:
            why = "port"
        if why is not None:
            raise Forbidden(f"{address} port {port} is forbidden: {why}.")

    def check_url(self, text: str) -> None:
        """Raise `BadAddress` if we could never connect, whatever its name may resolve to.

        For the moment in which a merchant gives an address: it asks no name server. What a name
        resolves to may change, so `check` decides about that with every connection.
        """
        url = read_url(text)
        host, port = _find_numbers(url), url.port or 443
        if self._own is not None and self._own.is_named(host, port):
            raise BadAddress("The address is that of this service itself, which it does not fetch.")
        address = read_address(host)
        if address is None:
            # A name may stand for an allowed address, which has any port.
            is_public, has_any_port = True, bool(self._allowed)
        else:
            has_any_port = self._is_allowed(address)
            is_public = has_any_port or is_forbidden(address) is None
        if not is_public:
            raise BadAddress("The address is not public, so it cannot be reached from here.")
        if port not in PORTS and not has_any_port:
            raise BadAddress("The port of an address must be 80 or 443.")

    def __call__(self, info: "AddrInfoType") -> socket.socket:
        """Create a socket for an address of `getaddrinfo`; the factory for aiohttp."""
        family, kind, protocol, _, where = info
        if family not in (socket.AF_INET, socket.AF_INET6):
            raise Forbidden(f"Address family {family} is forbidden.")
        self.check(str(where[0]), int(where[1]))
        return socket.socket(family, kind, protocol)

    def _is_allowed(self, address: IPv4Address | IPv6Address) -> bool:
        return address not in METADATA and any(address in network for network in self._allowed)


def _find_numbers(url: URL) -> str:
    """Return the host, with `localhost` as an address."""
    host = (url.host or "").lower().removesuffix(".")
    is_here = host == "localhost" or host.endswith(".localhost")
    return "127.0.0.1" if is_here else host


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
