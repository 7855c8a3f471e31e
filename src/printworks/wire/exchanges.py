"""What was sent and answered, for the request log: without personal data, and never long."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from printworks.redaction import redact
from printworks.wire.erasing import PERSONAL, blank_answer

# Longer bodies are not read; of what is shown, so many characters are kept.
LONGEST_READ: Final = 65_536
LONGEST_SHOWN: Final = 4000
HIDDEN: Final = "(hidden)"
_TOO_LONG: Final = "(%s bytes: too long to be kept)"
_MOST_FIELDS: Final = 1000
_PERSONAL: Final = frozenset(name.casefold() for name in PERSONAL)
# Where a picture comes from is often what is wrong with it; the rest may be a secret.
_ADDRESSES: Final = frozenset({"url", "packingslipurl"})
_LETTERS: Final = re.compile(r"[^\W\d_]")
_DIGITS: Final = re.compile(r"\d")
_ORDER: Final = re.compile(r"/orders/([0-9]{1,18})(?:/|$)", re.IGNORECASE)


def find_order_in(path: str) -> int | None:
    """Return the number of the order that a path names, if it does."""
    found = _ORDER.search(path)
    return int(found[1]) if found else None


def describe_sent(media_type: str, body: bytes) -> str:
    """Return the body of a request for people: its shape is there, and who it is about is not."""
    if len(body) > LONGEST_READ:
        return _TOO_LONG % f"{len(body):,}"
    text = body.decode("utf-8", "replace")
    if not text.strip():
        return ""
    if "form-urlencoded" in media_type:
        try:
            fields: Any = dict(parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS))
        except ValueError:
            return _finish(_mask(text))
        return _write(fields)
    try:
        return _write(msgspec.json.decode(body))
    except (ValueError, RecursionError):
        # What is wrong with its signs can be seen without its words.
        return _finish(_mask(text))


def describe_answer(media_type: str, body: bytes) -> str:
    """Return the body of an answer for people, without personal data."""
    if len(body) > LONGEST_READ:
        return _TOO_LONG % f"{len(body):,}"
    return _finish(blank_answer(media_type, body).decode("utf-8", "replace"))


def _write(value: Any) -> str:
    return _finish(msgspec.json.format(msgspec.json.encode(_hide(value)), indent=2).decode())


def _finish(text: str) -> str:
    shown = redact(text)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"


def _hide(value: Any) -> Any:
    if isinstance(value, list):
        return [_hide(item) for item in value]
    if not isinstance(value, Mapping):
        return value
    return {name: _hide_member(name.casefold(), member) for name, member in value.items()}


def _hide_member(name: str, member: Any) -> Any:
    # What is missing can be seen.
    if member is None or member == "":
        return member
    if name in _ADDRESSES and isinstance(member, str):
        return _shorten_address(member)
    return HIDDEN if name in _PERSONAL else _hide(member)


def _shorten_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.hostname}/…" if parts.hostname else HIDDEN
    except ValueError:
        return HIDDEN


def _mask(text: str) -> str:
    return _DIGITS.sub("0", _LETTERS.sub("x", text[:LONGEST_SHOWN]))
