"""The table of forbidden networks: complete, and no wider than it says."""

from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.net.addresses import FORBIDDEN_4, FORBIDDEN_6, METADATA, is_forbidden
from tests.net.hostile import ORDINARY_4, ORDINARY_6

# Read from the IANA registries of special-purpose addresses, one by one.
REGISTERED = (
    *("0.0.0.0/8", "0.0.0.0/32", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"),
    *("172.16.0.0/12", "192.0.0.0/24", "192.0.0.0/29", "192.0.0.8/32", "192.0.0.9/32"),
    *("192.0.0.10/32", "192.0.0.170/32", "192.0.0.171/32", "192.0.2.0/24", "192.31.196.0/24"),
    *("192.52.193.0/24", "192.88.99.0/24", "192.88.99.2/32", "192.168.0.0/16", "192.175.48.0/24"),
    *("198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4", "255.255.255.255/32"),
    *("224.0.0.0/4", "::1/128", "::/128", "64:ff9b:1::/48", "100::/64", "100:0:0:1::/64"),
    *("2001::/23", "2001::/32", "2001:1::1/128", "2001:1::2/128", "2001:1::3/128", "2001:2::/48"),
    *("2001:3::/32", "2001:4:112::/48", "2001:10::/28", "2001:20::/28", "2001:30::/28"),
    *("2001:db8::/32", "2620:4f:8000::/48", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10"),
    *("fec0::/10", "ff00::/8"),
)


@pytest.mark.parametrize("network", REGISTERED)
def test_every_network_of_the_registries_is_forbidden(network: str) -> None:
    found = ip_network(network)

    assert is_forbidden(found[0])
    assert is_forbidden(found[-1])
    assert is_forbidden(found[found.num_addresses // 2])


@pytest.mark.parametrize("address", [*ORDINARY_4, *ORDINARY_6])
def test_an_ordinary_address_is_not_forbidden(address: str) -> None:
    assert is_forbidden(address) is None


def test_there_are_enough_ordinary_ones() -> None:
    assert len({*ORDINARY_4, *ORDINARY_6}) >= 30


@pytest.mark.parametrize("address", [str(address) for address in METADATA])
def test_metadata_services_are_named_as_such(address: str) -> None:
    assert "metadata" in str(is_forbidden(address))


@pytest.mark.parametrize(
    "text",
    ["", "x", "1.2.3", "0x7f.0.0.1", "127.0.0.01", "\uff11.1.1.1", "::g", "1.1.1.1%1", "1.1.1.1 "],
)
def test_what_is_no_address_is_forbidden(text: str) -> None:
    assert is_forbidden(text) == "not an IP address"


def test_a_zone_makes_no_difference() -> None:
    assert is_forbidden("fe80::1%eth0") == is_forbidden("fe80::1") == "link-local"


@given(st.ip_addresses(v=4))
def test_an_address_inside_another_is_judged_as_itself(address: IPv4Address) -> None:
    number = int(address)
    mapped = IPv6Address(0xFFFF << 32 | number)
    nat64 = IPv6Address(0x64_FF9B << 96 | number)
    six_to_four = IPv6Address(0x2002 << 112 | number << 80 | 1)
    isatap = IPv6Address(0x2606_4700 << 96 | 0x5EFE << 32 | number)

    expected = is_forbidden(address) is None

    for outer in (mapped, nat64, six_to_four, isatap):
        assert (is_forbidden(outer) is None) == expected


@given(st.ip_addresses())
def test_whatever_the_table_names_is_forbidden(address: IPv4Address | IPv6Address) -> None:
    networks: list[IPv4Network | IPv6Network] = [*FORBIDDEN_4, *FORBIDDEN_6]

    if any(address in network for network in networks):
        assert is_forbidden(address)
    assert is_forbidden(str(address)) == is_forbidden(address)
