"""Answers of any version without what they tell of a person, in the same shape."""

import re
from typing import Any, Final

import msgspec

# Members that may be null in every version. None of them has members of its own.
_NULLED: Final = frozenset(
    {
        *("recipientName", "address1", "address2", "addressTownOrCity", "stateOrCounty"),
        *("postalOrZipCode", "mobileTelephone", "telephone", "email"),
        *("packingSlipUrl", "paymentUrl", "url", "previewUrl", "thumbnailUrl", "mockupUrl"),
        "md5Hash",
        *("trackingNumber", "trackingUrl", "issueDetail", "actionDetail"),
    }
)
# A text that is never null.
_EMPTIED: Final = frozenset({"commentary"})

_XML_NULLED: Final = re.compile(rf"<({'|'.join(sorted(_NULLED))})>[^<]*</\1>".encode())
_XML_EMPTIED: Final = re.compile(rf"<({'|'.join(sorted(_EMPTIED))})>[^<]*</\1>".encode())


def blank_answer(media_type: str, body: bytes) -> bytes:
    """Return the body of a stored answer, JSON or XML, without personal data."""
    if "xml" in media_type:
        blank = _XML_NULLED.sub(rb'<\1 nil="true"/>', body)
        return _XML_EMPTIED.sub(rb"<\1></\1>", blank)
    try:
        shown = msgspec.json.decode(body)
    except msgspec.DecodeError:
        return b""
    return msgspec.json.encode(_blank(shown))


def _blank(value: Any) -> Any:
    if isinstance(value, list):
        return [_blank(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        name: None if name in _NULLED else "" if name in _EMPTIED else _blank(member)
        for name, member in value.items()
    }
