"""Everything the service may refuse, in one tree.

ServiceError
├── BadInput          a field or parameter is missing or wrong
├── UnknownMediaType  a body in a format that is not spoken here
├── BadCredentials    no merchant with this id and key
├── NotFound          no such thing, or somebody else's
├── WrongState        not in the state in which the thing is now
├── KeyUsedBefore     an idempotency key that came with another request
├── StillRunning      the same is being done already
└── OutOfOrder        something of ours does not work at the moment

An error carries a sentence for the person who reads it and no HTTP status: the same
refusal is 403 at one door and 400 at another, so the door decides.
"""


class ServiceError(Exception):
    """Nothing happened, and the message says why."""

    @property
    def message(self) -> str:
        """Say what is wrong, in a sentence for the merchant."""
        return str(self.args[0])


class BadInput(ServiceError):
    """A field or parameter is missing or wrong; the message names it."""


class UnknownMediaType(ServiceError):
    """The body is in a format that is not spoken here."""


class BadCredentials(ServiceError):
    """No merchant has this id and key."""


class NotFound(ServiceError):
    """The thing does not exist, or belongs to somebody else."""


class WrongState(ServiceError):
    """The thing is not in a state that allows this."""


class IdempotencyKeyReused(ServiceError):
    """The idempotency key came with another request before."""


class StillRunning(ServiceError):
    """The same is being done already, by a request that has no answer yet."""


class ServiceUnavailable(ServiceError):
    """Something of ours does not work at the moment; later it may."""
