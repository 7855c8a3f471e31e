"""A whole request and a whole answer, as the synchronous core sees them."""

from typing import IO

import msgspec


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


class Response(msgspec.Struct, frozen=True):
    """An answer, ready to be sent."""

    status: int
    media_type: str
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
