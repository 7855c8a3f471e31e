"""Endpoints, as tables that can be read beside the contract."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from email.utils import format_datetime
from enum import Enum, auto
from functools import partial
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

import msgspec
from sqlalchemy import Connection

from printworks.actions.services import Services
from printworks.actions.work import Work
from printworks.errors import (
    BadCredentials,
    BadInput,
    IdempotencyKeyReused,
    NotFound,
    NotSold,
    OutOfRoom,
    QuotaReached,
    Restricted,
    ServiceError,
    ServiceUnavailable,
    StillRunning,
    TooManyUploads,
    UnknownMediaType,
    WrongState,
)
from printworks.store.accounts.merchants import Merchant
from printworks.store.orders.marks import OrderState
from printworks.wire.links import Links

# The usual status of each error; an endpoint may have others.
USUAL_STATUS: Final[Mapping[type[ServiceError], int]] = {
    BadInput: 400,
    NotSold: 400,
    BadCredentials: 401,
    Restricted: 403,
    WrongState: 403,
    QuotaReached: 403,
    NotFound: 404,
    StillRunning: 409,
    UnknownMediaType: 415,
    IdempotencyKeyReused: 422,
    TooManyUploads: 429,
    ServiceUnavailable: 503,
    OutOfRoom: 507,
}


Reply = TypeVar("Reply")

_MOST_DIGITS: Final = len(str(2**63))


def number_in(path: Mapping[str, str], name: str) -> int:
    """Return a number from a path; 0, which is no id, if it is not a number."""
    digits = path[name]
    is_number = digits.isascii() and digits.isdigit() and len(digits) <= _MOST_DIGITS
    return int(digits) if is_number else 0


class Call(msgspec.Struct, frozen=True):
    """What a handler knows of a request."""

    services: Services
    work: Work
    path: Mapping[str, str]
    query: Mapping[str, object]
    body: object
    links: Links
    # As in the path.
    version: str
    # What the endpoint prepared before the transaction.
    prepared: Any = None

    @property
    def db(self) -> Connection:
        """The transaction of the request."""
        return self.work.db

    @property
    def merchant(self) -> Merchant:
        """Whose request it is."""
        return self.work.merchant

    def work_in(self, db: Connection) -> Work:
        """Continue in another transaction, with the present time."""
        return self.services.work(db, self.merchant, self.work.actor, self.work.request_id)

    def number(self, name: str) -> int:
        """Return a number from the path; 0, which is no id, if it is not a number."""
        return number_in(self.path, name)


class WithStatus(msgspec.Struct, frozen=True):
    """An answer with a status of its own: part of what was requested happened."""

    status: int
    shape: Any


class WrittenAnswer(msgspec.Struct, frozen=True):
    """An answer that another process has written."""

    media_type: str
    body: bytes


class FileAnswer(msgspec.Struct, frozen=True):
    """An answer that is a file."""

    media_type: str
    name: str
    content: bytes


class Marked(msgspec.Struct, frozen=True):
    """An answer to a GET with a mark: wherever the mark is the same, so is the answer.

    Without a mark, the answer must be written to know whether it is the same.
    """

    shape: Any
    mark: str | None


class Needs(Enum):
    """What the rest of a request needs, and so in which threads it is done."""

    # No more than a read does.
    LITTLE = auto()
    # The interpreter, for as long as dozens of reads.
    INTERPRETER = auto()
    # Another process of this machine: pictures, and what is printed.
    PROCESS = auto()
    # Another server, which may take long.
    SERVER = auto()


class Unfinished(msgspec.Struct, Generic[Reply], frozen=True):
    """What a handler returns if there is more to do after its transaction before there is an answer.

    What it wrote is committed first. Then `ask` is called without a transaction. What it returns is
    the answer, unless there is something to write: then that is the result of `then`, which is called
    with it in another transaction. A `ServiceError` that `then` returns is the answer, and what it
    wrote stays; one that it raises rolls that back.

    `otherwise` is called in a transaction of its own if there is another end than success: a refusal, a
    failure, or no thread for `ask`. It takes back what would keep the client from trying again.
    """

    ask: Callable[[], Reply]
    then: Callable[[Connection, Reply], Any] | None = None
    needs: Needs = Needs.PROCESS
    # The order that `ask` would return, if it is so large that another process had better write it.
    large_order: int | None = None
    otherwise: Callable[[Connection], None] | None = None


_CATALOGUE: Final = "/catalogue/service direct/"


class QueryParameter(NamedTuple):
    """A parameter in the query string, for the reference; a number if it has a default."""

    name: str
    meaning: str
    default: int | None = None
    highest: int | None = None
    # The allowed values, if there are only a few.
    choices: tuple[str, ...] = ()


class Endpoint(msgspec.Struct, frozen=True):
    """One operation: its path, what it takes, what it returns and its errors."""

    method: str
    path: str
    handler: Callable[[Call], Any]
    shows: Any
    # Other shapes of answers, by status.
    also_shows: Mapping[int, Any] = {}
    takes: Any = None
    query: tuple[QueryParameter, ...] = ()
    # Returns the mark of what the handler would answer about the order `id` in this state.
    mark: Callable[[OrderState], str | None] | None = None
    # Shapes one order, where another process may have to write it; see `long_lists.py`.
    shape_one: Callable[[Call, Any], Any] | None = None
    # The contract's own error statuses, for the reference.
    refuses: tuple[type[ServiceError], ...] = ()
    statuses: Mapping[type[ServiceError], int] = {}
    # A body with a file may be much larger than others.
    takes_file: bool = False
    # Whether the file may be missing.
    file_is_optional: bool = False
    # Must not share a transaction with other requests: it changes the merchant, or needs more
    # than one transaction.
    alone: bool = False
    # Called before the transaction, with a call that reads: what takes long is calculated there.
    prepare: "Callable[[Call], Any] | None" = None
    # Gets no transaction: it changes nothing although it has a body, or opens its own.
    outside_transaction: bool = False
    # Reads only, although it is no GET: a key that is read-only may use it.
    changes_nothing: bool = False
    # Exists only where nothing is printed and nothing is charged.
    sandbox_only: bool = False
    # The versions of a family that have it; all if empty.
    versions: Collection[str] = ()

    @property
    def summary(self) -> str:
        """The first line of the handler's docstring, for the reference."""
        return (self.handler.__doc__ or "").partition("\n")[0].removesuffix(".")

    @property
    def writes(self) -> bool:
        """Whether the operation may change something."""
        return self.method != "GET" and not self.outside_transaction

    @property
    def only_reads(self) -> bool:
        """Whether a key that is read-only may use it."""
        return self.method == "GET" or self.changes_nothing

    @property
    def has_body(self) -> bool:
        return self.method not in {"GET", "DELETE"}

    def status_of(self, refusal: ServiceError) -> int:
        """Return the HTTP status that this endpoint gives to a refusal."""
        kind = type(refusal)
        return self.statuses.get(kind) or USUAL_STATUS[kind]


GET, POST, PUT, PATCH, DELETE = (
    partial(Endpoint, method) for method in ("GET", "POST", "PUT", "PATCH", "DELETE")
)


class ApiFamily(msgspec.Struct, frozen=True, kw_only=True):
    """The endpoints of one version, and how that version writes answers and errors."""

    version: str
    endpoints: tuple[Endpoint, ...]
    refuse: Callable[[Endpoint | None, int, str], Any]
    # Takes the shape of the endpoint, and what the handler returned.
    show: Callable[[Any, Any], Any] = lambda _shape, answer: answer
    # The version that should be used instead, and since when.
    successor: str | None = None
    deprecated_at: datetime | None = None
    # When it ends, if the operator has announced that.
    sunset: datetime | None = None
    # Whether the operator has ended it.
    is_off: bool = False

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """The headers of every answer of a deprecated version."""
        if self.successor is None or self.deprecated_at is None:
            return ()
        headers = (
            ("Deprecation", f"@{int(self.deprecated_at.timestamp())}"),
            ("Link", f'</v{self.successor}>; rel="successor-version"'),
        )
        if self.sunset is None:
            return headers
        return (*headers, ("Sunset", format_datetime(self.sunset, usegmt=True)))

    def ending(self, sunset: datetime | None, versions_off: Collection[str]) -> Self:
        """Return a version as the operator ends it; one without a successor does not end."""
        if self.successor is None:
            return self
        is_off = self.version in versions_off
        return msgspec.structs.replace(self, sunset=sunset, is_off=is_off)

    def without_sandbox(self) -> Self:
        """Return the version without its sandbox endpoints."""
        kept = tuple(endpoint for endpoint in self.endpoints if not endpoint.sandbox_only)
        return msgspec.structs.replace(self, endpoints=kept)

    def renamed(self, catalogue_name: str) -> Self:
        """Return the version with another name for the catalogue in its paths."""
        named = [
            msgspec.structs.replace(
                endpoint, path=endpoint.path.replace(_CATALOGUE, f"/catalogue/{catalogue_name}/")
            )
            for endpoint in self.endpoints
        ]
        return msgspec.structs.replace(self, endpoints=tuple(named))

    @property
    def prefix(self) -> str:
        """The first segment of every path."""
        return f"v{self.version}"
