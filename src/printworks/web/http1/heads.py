"""Reads the head of a request: its first line and its headers, to the letter of RFC 9112.

Two programs that read one malformed head differently can be played off against each other, so
whatever is not certain is refused rather than guessed.
"""

import re
from typing import Any, Final, NamedTuple
from urllib.parse import unquote, unquote_to_bytes

Headers = list[tuple[bytes, bytes]]

# The first line and all headers together.
LARGEST_HEAD: Final = 64 * 1024
MOST_HEADERS: Final = 100
# More than any disk holds; Python itself refuses to read numbers of some thousand digits.
MOST_LENGTH_DIGITS: Final = 18

# Possessive: a long word without a colon must not be tried again from each of its letters.
_TOKEN: Final = rb"[!#$%&'*+.^_`|~0-9A-Za-z-]++"
_FIRST_LINE: Final = re.compile(rb"(" + _TOKEN + rb") ([^\x00-\x20\x7f]++) HTTP/1\.([01])\r\n")
# Tabs and all bytes that are no control characters; blanks around the value do not belong to it.
_HEADER: Final = re.compile(
    rb"(" + _TOKEN + rb"):[\t ]*((?:[^\x00-\x20\x7f]+(?:[\t ]+[^\x00-\x20\x7f]+)*)?)[\t ]*\r\n"
)
_HEADERS: Final = re.compile(rb"(?:" + _TOKEN + rb":[^\x00-\x08\x0a-\x1f\x7f]*+\r\n)*+\r\n")
_HOST: Final = re.compile(rb"(?:\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._~!$&'()*+,;=%-]*)(?::[0-9]*)?")
_ABSOLUTE: Final = re.compile(rb"https?://([^/?#]+)([^#]*)", re.IGNORECASE)
_PLAIN_PATH: Final = re.compile(rb"/[A-Za-z0-9._~/-]*")
_REQUEST_ID: Final = re.compile(
    rb"\r\nx-request-id:[\t ]*([A-Za-z0-9._-]{1,64})\r\n", re.IGNORECASE
)
_ACCEPT: Final = re.compile(rb"\r\naccept:[\t ]*([^\x00-\x1f\x7f]{1,500})\r\n", re.IGNORECASE)

_WRONG_LINES: Final = "Each line of a request must end with CR and LF."
_DECIDING: Final = frozenset(
    {b"host", b"content-length", b"transfer-encoding", b"connection", b"expect"}
)
_ASGI: Final = {"version": "3.0", "spec_version": "2.3"}


class HeadRefusal(NamedTuple):
    """Why a request is not answered: the status, and a sentence for whoever wrote the program."""

    status: int
    message: str


class MalformedHead(Exception):
    """The head cannot be read."""

    def __init__(self, message: str, *, status: int = 400) -> None:
        super().__init__(message)
        self.refusal = HeadRefusal(status, message)


class Fields(NamedTuple):
    """The headers of a request, and what they say about its body and its connection."""

    # As they came, behind HTTP/1.0 or HTTP/1.1.
    raw: bytes
    is_old: bool
    headers: Headers
    # The same as texts; of a repeated header, the last value.
    texts: dict[str, str]
    # The size of the body; None if it comes in chunks.
    length: int | None
    keeps_alive: bool
    # Whether the client waits until it is told to send its body.
    asks_first: bool


class Head(NamedTuple):
    """The head of a request that follows every rule."""

    method: bytes
    target: bytes
    fields: Fields


def find_end(received: bytes) -> int:
    """Return where the head ends, -1 if more has to come; refuse one that grows too large."""
    end = received.find(b"\r\n\r\n")
    if end >= 0 and end < LARGEST_HEAD:
        return end + 4
    if len(received) >= LARGEST_HEAD:
        if received.find(b"\r\n", 0, LARGEST_HEAD) < 0:
            raise MalformedHead("The address of the request is too long.", status=414)
        message = f"The headers are too large; all of them may have {LARGEST_HEAD} bytes."
        raise MalformedHead(message, status=431)
    if b"\n\n" in received or b"\n\r\n" in received:
        # Lines that end differently make the end of the head a matter of opinion.
        raise MalformedHead(_WRONG_LINES)
    return -1


def read_head(head: bytes, latest: Fields | None = None) -> Head:
    """Read a complete head, the empty line included.

    `latest` are the headers of the request before it: most clients send the same ones again.
    """
    first = _FIRST_LINE.match(head)
    if first is None:
        raise MalformedHead(_explain_first_line(head))
    method, target, minor = first.groups()
    raw, is_old = head[first.end() :], minor == b"0"
    if latest is None or latest.raw != raw or latest.is_old != is_old:
        latest = _read_fields(raw, is_old=is_old)
    return Head(method, target, latest)


def _read_fields(raw: bytes, *, is_old: bool) -> Fields:
    # `findall` would step over what is no header.
    if _HEADERS.fullmatch(raw) is None:
        raise MalformedHead(_explain_headers(raw))
    headers = [(name.lower(), value) for name, value in _HEADER.findall(raw)]
    if len(headers) > MOST_HEADERS:
        message = f"The request has {len(headers)} headers; it may have {MOST_HEADERS}."
        raise MalformedHead(message, status=431)
    deciding: dict[bytes, list[bytes]] = {}
    for name, value in headers:
        if name in _DECIDING:
            deciding.setdefault(name, []).append(value)
    _check_host(deciding.get(b"host", []), is_old=is_old)
    length: int | None = 0
    if b"content-length" in deciding or b"transfer-encoding" in deciding:
        length = _find_length(deciding, is_old=is_old)
    words = _list_words(deciding.get(b"connection", []))
    keeps_alive = b"keep-alive" in words if is_old else b"close" not in words
    asks_first = not is_old and b"100-continue" in _list_words(deciding.get(b"expect", []))
    texts = {name.decode("latin-1"): value.decode("latin-1") for name, value in headers}
    return Fields(raw, is_old, headers, texts, length, keeps_alive, asks_first)


def _list_words(values: list[bytes]) -> list[bytes]:
    return [word.strip() for value in values for word in value.lower().split(b",")]


def _explain_first_line(head: bytes) -> str:
    line = head.partition(b"\n")[0].removesuffix(b"\r")
    words = line.split(b" ")
    if len(words) == 3 and re.fullmatch(rb"HTTP/[0-9.]{1,9}", words[2]) is not None:
        if words[2] not in (b"HTTP/1.1", b"HTTP/1.0"):
            return "This version of HTTP is not spoken here; send HTTP/1.1."
        if re.fullmatch(_TOKEN, words[0]) is None:
            return "The method of the request has characters that no method has."
        if words[1] and not re.search(rb"[\x00-\x20\x7f]", words[1]):
            return _WRONG_LINES
        return "The address of the request has characters that must be percent-encoded."
    return "The first line of a request must be a method, an address and HTTP/1.1."


def _explain_headers(lines: bytes) -> str:
    good = re.match(rb"(?:" + _TOKEN + rb":[^\x00-\x08\x0a-\x1f\x7f]*+\r\n)*+", lines)
    line = lines[good.end() if good else 0 :].partition(b"\n")[0]
    if line[:1] in (b" ", b"\t"):
        return "A header must be on one line; continued lines are no longer allowed."
    name, colon, value = line.partition(b":")
    if not colon or re.fullmatch(_TOKEN, name) is None:
        return "A line of the headers is no header: it must be a name, a colon and a value."
    if re.search(rb"[\x00-\x08\x0a-\x1f\x7f]", value.removesuffix(b"\r")) is not None:
        shown = name[:50].decode("ascii")
        return f"The header {shown} has a control character in it."
    return _WRONG_LINES


def _check_host(hosts: list[bytes], *, is_old: bool) -> None:
    if len(hosts) > 1:
        raise MalformedHead("The request has more than one Host header; send one.")
    if not hosts:
        if not is_old:
            raise MalformedHead("The request has no Host header; HTTP/1.1 requires one.")
    elif _HOST.fullmatch(hosts[0]) is None:
        raise MalformedHead("The Host header must be a name or an address, with or without a port.")


def _find_length(deciding: dict[bytes, list[bytes]], *, is_old: bool) -> int | None:
    lengths, codings = deciding.get(b"content-length"), deciding.get(b"transfer-encoding")
    if codings is not None:
        if len(codings) > 1 or codings[0].lower() != b"chunked" or is_old:
            raise MalformedHead(
                "The only Transfer-Encoding that is understood here is `chunked`, once, in HTTP/1.1."
            )
        if lengths is not None:
            raise MalformedHead("A request has a Content-Length or a Transfer-Encoding, not both.")
        return None
    if lengths is None:
        return 0
    if len(set(lengths)) > 1:
        raise MalformedHead("The request has several Content-Length headers that differ.")
    if not lengths[0].isdigit() or len(lengths[0]) > MOST_LENGTH_DIGITS:
        raise MalformedHead(
            f"The Content-Length must be a number of at most {MOST_LENGTH_DIGITS} digits."
        )
    return int(lengths[0])


def split_target(method: bytes, target: bytes) -> tuple[bytes, bytes]:
    """Return path and query of an address; refuse what is neither a path nor a whole address."""
    if not target.startswith(b"/"):
        absolute = _ABSOLUTE.fullmatch(target.partition(b"#")[0])
        if absolute is not None and _HOST.fullmatch(absolute[1]) is not None:
            target = absolute[2] if absolute[2].startswith(b"/") else b"/" + absolute[2]
        elif target != b"*" or method != b"OPTIONS":
            raise MalformedHead("The address of the request must be a path, such as /v3.0/orders.")
    path, _, query = target.partition(b"#")[0].partition(b"?")
    return path, query


def decode_path(path: bytes) -> str:
    """Return a path as text, with percent-encoding resolved."""
    if _PLAIN_PATH.fullmatch(path) is not None:
        return path.decode("ascii")
    try:
        path.decode()
    except UnicodeDecodeError:
        raise MalformedHead("The address of the request is not valid UTF-8.") from None
    return unquote_to_bytes(path).decode("utf-8", "replace")


def make_scope(head: Head) -> dict[str, Any]:
    """Describe a request to the application."""
    path, query = split_target(head.method, head.target)
    return {
        "type": "http",
        "asgi": _ASGI,
        "http_version": "1.0" if head.fields.is_old else "1.1",
        "method": head.method.decode("ascii"),
        "path": decode_path(path),
        "raw_path": path,
        "query_string": query,
        "root_path": "",
        "headers": head.fields.headers,
        "header_texts": head.fields.texts,
        "has_body": head.fields.length != 0,
    }


def guess_scope(received: bytes) -> dict[str, Any]:
    """Describe a request that cannot be read, as far as its refusal depends on it."""
    line = received.lstrip(b"\r\n")[:LARGEST_HEAD].partition(b"\n")[0]
    words = line.split()
    target = next((word for word in words if word.startswith(b"/")), b"")
    if not target and len(words) > 1:
        absolute = _ABSOLUTE.match(words[1])
        target = absolute[2] if absolute else b""
    found = [(b"x-request-id", _REQUEST_ID), (b"accept", _ACCEPT)]
    matches = [(name, pattern.search(received)) for name, pattern in found]
    path = unquote(target.partition(b"?")[0].decode("latin-1")[:2000])
    return {
        "type": "http",
        "asgi": _ASGI,
        "http_version": "1.1",
        "method": "HEAD" if words[:1] == [b"HEAD"] else "GET",
        "path": path,
        "raw_path": target,
        "query_string": b"",
        "root_path": "",
        "headers": [(name, match[1]) for name, match in matches if match is not None],
    }
