"""An endpoint as a line in a table that can be read beside the contract."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from email.utils import format_datetime
from typing import Any, Final, Generic, NamedTuple, Self, TypeVar

import msgspec
from sqlalchemy import Connection

from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock
from printworks.errors import (
    BadCredentials,
    BadInput,
    IdempotencyKeyReused,
    NotFound,
    ServiceError,
    ServiceUnavailable,
    StillRunning,
    UnknownMediaType,
    WrongState,
)
from printworks.files.store import Files
from printworks.imaging.processor import ImageProcessor
from printworks.payments.gateway import Gateway
from printworks.store.accounts.merchants import Merchant
from printworks.wire.links import Links

# What a refusal usually is; an endpoint's line may say otherwise.
USUAL_STATUS: Final[Mapping[type[ServiceError], int]] = {
    BadInput: 400,
    BadCredentials: 401,
    WrongState: 403,
    NotFound: 404,
    StillRunning: 409,
    UnknownMediaType: 415,
    IdempotencyKeyReused: 422,
    ServiceUnavailable: 503,
}


Reply = TypeVar("Reply")

# Takes a merchant's number and how far to move its clock; returns its new time.
AdvanceClock = Callable[[int, timedelta], datetime]


class Call(msgspec.Struct, frozen=True):
    """All that a handler gets to know of a request."""

    db: Connection
    merchant: Merchant
    # The merchant's time when the request came, and the real time as it goes on.
    now: datetime
    clock: Clock
    path: Mapping[str, str]
    query: Mapping[str, object]
    body: object
    catalogue: Catalogue
    links: Links
    processor: ImageProcessor
    advance_clock: AdvanceClock
    gateway: Gateway
    open_files: Callable[[], Files]
    # As its path names it.
    version: str
    request_id: str

    def number(self, name: str) -> int:
        """Return a number from the path; 0, which is nobody's, when it is none."""
        digits = self.path[name]
        is_number = digits.isascii() and digits.isdigit() and len(digits) < len(str(2**63)) + 1
        return int(digits) if is_number else 0


class WithStatus(msgspec.Struct, frozen=True):
    """An answer with a status of its own: something happened, but not all that was asked."""

    status: int
    shape: Any


class Unfinished(msgspec.Struct, Generic[Reply], frozen=True):
    """What a handler returns if somebody outside must be asked before there is an answer.

    What it wrote is committed first. Then `ask` is called without a transaction, and `then`, with
    what that returned, in another one. A `ServiceError` that `then` returns is the answer, and
    what it wrote stays; one that it raises undoes that.
    """

    ask: Callable[[], Reply]
    then: Callable[[Connection, Reply], Any]
    # Whether `ask` waits for somebody else's server, which may take long.
    waits_for_others: bool = False


_CATALOGUE: Final = "/catalogue/service direct/"


class QueryParameter(NamedTuple):
    """A parameter in the query string, for the reference; a number if it has a default."""

    name: str
    meaning: str
    default: int | None = None
    highest: int | None = None
    # What it may be, if it is one of a few words.
    choices: tuple[str, ...] = ()


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One operation: where it is, what it takes, what it shows and how it refuses."""

    method: str
    path: str
    handler: Callable[[Call], Any]
    summary: str
    shows: Any
    # What else an answer may look like, by its status.
    also_shows: Mapping[int, Any] = {}
    takes: Any = None
    query: tuple[QueryParameter, ...] = ()
    # The contract's own error statuses, for the reference.
    refuses: tuple[type[ServiceError], ...] = ()
    statuses: Mapping[type[ServiceError], int] = {}
    # A body with a file in it may be much larger than others.
    takes_file: bool = False
    # Where a file may come, and need not.
    file_is_optional: bool = False
    # Must not share a transaction with other requests: it changes the merchant itself, or
    # needs more than one transaction.
    alone: bool = False
    # Is given no transaction: it changes nothing although it has a body, or makes its own.
    outside_transaction: bool = False
    # Exists only where nothing is printed and nothing is charged.
    sandbox_only: bool = False

    @property
    def writes(self) -> bool:
        """Say whether the operation may change something."""
        return self.method != "GET" and not self.outside_transaction

    @property
    def has_body(self) -> bool:
        """Say whether a request has a body."""
        return self.method not in {"GET", "DELETE"}

    def status_of(self, refusal: ServiceError) -> int:
        """Return the HTTP status that this endpoint gives to a refusal."""
        kind = type(refusal)
        return self.statuses.get(kind) or USUAL_STATUS[kind]


def _show_as_it_is(_shape: Any, answer: Any) -> Any:
    return answer


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """The endpoints under one version, and how that version shows things and says no."""

    version: str
    endpoints: tuple[Endpoint, ...]
    refuse: Callable[[Endpoint | None, int, str], Any]
    # Takes the shape that the endpoint's line names, and what the handler returned.
    show: Callable[[Any, Any], Any] = _show_as_it_is
    # The version that should be used instead, and since when.
    successor: str | None = None
    deprecated_at: datetime | None = None
    # When it ends, if the operator has said so.
    sunset: datetime | None = None
    # Whether the operator has ended it.
    is_off: bool = False

    @property
    def headers(self) -> tuple[tuple[str, str], ...]:
        """What every answer says of the version itself."""
        if self.successor is None or self.deprecated_at is None:
            return ()
        told = (
            ("Deprecation", f"@{int(self.deprecated_at.timestamp())}"),
            ("Link", f'</v{self.successor}>; rel="successor-version"'),
        )
        if self.sunset is None:
            return told
        return (*told, ("Sunset", format_datetime(self.sunset, usegmt=True)))

    def ending(self, sunset: datetime | None, versions_off: Collection[str]) -> Self:
        """Return the same with what the operator says of its end; who has no successor stays."""
        if self.successor is None:
            return self
        is_off = self.version in versions_off
        return msgspec.structs.replace(self, sunset=sunset, is_off=is_off)

    def without_sandbox(self) -> Self:
        """Return what exists where orders are printed and charged."""
        kept = tuple(endpoint for endpoint in self.endpoints if not endpoint.sandbox_only)
        return msgspec.structs.replace(self, endpoints=kept)

    def renamed(self, catalogue_name: str) -> Self:
        """Return the same with another name for the catalogue in its paths."""
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
