"""Reading addresses: what is clear passes as it was written, the rest gets a sentence."""

import pytest
from yarl import URL

from printworks.net.errors import BadAddress
from printworks.net.urls import follow, read_url
from tests.net.hostile import ORDINARY_URLS


@pytest.mark.parametrize("address", ORDINARY_URLS)
def test_an_ordinary_address_passes(address: str) -> None:
    assert read_url(address).raw_host


@pytest.mark.parametrize(
    "address", ["https://public.example/%7Ea/%2e/b%2Fc?s=%2B+!~*'()&t=%E2%82%AC", "https://a.b/?x"]
)
def test_an_address_that_may_be_signed_is_asked_for_as_it_was_written(address: str) -> None:
    assert str(read_url(address)) == address


def test_a_name_with_other_letters_is_asked_for_in_ascii() -> None:
    url = read_url("https://bücher.example/straße.jpg?größe=1#teil")

    assert str(url) == "https://xn--bcher-kva.example/stra%C3%9Fe.jpg?gr%C3%B6%C3%9Fe=1"


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("ftp://a.example/", "An address must begin with http:// or https://."),
        ("a.example/x.jpg", "An address must begin with http:// or https://."),
        ("http://a.example/x y", "An address must hold no blanks, control characters or back"),
        ("http://me:word@a.example/", "An address must hold no user name and no password."),
        ("http://a.example:0/", "The port of an address must be a number from 1 to 65535."),
        ("http://a.example:/", "The port of an address must be a number from 1 to 65535."),
        ("http:///x", "The address names no valid host."),
        ("http://a..example/", "The address names no valid host."),
        ("http://0x7f.1/", "The address names no valid host."),
        ("http://[::1%25lo]/", "The address names no valid host."),
        ("http://[::1/", "The address cannot be read."),
        (f"http://a.example/{'x' * 5000}", "An address must not be longer than 4096 characters."),
    ],
)
def test_another_is_turned_down_with_a_sentence(address: str, sentence: str) -> None:
    with pytest.raises(BadAddress) as refused:
        read_url(address)

    assert refused.value.message.startswith(sentence)
    assert refused.value.is_permanent


@pytest.mark.parametrize(
    ("location", "found"),
    [
        ("/b?c=%2F", "https://a.example/b?c=%2F"),
        ("b", "https://a.example/x/b"),
        ("../b", "https://a.example/b"),
        ("?q", "https://a.example/x/y?q"),
        ("//c.example/d", "https://c.example/d"),
        ("http://c.example/d", "http://c.example/d"),
        ("/größe", "https://a.example/gr%C3%B6%C3%9Fe"),
    ],
)
def test_a_redirect_is_read_from_where_it_stands(location: str, found: str) -> None:
    assert str(follow(URL("https://a.example/x/y"), location)) == found


@pytest.mark.parametrize(
    "location", ["//u@c.example/", "//c.example:99999/", "/a b", "javascript:x", "//0x7f.1/"]
)
def test_a_redirect_that_leads_nowhere_is_turned_down(location: str) -> None:
    with pytest.raises(BadAddress):
        follow(URL("https://a.example/x/y"), location)
