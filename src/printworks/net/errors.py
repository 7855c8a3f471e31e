"""Why an outbound request failed, in one tree.

OutboundError
├── BadAddress      permanent  the text is not a valid address
├── Unreachable                no answer
│   └── AddressRefused         an address that we do not connect to
├── BadCertificate             no secure connection
├── TimedOut                   connected, then too slow
├── TooLarge        permanent  more than the limit, as sent or unpacked
├── NotThere        permanent  404 or 410
└── BadAnswer       it depends another status, a broken body, a bad redirect

The text of an error is for the merchant, `detail` only for the log. A closed port, a filtered
one, an unknown name and a forbidden address have the same text and are all retried: merchants
must not be able to explore our own network.
"""

from typing import ClassVar, Final

_UNREACHABLE: Final = (
    "The address could not be reached. It must be public, and on port 80 or 443 if it names a port."
)


class OutboundError(Exception):
    """The request failed; the text is a sentence for the merchant."""

    sentence: ClassVar[str] = "The address could not be asked."
    is_permanent: bool = False

    def __init__(self, detail: str = "") -> None:
        super().__init__(self.sentence)
        self.detail = detail

    @property
    def message(self) -> str:
        """The reason, in a sentence for the merchant."""
        return str(self.args[0])


class BadAddress(OutboundError):
    """The text is not a valid address."""

    is_permanent = True

    def __init__(self, sentence: str) -> None:
        super().__init__()
        self.args = (sentence,)


class Unreachable(OutboundError):
    """No answer: no such name, no connection, or it ended too early."""

    sentence = _UNREACHABLE


class AddressRefused(Unreachable):
    """A forbidden address; only `detail` distinguishes it from one that does not answer."""


class BadCertificate(OutboundError):
    """The server has no certificate that is valid for its name, or does not use TLS."""

    sentence = "No secure connection could be made: the certificate of the address is not valid."


class TimedOut(OutboundError):
    """A connection was made, but the answer did not come in time."""

    sentence = "The address took too long to answer."


class TooLarge(OutboundError):
    """The response is larger than the limit, packed or unpacked."""

    sentence = "The file at the address is too large."
    is_permanent = True


class NotThere(OutboundError):
    """The server has no such file."""

    sentence = "There is nothing at the address."
    is_permanent = True


class BadAnswer(OutboundError):
    """The response cannot be used; unless `is_permanent`, a retry may succeed."""

    def __init__(self, sentence: str, *, detail: str = "", is_permanent: bool = False) -> None:
        super().__init__(detail)
        self.args = (sentence,)
        self.is_permanent = is_permanent
