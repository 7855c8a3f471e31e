"""Parses addresses from merchants, and rejects suspicious ones.

This gives merchants clear error messages. The guard decides whether to connect: it checks the IP
address that is really used.
"""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address
from typing import Final

from yarl import URL

from printworks.net.errors import BadAddress

LONGEST: Final = 4096

_SCHEME: Final = re.compile(r"https?://", re.IGNORECASE)
# Parsers disagree about spaces, control characters and backslashes.
_UNCLEAR: Final = re.compile(r"[\s\\\x00-\x1f\x7f-\x9f\ud800-\udfff]")
_LABEL: Final = re.compile(r"[a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9_])?", re.ASCII | re.IGNORECASE)
# 127.1, 0x7f000001, 0177.0.0.1: the C library takes these for IP addresses.
_NUMBER: Final = re.compile(r"[0-9]+|0x[0-9a-f]*", re.ASCII | re.IGNORECASE)


def read_url(text: str) -> URL:
    """Return the address, its name in ASCII; raise `BadAddress` with a sentence otherwise."""
    if len(text) > LONGEST:
        raise BadAddress(f"An address must not be longer than {LONGEST} characters.")
    if not _SCHEME.match(text):
        raise BadAddress("An address must begin with http:// or https://.")
    _check_clear(text)
    try:
        # An address that needs no encoding is used unchanged: some are signed.
        url = URL(text, encoded=text.isascii()).with_fragment(None)
        _check_authority(url, text)
    except ValueError as error:
        raise BadAddress("The address cannot be read.") from error
    return url


def follow(url: URL, location: str) -> URL:
    """Return the target of a redirect; raise `BadAddress` as `read_url` does."""
    if re.match("[a-z][a-z0-9+.-]*:", location, re.IGNORECASE):
        return read_url(location)
    _check_clear(location)
    try:
        found = str(url.join(URL(location, encoded=location.isascii())))
    except ValueError as error:
        raise BadAddress("The address cannot be read.") from error
    return read_url(found)


def _check_clear(text: str) -> None:
    if _UNCLEAR.search(text):
        raise BadAddress("An address must hold no blanks, control characters or backslashes.")


def _check_authority(url: URL, text: str) -> None:
    authority = re.split(r"[/?#]", text, maxsplit=3)[2]
    if "@" in authority or url.raw_user is not None or url.raw_password is not None:
        raise BadAddress("An address must hold no user name and no password.")
    if not is_host(url.raw_host or "", in_brackets="[" in authority):
        raise BadAddress("The address names no valid host.")
    _, colon, port = authority.rpartition("]")[2].partition(":")
    if colon and not (re.fullmatch(r"[0-9]{1,5}", port, re.ASCII) and 1 <= int(port) <= 65535):
        raise BadAddress("The port of an address must be a number from 1 to 65535.")


def is_host(host: str, *, in_brackets: bool) -> bool:
    """Return whether this is a name, an IPv4 address in dotted notation, or an IPv6 address."""
    if in_brackets:
        return _is_plain(host, IPv6Address)
    labels = host.removesuffix(".").split(".")
    if len(host) > 254 or not all(_LABEL.fullmatch(label) for label in labels):
        return False
    return not _NUMBER.fullmatch(labels[-1]) or _is_plain(host, IPv4Address)


def _is_plain(host: str, kind: type[IPv4Address | IPv6Address]) -> bool:
    try:
        kind(host)
    except (AddressValueError, ValueError):
        return False
    # A zone is a network interface of this machine.
    return "%" not in host
