"""Parses request bodies: JSON, form or multipart, by Content-Type."""

import codecs
import functools
import io
import re
from collections.abc import Iterable, Mapping
from email.message import Message
from typing import IO, Any, Final, NamedTuple
from urllib.parse import parse_qsl

import msgspec
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import Field, File, FormParser, MultipartState

from printworks.errors import BadInput, UnknownMediaType
from printworks.wire.reading import Repeated

DEEPEST: Final = 32
MOST_FIELDS: Final = 1000
# More than the 70 that are allowed: clients existed before this rule was kept.
LONGEST_BOUNDARY: Final = 200
_BOUNDARY: Final = re.compile(rf"[ -~]{{0,{LONGEST_BOUNDARY}}}")
_CHUNK: Final = 65536
_NESTING: Final = (dict, list)
# What real clients use. Other names are not looked up in Python, which caches every name and has
# codecs that are not character sets.
_CHARSETS: Final = {
    **dict.fromkeys(("utf-8", "utf8"), "utf-8"),
    **dict.fromkeys(("us-ascii", "ascii"), "ascii"),
    # Whoever says the first mostly means the second, as browsers do. They differ only where the first
    # has control characters.
    **dict.fromkeys(("iso-8859-1", "iso8859-1", "latin-1", "latin1"), "cp1252"),
    **dict.fromkeys(("windows-1252", "cp1252"), "cp1252"),
    **{name: name for name in ("utf-16", "utf-16le", "utf-16be")},
}
_JSON: Final = "application/json"
_FORM: Final = "application/x-www-form-urlencoded"
_MULTIPART: Final = "multipart/form-data"
_NESTED_NAME: Final = re.compile(r"(?P<outer>[^\[\]]+)\[(?P<inner>[^\[\]]*)\]")


class UploadedFile(NamedTuple):
    """A part of a multipart body that has a file name."""

    name: str
    content: IO[bytes]


def parse_body(headers: Mapping[str, str], body: bytes, upload: IO[bytes] | None = None) -> object:
    """Turn a body into plain mappings, lists, texts and numbers."""
    if upload is None and not body.strip():
        return {}
    check_headers(headers)
    content_type = headers.get("content-type") or _guess_type(body)
    media_type, charset, boundary = _read_type(content_type)
    if media_type == _MULTIPART:
        return _parse_multipart(boundary, upload or io.BytesIO(body), charset)
    content = body if upload is None else upload.read()
    if not content.strip():
        return {}
    if media_type == _FORM:
        return parse_form(_decode(content, charset), charset)
    return _parse_json(content, charset)


def check_headers(headers: Mapping[str, str]) -> None:
    """Refuse a body that cannot be understood, from its headers alone."""
    encoding = headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity"):
        raise UnknownMediaType(
            f"The content encoding {encoding} is not understood here; send the body uncompressed."
        )
    content_type = headers.get("content-type")
    media_type = _read_type(content_type)[0] if content_type else _JSON
    if media_type not in (_JSON, _FORM, _MULTIPART) and not media_type.endswith("+json"):
        raise UnknownMediaType(
            f"The content type {media_type} is not understood here; send {_JSON}, {_FORM} "
            f"or {_MULTIPART}."
        )


def close_files(body: object) -> None:
    for file in list_files(body):
        file.content.close()


def list_files(body: object) -> list[UploadedFile]:
    parts = body.values() if isinstance(body, dict) else ()
    return [part for part in parts if isinstance(part, UploadedFile)]


def parse_form(text: str, charset: str = "utf-8") -> dict[str, object]:
    """Read a form or a query string; `attributes[finish]=matte` becomes a nested member.

    A name that comes several times is `Repeated`, with or without `[]` behind it.
    """
    try:
        # Bytes that are not text have become surrogates.
        text.encode()
        pairs = parse_qsl(
            text,
            keep_blank_values=True,
            encoding=charset,
            errors="strict",
            max_num_fields=MOST_FIELDS,
        )
    except UnicodeError:
        raise BadInput(f"The form is not valid {charset}.") from None
    except ValueError:
        raise BadInput(f"The form has more than {MOST_FIELDS} fields.") from None
    return _nest(pairs)


def _guess_type(body: bytes) -> str:
    looks_like_json = body.lstrip()[:1] in (b"{", b"[")
    return _JSON if looks_like_json else _FORM


# Clients send the same header with every request.
@functools.lru_cache(maxsize=256)
def _read_type(content_type: str) -> tuple[str, str, str]:
    header = Message()
    try:
        header["Content-Type"] = content_type
        boundary = header.get_param("boundary", "")
    except (TypeError, ValueError, LookupError):
        # Parameters that are continued or encoded in ways that contradict each other.
        raise BadInput("The parameters of the Content-Type cannot be read.") from None
    return header.get_content_type(), _find_charset(header), _check_boundary(boundary)


def _check_boundary(boundary: object) -> str:
    """Return a boundary as it is; refuse one that no client would make up."""
    if not isinstance(boundary, str) or _BOUNDARY.fullmatch(boundary) is None:
        message = f"The boundary of the Content-Type must be {LONGEST_BOUNDARY} ASCII characters"
        raise BadInput(f"{message} at most, without encoding.")
    return boundary


def _find_charset(header: Message) -> str:
    named = str(header.get_param("charset", "utf-8"))
    charset = _CHARSETS.get(named.lower().replace("_", "-"))
    if charset is None:
        raise BadInput("The charset of the Content-Type is not known; send UTF-8.")
    return charset


def _decode(content: bytes, charset: str) -> str:
    try:
        return content.decode(charset)
    except UnicodeDecodeError:
        raise BadInput(f"The body is not valid {charset}.") from None


def _parse_json(content: bytes, charset: str) -> object:
    if charset != "utf-8":
        content = _decode(content, charset).encode()
    try:
        value = msgspec.json.decode(content.removeprefix(codecs.BOM_UTF8))
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise BadInput(f"The body is not valid JSON: {wrong}.") from None
    except RecursionError:
        raise BadInput("The body is nested too deeply.") from None
    _check_depth(value)
    return value


def _check_depth(value: object) -> None:
    level = [value]
    for _ in range(DEEPEST):
        level = [inner for outer in level for inner in _inside(outer) if type(inner) in _NESTING]
        if not level:
            return
    raise BadInput("The body is nested too deeply.")


def _inside(value: Any) -> Iterable[Any]:
    if type(value) not in _NESTING:
        return ()
    return value.values() if type(value) is dict else value


class _Parts:
    def __init__(self, charset: str) -> None:
        self.found: list[tuple[str, object]] = []
        self._charset = charset

    def add_field(self, field: Field) -> None:
        self._add(field.field_name, _decode(field.value or b"", self._charset))

    def add_file(self, file: File) -> None:
        file.file_object.seek(0)
        # Some clients send it as their system writes it, whatever the body says; it only names a file.
        name = (file.file_name or b"").decode(self._charset, "replace")
        self._add(file.field_name, UploadedFile(name, file.file_object))

    def _add(self, name: bytes | None, value: object) -> None:
        if len(self.found) == MOST_FIELDS:
            raise BadInput(f"The form has more than {MOST_FIELDS} fields.")
        self.found.append((_decode(name or b"", self._charset), value))


def _parse_multipart(boundary: str, content: IO[bytes], charset: str) -> dict[str, object]:
    if not boundary:
        raise BadInput("The Content-Type of a multipart body must name its boundary.")
    parts = _Parts(charset)
    try:
        _feed(boundary, content, parts)
    except (FormParserError, UnicodeEncodeError) as wrong:
        close_files(dict(parts.found))
        raise BadInput(f"The multipart body is malformed: {wrong}") from None
    except BadInput:
        close_files(dict(parts.found))
        raise
    return _nest(parts.found)


def _feed(boundary: str, content: IO[bytes], parts: _Parts) -> None:
    parser = FormParser(
        "multipart/form-data", parts.add_field, parts.add_file, boundary=boundary.encode()
    )
    while chunk := content.read(_CHUNK):
        parser.write(chunk)
    parser.finalize()
    if getattr(parser.parser, "state", None) is not MultipartState.END:
        raise BadInput("The multipart body ends before its last boundary.")


def _nest(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for name, value in pairs:
        nested = _NESTED_NAME.fullmatch(name)
        # The name of a file's part does not matter.
        if isinstance(value, UploadedFile):
            fields[name] = value
        elif nested is None:
            _add_field(fields, name, value)
        elif not nested["inner"]:
            fields.setdefault(nested["outer"], Repeated())
            _add_field(fields, nested["outer"], value)
        else:
            inner = fields.setdefault(nested["outer"], {})
            if not isinstance(inner, dict):
                inner = fields[nested["outer"]] = {}
            _add_field(inner, nested["inner"], value)
    return fields


def _add_field(fields: dict[str, object], name: str, value: object) -> None:
    known = fields.get(name)
    if isinstance(known, Repeated):
        known.append(value)
    else:
        fields[name] = Repeated([known, value]) if isinstance(known, str) else value
