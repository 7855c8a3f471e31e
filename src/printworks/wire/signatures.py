"""Signs callbacks by Standard Webhooks, version 1."""

import base64
import secrets as randomness
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final

from standardwebhooks import Webhook

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


# A merchant has one for all its callbacks.
_read_secret: Final = lru_cache(maxsize=1024)(Webhook)


def sign(body: bytes, *, message_id: str, at: datetime, secrets: Sequence[str]) -> dict[str, str]:
    """Return the headers that prove a body to be ours.

    The id stays the same when a message is sent again; `at` is the real time of this attempt,
    for receivers refuse what is old. There is one signature for each secret: while one replaces
    another, receivers that know either are content.
    """
    # The library ignores the time zone and assumes UTC.
    at = at.astimezone(UTC)
    text = body.decode()
    signatures = [_read_secret(secret).sign(message_id, at, text) for secret in secrets]
    return {
        "webhook-id": message_id,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": " ".join(signatures),
    }
