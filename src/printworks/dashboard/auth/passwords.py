"""Passwords as they are kept: argon2id, a few at a time."""

import threading
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# Each takes 64 MB and both cores for a moment: strangers must not fill the machine with them.
_AT_ONCE: Final = 2


class Passwords:
    """Hashes passwords and compares them; safe to use from many threads."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._nobody: str | None = None

    def hash(self, password: str) -> str:
        """Return what is kept of a password."""
        with self._room:
            return self._hasher.hash(_encode(password))

    def is_right(self, kept: str | None, password: str) -> bool:
        """Compare a password with what is kept; with nobody's, it takes as long."""
        compared = self._get_nobody() if kept is None else kept
        with self._room:
            try:
                self._hasher.verify(compared, _encode(password))
            except (VerificationError, InvalidHashError):
                return False
        return kept is not None

    def _get_nobody(self) -> str:
        if self._nobody is None:
            self._nobody = self.hash("nobody has this password")
        return self._nobody


def _encode(password: str) -> bytes:
    return password.encode("utf-8", "surrogateescape")
