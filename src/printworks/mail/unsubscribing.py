"""Links that end mails of one kind for one reader, without signing in (RFC 8058)."""

import hashlib
import hmac
from typing import Final, NamedTuple

from printworks.language.words import Words
from printworks.rules.languages import Language
from printworks.rules.mail import MailKind

PATH: Final = "/unsubscribe"
# In the address of the page: the language of the mail from which it was opened.
LANGUAGE: Final = "language"
# 128 bits in hexadecimal.
_DIGITS: Final = 32


def make_unsubscribe_path(key: str, reader: str, kind: MailKind, language: Language) -> str:
    """Return the path of such a link; `reader` is a person's id, or what stands for a recipient."""
    return f"{PATH}/{kind}/{reader}/{_sign(key, reader, kind)}?{LANGUAGE}={language}"


def is_unsubscribe_signed(key: str, reader: str, kind: str, signature: str) -> bool:
    """Return whether we made this link."""
    # `compare_digest` takes only ASCII.
    return signature.isascii() and hmac.compare_digest(signature, _sign(key, reader, kind))


class UnsubscribeWords(NamedTuple):
    """What the page of such a link says."""

    question: str
    button: str
    done: str
    afterwards: str
    not_ours: str
    instead: str


def describe_unsubscribing(words: Words) -> UnsubscribeWords:
    """Write the page in the language of the mail from which it was opened."""
    say = words.say
    return UnsubscribeWords(
        question=say("Stop these emails?"),
        button=say("Stop these emails"),
        done=say("You will no longer receive these emails"),
        afterwards=say("If one is on its way already, it may still arrive."),
        not_ours=say("This link does not work"),
        instead=say("Open the complete link from the email again."),
    )


def _sign(key: str, reader: str, kind: str) -> str:
    message = f"unsubscribe {kind} {reader}".encode("utf-8", "surrogateescape")
    return hmac.digest(key.encode(), message, hashlib.sha256).hex()[:_DIGITS]
