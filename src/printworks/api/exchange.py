"""A whole request and a whole answer, as the synchronous core sees them."""

from datetime import datetime
from typing import IO, NamedTuple

import msgspec


class Known(NamedTuple):
    """Whose request it is, by which key, and when that was found out."""

    merchant_id: int
    key_hash: str
    at: datetime


class Asker(msgspec.Struct):
    """Who asks: nobody until the credentials were found to be right."""

    known: Known | None = None


class Request(msgspec.Struct, frozen=True):
    """A request whose body has arrived completely."""

    method: str
    path: str
    query: str
    # By lower-case name; a name that came twice has its last value.
    headers: dict[str, str]
    body: bytes
    request_id: str
    # A large body, left on disk; `body` is then empty.
    upload: IO[bytes] | None = None
    # Filled in on the way: whoever answers learns whose request it was.
    asker: Asker = msgspec.field(default_factory=Asker)


class Response(msgspec.Struct, frozen=True):
    """An answer, ready to be sent."""

    status: int
    media_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
