"""How mail leaves: a protocol, and what can go wrong."""

from email.message import EmailMessage
from typing import Protocol


class MailRefused(Exception):
    """The mail server refuses this mail for good; the text says why, for the operator."""


class MailUnavailable(Exception):
    """The mail server cannot be used now; the text says why, for the operator."""


class Mailer(Protocol):
    """Hands mail to a server. Safe to use from many threads."""

    def send(self, message: EmailMessage) -> None:
        """Return when the server has taken the mail; raise `MailRefused` or `MailUnavailable`."""

    def check(self) -> None:
        """Connect and sign in without sending anything; raise `MailUnavailable`."""
