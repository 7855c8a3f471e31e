"""Why a request that we sent came to nothing, in one tree.

OutboundError
├── BadAddress      permanent  the text is no address that we would ask
├── Unreachable                nobody answered
│   └── Refused                an address that we do not talk to
├── BadCertificate             no secure connection could be made
├── TimedOut                   connected, then too slow
├── TooLarge        permanent  more than the limit, as sent or unpacked
├── NotThere        permanent  404 or 410
└── BadAnswer       it depends  another status, a broken body, redirects that lead nowhere

The text of an error is for the merchant, `detail` for the log alone. A closed port, a filtered
one, an unknown name and a forbidden address say the same words and are equally worth another
try: whoever chooses addresses must not learn from us what our own network looks like.
"""

from typing import ClassVar, Final

_NOBODY: Final = (
    "The address could not be reached. It must be public, and on port 80 or 443 if it names a port."
)


class OutboundError(Exception):
    """The request came to nothing; the text says why in words for the merchant."""

    sentence: ClassVar[str] = "The address could not be asked."
    is_permanent: bool = False

    def __init__(self, detail: str = "") -> None:
        super().__init__(self.sentence)
        self.detail = detail

    @property
    def message(self) -> str:
        """Say what is wrong, in a sentence for the merchant."""
        return str(self.args[0])


class BadAddress(OutboundError):
    """The text is no address that we would ask, whoever answers there."""

    is_permanent = True

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.args = (sentence,)


class Unreachable(OutboundError):
    """Nobody answered: no such name, no connection, or it ended before an answer."""

    sentence = _NOBODY


class AddressRefused(Unreachable):
    """An address that we do not talk to; only `detail` tells it from one that is silent."""


class BadCertificate(OutboundError):
    """The other side showed no certificate that is valid for its name, or speaks no TLS."""

    sentence = "No secure connection could be made: the certificate of the address is not valid."


class TimedOut(OutboundError):
    """A connection was made, but the answer did not come in time."""

    sentence = "The address took too long to answer."


class TooLarge(OutboundError):
    """The answer is larger than the limit, as it was sent or once unpacked."""

    sentence = "The file at the address is too large."
    is_permanent = True


class NotThere(OutboundError):
    """The address answered that it has nothing."""

    sentence = "There is nothing at the address."
    is_permanent = True


class BadAnswer(OutboundError):
    """The answer is of no use; `is_permanent` says whether the next one may be."""

    def __init__(self, sentence: str, *, detail: str = "", is_permanent: bool = False) -> None:
        super().__init__(detail)
        self.args = (sentence,)
        self.is_permanent = is_permanent
