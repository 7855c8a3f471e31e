"""Links that end mails of one kind for one reader, without signing in (RFC 8058)."""

import hashlib
import hmac
from typing import Final

from printworks.rules.mail import MailKind

PATH: Final = "/unsubscribe"
# 128 bits in hexadecimal.
_DIGITS: Final = 32


def make_unsubscribe_path(key: str, reader: str, kind: MailKind) -> str:
    """Return the path of such a link; `reader` is a person's id, or what stands for a recipient."""
    return f"{PATH}/{kind}/{reader}/{_sign(key, reader, kind)}"


def is_unsubscribe_signed(key: str, reader: str, kind: str, signature: str) -> bool:
    """Return whether we made this link."""
    # `compare_digest` takes only ASCII.
    return signature.isascii() and hmac.compare_digest(signature, _sign(key, reader, kind))


def _sign(key: str, reader: str, kind: str) -> str:
    message = f"unsubscribe {kind} {reader}".encode("utf-8", "surrogateescape")
    return hmac.digest(key.encode(), message, hashlib.sha256).hex()[:_DIGITS]
