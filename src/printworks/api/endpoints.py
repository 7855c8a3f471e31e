"""An endpoint as a line in a table that can be read beside the contract."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, Self

import msgspec
from sqlalchemy import Connection

from printworks.catalogue.snapshot import Catalogue
from printworks.errors import (
    BadCredentials,
    BadInput,
    KeyUsedBefore,
    NotFound,
    OutOfOrder,
    ServiceError,
    StillRunning,
    UnknownMediaType,
    WrongState,
)
from printworks.imaging.studio import Studio
from printworks.store.merchants import Merchant
from printworks.wire.links import Links

# What a refusal usually is; an endpoint's line may say otherwise.
USUAL_STATUS: Final[Mapping[type[ServiceError], int]] = {
    BadInput: 400,
    BadCredentials: 401,
    WrongState: 403,
    NotFound: 404,
    StillRunning: 409,
    UnknownMediaType: 415,
    KeyUsedBefore: 422,
    OutOfOrder: 503,
}


# Takes a merchant's number and how far to move its clock; returns its new time.
AdvanceClock = Callable[[int, timedelta], datetime]


class Call(msgspec.Struct, frozen=True):
    """All that a handler gets to know of a request."""

    db: Connection
    merchant: Merchant
    now: datetime
    path: Mapping[str, str]
    query: Mapping[str, object]
    body: object
    catalogue: Catalogue
    links: Links
    studio: Studio
    advance_clock: AdvanceClock
    request_id: str

    def number(self, name: str) -> int:
        """Return a number from the path; 0, which is nobody's, when it is none."""
        digits = self.path[name]
        is_number = digits.isascii() and digits.isdigit() and len(digits) < len(str(2**63)) + 1
        return int(digits) if is_number else 0


_CATALOGUE: Final = "/catalogue/service direct/"


class QueryParameter(NamedTuple):
    """A parameter in the query string, for the reference."""

    name: str
    meaning: str
    default: int
    highest: int | None = None


class Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """One operation: where it is, what it takes, what it shows and how it refuses."""

    method: str
    path: str
    handler: Callable[[Call], Any]
    summary: str
    shows: Any
    takes: Any = None
    query: tuple[QueryParameter, ...] = ()
    # The contract's own error statuses, for the reference.
    refuses: tuple[type[ServiceError], ...] = ()
    statuses: Mapping[type[ServiceError], int] = {}
    # A body with a file in it may be much larger than others.
    takes_file: bool = False
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
        return self.method != "GET"

    def status_of(self, refusal: ServiceError) -> int:
        """Return the HTTP status that this endpoint gives to a refusal."""
        kind = type(refusal)
        return self.statuses.get(kind) or USUAL_STATUS[kind]


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """The endpoints under one version, and how that version says no."""

    version: str
    endpoints: tuple[Endpoint, ...]
    refuse: Callable[[Endpoint | None, int, str], Any]

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
