"""Complete requests and responses, as the synchronous core sees them."""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime
from typing import IO, Any, NamedTuple

import msgspec

from printworks.rules.shares import ShareTerms


class Identity(NamedTuple):
    """The merchant of a request, its API key, when that was verified, and its own limits."""

    merchant_id: int
    key_hash: str
    at: datetime
    terms: ShareTerms = ShareTerms()


class Caller(msgspec.Struct):
    """The caller of a request; unknown until the credentials are verified.

    Also what the request log wants to know of a refusal: what was sent, and why it was refused.
    """

    identity: Identity | None = None
    body: bytes = b""
    refusal: str = ""


class Request(msgspec.Struct, frozen=True):
    """A request whose body has arrived completely."""

    method: str
    path: str
    query: str
    # By lower-case name; of a repeated header, the last value.
    headers: dict[str, str]
    body: bytes
    request_id: str
    # A large body, on disk; `body` is then empty.
    upload: IO[bytes] | None = None
    # Filled in when the request is authenticated; the request log reads it.
    caller: Caller = msgspec.field(default_factory=Caller)
    # Its span, as a `traceparent`, if there are traces.
    trace_parent: str | None = None


class LongBody(NamedTuple):
    """A body that is written while it is sent, piece by piece."""

    merchant_id: int
    head: bytes
    # Each is written in another process.
    pieces: Iterator[Any]
    # What is between two pieces.
    joint: bytes
    tail: bytes


class Response(msgspec.Struct, frozen=True):
    """A response that is ready to be sent."""

    status: int
    media_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    # What a client that has seen it may ask with; it has seen this if the status is 304.
    tag: str | None = None
    # The body, if it is to be written while it is sent, and once that has begun; `body` is then
    # empty.
    long: LongBody | None = None
    stream: AsyncIterator[bytes] | None = None
