"""Hash passwords with argon2id, a few at a time."""

import threading
from typing import Final

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

# Each takes 64 MB and both cores: sign-in attempts must not use up the machine.
_AT_ONCE: Final = 2


class Passwords:
    """Hashes passwords and compares them; safe to use from many threads."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._room = threading.BoundedSemaphore(_AT_ONCE)
        self._placeholder: str | None = None

    def hash(self, password: str) -> str:
        with self._room:
            return self._hasher.hash(_encode(password))

    def is_right(self, kept: str | None, password: str) -> bool:
        """Compare a password with its hash; without a hash, take as long."""
        compared = self._get_placeholder() if kept is None else kept
        with self._room:
            try:
                self._hasher.verify(compared, _encode(password))
            except (VerificationError, InvalidHashError):
                return False
        return kept is not None

    def _get_placeholder(self) -> str:
        if self._placeholder is None:
            self._placeholder = self.hash("nobody has this password")
        return self._placeholder


def _encode(password: str) -> bytes:
    return password.encode("utf-8", "surrogateescape")
