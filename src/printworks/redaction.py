"""Keeps the secrets of the settings out of whatever is written: logs, tracebacks, messages.

Nothing is supposed to write one. But what libraries put into the text of an error is theirs to
decide, and a library may quote the whole address of a database, with its password.
"""

import json
import sys
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import quote, unquote

MASK: Final = "[hidden]"
# Shorter ones would hide ordinary words, too.
SHORTEST: Final = 8

# Each as it is, and as it looks in addresses and in JSON.
_texts: list[str] = []
_bytes: list[bytes] = []


def hide_secrets(secrets: Iterable[str]) -> None:
    """Hide these from now on, in place of those before, also on standard error."""
    spelled = {form for secret in secrets for form in _spell(secret) if len(form) >= SHORTEST}
    # Where a password is hidden, the address around it need not be.
    _texts[:] = [form for form in spelled if not any(part in form for part in spelled - {form})]
    _bytes[:] = [text.encode() for text in _texts]
    if _texts and not isinstance(sys.stderr, RedactedStream):
        sys.stderr = RedactedStream(sys.stderr)


def _spell(secret: str) -> set[str]:
    plain = unquote(secret)
    forms = {secret, plain, quote(plain), quote(plain, safe="")}
    return forms | {json.dumps(form, ensure_ascii=False)[1:-1] for form in forms}


def redact(text: str) -> str:
    """Return a text without secrets."""
    for secret in _texts:
        if secret in text:
            text = text.replace(secret, MASK)
    return text


def redact_bytes(text: bytes) -> bytes:
    """Return a text in UTF-8 without secrets."""
    for secret in _bytes:
        if secret in text:
            text = text.replace(secret, MASK.encode())
    return text


class RedactedStream:
    """A stream of text without secrets: Python writes tracebacks there by itself."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text without secrets."""
        self._stream.write(redact(text))
        return len(text)

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)
