"""Signs callbacks by Standard Webhooks, version 1."""

import base64
import hashlib
import hmac
import secrets as randomness
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from typing import Final

SECRET_PREFIX: Final = "whsec_"  # noqa: S105  (says what kind of text follows)
_SECRET_BYTES: Final = 32
_FEWEST_BYTES, _MOST_BYTES = 24, 64


def make_secret() -> str:
    """Make a secret that nobody can guess, as receivers' libraries take it."""
    secret = randomness.token_bytes(_SECRET_BYTES)
    return SECRET_PREFIX + base64.b64encode(secret).decode()


def is_secret(text: str) -> bool:
    """Say whether a text could be a secret: long enough, and as libraries take it."""
    try:
        secret = base64.b64decode(text.removeprefix(SECRET_PREFIX), validate=True)
    except ValueError:
        return False
    return text.startswith(SECRET_PREFIX) and _FEWEST_BYTES <= len(secret) <= _MOST_BYTES


def sign(body: bytes, *, message_id: str, at: datetime, secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers that prove a body to be ours.

    The id stays the same when a message is sent again; `at` is the real time of this attempt,
    for receivers refuse what is old. There is one signature for each secret: while one replaces
    another, receivers that know either are content.
    """
    sent_at = str(int(at.timestamp()))
    content = f"{message_id}.{sent_at}.".encode() + body
    return {
        "webhook-id": message_id,
        "webhook-timestamp": sent_at,
        "webhook-signature": " ".join(_sign_with(secret, content) for secret in secrets),
    }


def _sign_with(secret: str, content: bytes) -> str:
    signing = _begin_signing(secret).copy()
    signing.update(content)
    return f"v1,{base64.b64encode(signing.digest()).decode()}"


# Preparing the key takes longer than the rest, and a merchant has one secret for all its callbacks.
@lru_cache(maxsize=1024)
def _begin_signing(secret: str) -> hmac.HMAC:
    key = base64.b64decode(secret.removeprefix(SECRET_PREFIX))
    return hmac.new(key, digestmod=hashlib.sha256)
