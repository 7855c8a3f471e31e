"""The IP addresses that we never connect to, and why: a complete table of our own.

Python's `ipaddress` only parses here: what it calls private or global differs from release to
release, and was wrong for years.
"""

from collections.abc import Mapping
from functools import lru_cache
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
)
from typing import Final

# Services that return a machine's credentials. No setting allows them.
METADATA: Final[Mapping[IPv4Address | IPv6Address, str]] = {
    IPv4Address("100.100.100.200"): "cloud metadata",
    IPv4Address("168.63.129.16"): "cloud metadata, although the address is public",
    IPv4Address("169.254.169.254"): "cloud metadata",
    IPv4Address("169.254.170.2"): "cloud metadata for containers",
    IPv4Address("169.254.170.23"): "cloud metadata for containers",
    IPv4Address("192.0.0.192"): "cloud metadata",
    IPv6Address("fd00:42::42"): "cloud metadata",
    IPv6Address("fd00:ec2::23"): "cloud metadata for containers",
    IPv6Address("fd00:ec2::254"): "cloud metadata",
    IPv6Address("fd20:ce::254"): "cloud metadata",
}

# IANA IPv4 Special-Purpose Address Registry, multicast and class E.
FORBIDDEN_4: Final[Mapping[IPv4Network, str]] = {
    IPv4Network("0.0.0.0/8"): "this network",
    IPv4Network("10.0.0.0/8"): "private use",
    IPv4Network("100.64.0.0/10"): "shared by a carrier's customers",
    IPv4Network("127.0.0.0/8"): "loopback",
    IPv4Network("169.254.0.0/16"): "link-local",
    IPv4Network("172.16.0.0/12"): "private use",
    IPv4Network("192.0.0.0/24"): "protocol assignments",
    IPv4Network("192.0.2.0/24"): "documentation",
    IPv4Network("192.31.196.0/24"): "AS112, infrastructure of the DNS",
    IPv4Network("192.52.193.0/24"): "multicast tunnels (AMT)",
    IPv4Network("192.88.99.0/24"): "6to4 relays, withdrawn",
    IPv4Network("192.168.0.0/16"): "private use",
    IPv4Network("192.175.48.0/24"): "AS112, infrastructure of the DNS",
    IPv4Network("198.18.0.0/15"): "benchmarks",
    IPv4Network("198.51.100.0/24"): "documentation",
    IPv4Network("203.0.113.0/24"): "documentation",
    IPv4Network("224.0.0.0/4"): "multicast",
    IPv4Network("240.0.0.0/4"): "reserved, broadcast included",
}

# IANA IPv6 Special-Purpose Address Registry, and what was reserved before it. A narrower network
# comes first, so that the log has the more specific reason.
FORBIDDEN_6: Final[Mapping[IPv6Network, str]] = {
    IPv6Network("::/128"): "unspecified",
    IPv6Network("::1/128"): "loopback",
    IPv6Network("::/96"): "IPv4-compatible, withdrawn",
    IPv6Network("::ffff:0:0:0/96"): "IPv4-translated (SIIT), used within one network",
    IPv6Network("64:ff9b:1::/48"): "NAT64 within one network, which alone knows the layout",
    IPv6Network("100::/64"): "discarded",
    IPv6Network("100:0:0:1::/64"): "dummy prefix",
    IPv6Network("2001::/32"): "Teredo tunnels",
    IPv6Network("2001::/23"): "protocol assignments",
    IPv6Network("2001:db8::/32"): "documentation",
    IPv6Network("2620:4f:8000::/48"): "AS112, infrastructure of the DNS",
    IPv6Network("3fff::/20"): "documentation",
    IPv6Network("5f00::/16"): "segment routing",
    IPv6Network("fc00::/7"): "private use (unique local)",
    IPv6Network("fe80::/10"): "link-local",
    IPv6Network("fec0::/10"): "site-local, withdrawn",
    IPv6Network("ff00::/8"): "multicast",
}

_GLOBAL_6: Final = IPv6Network("2000::/3")
_MAPPED: Final = IPv6Network("::ffff:0:0/96")
_NAT64: Final = IPv6Network("64:ff9b::/96")
_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
# The interface identifier, its bit for "globally unique" set or not.
_ISATAP: Final = (0x0000_5EFE, 0x0200_5EFE)


def is_forbidden(address: str | IPv4Address | IPv6Address) -> str | None:
    """Return why we do not connect to the address, or None if it is an ordinary public one."""
    found = read_address(address)
    if found is None:
        return "not an IP address"
    if found in METADATA:
        return METADATA[found]
    if isinstance(found, IPv4Address):
        return next((why for network, why in FORBIDDEN_4.items() if found in network), None)
    why = _is_forbidden_6(found)
    embedded = _find_embedded(found)
    if why is None and embedded is not None:
        why = is_forbidden(embedded)
        return f"{why}, within {found}" if why else None
    return why


# Merchants give many addresses at few hosts.
@lru_cache(1024)
def read_address(address: str | IPv4Address | IPv6Address) -> IPv4Address | IPv6Address | None:
    """Parse an address, without the zone of an IPv6 address; None if it is not valid."""
    if not isinstance(address, str):
        return address
    try:
        return ip_address(address.partition("%")[0] if ":" in address else address)
    except (AddressValueError, ValueError):
        return None


def _is_forbidden_6(address: IPv6Address) -> str | None:
    for network, why in FORBIDDEN_6.items():
        if address in network:
            return why
    if address in _GLOBAL_6 or address in _MAPPED or address in _NAT64:
        return None
    return "not assigned"


def _find_embedded(address: IPv6Address) -> IPv4Address | None:
    """Return the IPv4 address to which a gateway would forward this."""
    bits = int(address)
    if address in _MAPPED or address in _NAT64:
        return IPv4Address(bits & 0xFFFF_FFFF)
    if address in _SIX_TO_FOUR:
        return IPv4Address(bits >> 80 & 0xFFFF_FFFF)
    if bits >> 32 & 0xFFFF_FFFF in _ISATAP:
        return IPv4Address(bits & 0xFFFF_FFFF)
    return None
