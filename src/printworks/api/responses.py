"""Responses: JSON, or XML for clients that prefer it."""

import re
from collections.abc import Sequence
from typing import Any, Final
from xml.sax.saxutils import escape, quoteattr

import msgspec

from printworks.api.messages import Response

_encode: Final = msgspec.json.Encoder().encode

JSON: Final = "application/json; charset=utf-8"
XML: Final = "application/xml; charset=utf-8"

_XML_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]*")
_NOT_IN_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

# A parser would read a bare one as a line feed.
_KEPT: Final = {"\r": "&#13;"}


def render(
    status: int,
    shape: Any,
    accept: str,
    headers: tuple[tuple[str, str], ...] = (),
    tag: str | None = None,
) -> Response:
    """Write a response in the format that the client prefers."""
    media_type = choose_media_type(accept)
    return Response(status, media_type, write_body(media_type, shape), headers, tag)


def write_body(media_type: str, shape: Any) -> bytes:
    """Write a whole answer."""
    return to_xml(msgspec.to_builtins(shape)) if media_type == XML else _encode(shape)


def split_frame(media_type: str, frame: Any) -> tuple[bytes, bytes]:
    """Write an answer whose first empty list is the one to be filled; return what is around it."""
    if media_type == XML:
        written, inside = to_xml(msgspec.to_builtins(frame)), b"></"
    else:
        written, inside = _encode(frame), b"[]"
    place = written.index(inside) + 1
    return written[:place], written[place:]


def write_items(media_type: str, items: Sequence[Any]) -> bytes:
    """Write items of a list, without what is around them."""
    if media_type != XML:
        return _encode(items)[1:-1]
    pieces: list[str] = []
    for item in items:
        _write_element(pieces, "item", "<item", msgspec.to_builtins(item))
    return "".join(pieces).encode()


def join_items(media_type: str) -> bytes:
    """Return what is between two items of a list."""
    return b"" if media_type == XML else b","


def choose_media_type(accept: str) -> str:
    """Return the format that the client prefers."""
    return XML if prefers_xml(accept) else JSON


def prefers_xml(accept: str) -> bool:
    """Whether an Accept header ranks XML above JSON."""
    accept = accept.lower()
    if "xml" not in accept:
        return False
    ranks = dict(_rank(part) for part in accept.split(","))
    xml = max(ranks.get("application/xml", 0.0), ranks.get("text/xml", 0.0))
    any_type = max(ranks.get("*/*", 0.0), ranks.get("application/*", 0.0))
    json = ranks.get("application/json")
    # A client that names XML and a wildcard wants XML.
    return xml >= any_type and xml > 0 if json is None else xml > json


def _rank(part: str) -> tuple[str, float]:
    media_type, *parameters = (piece.strip() for piece in part.split(";"))
    for parameter in parameters:
        if parameter.startswith("q="):
            try:
                return media_type, float(parameter[2:])
            except ValueError:
                return media_type, 0.0
    return media_type, 1.0


def to_xml(value: Any) -> bytes:
    """Write plain values as XML; its schema may change."""
    pieces = ['<?xml version="1.0" encoding="utf-8"?>']
    _write_element(pieces, "response", "<response", value)
    return "".join(pieces).encode()


def _write_element(pieces: list[str], name: str, opening: str, value: Any) -> None:
    if value is None:
        pieces.append(f'{opening} nil="true"/>')
        return
    pieces.append(f"{opening}>")
    if isinstance(value, dict):
        for key, member in value.items():
            if _XML_NAME.fullmatch(key):
                _write_element(pieces, key, f"<{key}", member)
            else:
                _write_element(pieces, "member", f"<member name={quoteattr(_clean(key))}", member)
    elif isinstance(value, list):
        for item in value:
            _write_element(pieces, "item", "<item", item)
    elif isinstance(value, bool):
        pieces.append("true" if value else "false")
    else:
        pieces.append(escape(_clean(str(value)), _KEPT))
    pieces.append(f"</{name}>")


def _clean(text: str) -> str:
    return _NOT_IN_XML.sub("", text)
