"""What was sent and answered, for the request log: without personal data, and never long.

Only members that are known to say nothing of a person are shown with what they say; of all others
the name is, so that the shape can be seen. A client may send anything, under any name.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

import msgspec

from printworks.redaction import redact

# Longer bodies are not read; of what is shown, so many characters are kept.
LONGEST_READ: Final = 65_536
LONGEST_SHOWN: Final = 4000
HIDDEN: Final = "(hidden)"
_TOO_LONG: Final = "(%s bytes: too long to be kept)"
_MOST_FIELDS: Final = 1000
# What is ordered, how, and for how much.
_SENT: Final = frozenset(
    name.casefold()
    for name in (
        *("id", "orderId", "photoIds", "merchantOrderId", "status", "payment", "countryCode"),
        *("destinationCountryCode", "preferredShippingMethod", "shippingMethod", "x", "y", "zoom"),
        *("useTrackedShipping", "qualityLevel", "sku", "skus", "type", "copies", "sizing"),
        *("price", "priceToUser", "currency", "invoiceAmountNet", "invoiceTax"),
        *("invoiceCurrency", "issue", "action", "affectedImages", "advance", "since", "after"),
    )
)
# The same, and what is said about it: sentences of ours.
_ANSWERED: Final = _SENT | frozenset(
    name.casefold()
    for name in (
        *("errorMessage", "message", "statusTxt", "statusCode", "errors", "warnings"),
        *("generalErrors", "paymentRequest", "isValid"),
    )
)
# None of them is as long, but for sentences.
_LONGEST_VALUE: Final = 1000
# What a program calls a member. Anything else may be what somebody typed.
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,49}")
# Where a picture comes from is often what is wrong with it; the rest may be a secret.
_ADDRESSES: Final = frozenset({"url", "packingslipurl"})
_XML_TEXT: Final = re.compile(r"<([A-Za-z_][A-Za-z0-9_]*)>([^<]+)</\1>")
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
    if "xml" in media_type:
        return _finish(_XML_TEXT.sub(_hide_element, body.decode("utf-8", "replace")))
    try:
        shown = _hide(msgspec.json.decode(body), _ANSWERED)
    except (ValueError, RecursionError):
        return ""
    return _finish(msgspec.json.encode(shown).decode())


def _hide_element(found: re.Match[str]) -> str:
    name, said = found.groups()
    return f"<{name}>{_hide_member(name, said, _ANSWERED)}</{name}>"


def _write(value: Any) -> str:
    return _finish(msgspec.json.format(msgspec.json.encode(_hide(value, _SENT)), indent=2).decode())


def _finish(text: str) -> str:
    shown = redact(text)
    return shown if len(shown) <= LONGEST_SHOWN else f"{shown[:LONGEST_SHOWN]}…"


def _hide(value: Any, shown: Collection[str]) -> Any:
    """Hide what members say that are not among those that are shown."""
    if isinstance(value, list):
        return [_hide(item, shown) for item in value]
    if isinstance(value, Mapping):
        return {_show_name(name): _hide_member(name, said, shown) for name, said in value.items()}
    return _hide_value(value)


def _hide_member(name: str, said: Any, shown: Collection[str]) -> Any:
    known = name.casefold()
    if isinstance(said, list):
        return [_hide_member(name, item, shown) for item in said]
    if isinstance(said, Mapping):
        return _hide(said, shown)
    if known in _ADDRESSES and isinstance(said, str):
        return _shorten_address(said) if said else said
    is_long = isinstance(said, str) and len(said) > _LONGEST_VALUE
    return said if known in shown and not is_long else _hide_value(said)


def _hide_value(value: Any) -> Any:
    # What is missing can be seen, and yes and no tell of nobody.
    return value if value is None or value == "" or isinstance(value, bool) else HIDDEN


def _show_name(name: str) -> str:
    return name if _NAME.fullmatch(name) else HIDDEN


def _shorten_address(address: str) -> str:
    try:
        parts = urlsplit(address)
        return f"{parts.scheme}://{parts.hostname}/…" if parts.hostname else HIDDEN
    except ValueError:
        return HIDDEN


def _mask(text: str) -> str:
    return _DIGITS.sub("0", _LETTERS.sub("x", text[:LONGEST_SHOWN]))
