"""All refusals of the service, in one tree.

ServiceError
├── BadInput          a field or parameter is missing or wrong
│   └── NotSold       a product cannot be ordered from there, or not like that
├── UnknownMediaType  a body in an unknown format
├── BadCredentials    no merchant with this id and key
├── Restricted        a key that may not do this
├── NotFound          no such object, or another merchant's
├── WrongState        not possible in the current state
│   └── QuotaReached  the merchant has as much as it may have
├── TooManyUploads    too many files of the merchant are arriving
├── OutOfRoom         there is no room for another file
├── IdempotencyKeyReused  an idempotency key that came with another request
├── StillRunning      the same request is still running
└── ServiceUnavailable    something is temporarily unavailable

An error has a sentence for the caller and no HTTP status: the same refusal is 403 at one entry
point and 400 at another, so the entry point decides.
"""

from collections.abc import Mapping


class ServiceError(Exception):
    """The request was refused without any effect; the message says why."""

    @property
    def message(self) -> str:
        """The reason, in a sentence for the merchant."""
        return str(self.args[0])


class BadInput(ServiceError):
    """A field or parameter is missing or wrong; the message names it.

    `field` is its name in a form with several fields, where the message stands at it. If several are
    wrong, `fields` has a message for each.
    """

    def __init__(
        self, message: str, *, field: str = "", fields: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        # An empty name stands for the only field that a form has.
        self.fields: Mapping[str, str] = fields or {field: message}


class NotSold(BadInput):
    """A product is not sold to a country; the versions have different names for it."""

    def __init__(self, sku: str, where: str, *, name: str | None = None) -> None:
        super().__init__(f"{name or sku} is not sold to {where}.")
        self.sku = sku
        self.where = where


class UnknownMediaType(ServiceError):
    """The body is in an unknown format."""


class BadCredentials(ServiceError):
    """No merchant has this id and key."""


class Restricted(ServiceError):
    """The API key may not do this; the message names its restriction."""


class NotFound(ServiceError):
    """The object does not exist, or belongs to another merchant."""


class WrongState(ServiceError):
    """The state of the object does not allow this."""


class QuotaReached(WrongState):
    """The merchant has as much of something as it may have."""


class TooManyUploads(ServiceError):
    """Too many files of the merchant are arriving at the same time."""


class OutOfRoom(ServiceError):
    """There is no room for another file; a retry may succeed."""


class IdempotencyKeyReused(ServiceError):
    """The idempotency key came with another request before."""


class StillRunning(ServiceError):
    """The same request is still running."""


class ServiceUnavailable(ServiceError):
    """Something is temporarily unavailable; a retry may succeed."""
