"""Hash and compare passwords within a budget: so many may wait, and more are refused politely."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from printworks.errors import ServiceUnavailable

# Those who wait and the one whose turn it is, in each web process: the last waits a few seconds.
MOST_WAITING: Final = 8


class TooManySignIns(ServiceUnavailable):
    """More people sign in at the same time than passwords can be checked."""


class PasswordHashing(Protocol):
    """Hashes passwords; safe to use from many threads."""

    def hash(self, password: str) -> str:
        """Return the hash of a password."""

    def is_right(self, kept: str, password: str) -> bool:
        """Compare a password with its hash; an empty hash takes as long, and is never right."""

    def close(self) -> None:
        """Release what it holds."""


class Passwords:
    """Hashes passwords and compares them; safe to use from many threads."""

    def __init__(self, hashing: PasswordHashing) -> None:
        self._hashing = hashing
        self._places = threading.BoundedSemaphore(MOST_WAITING)

    def check_room(self) -> None:
        """Raise `TooManySignIns` if there is no place in the line, before anything else is done."""
        with self.place():
            pass

    @contextmanager
    def place(self) -> Iterator[PasswordHashing]:
        """Take a place in the line, for one password; raise `TooManySignIns` if there is none."""
        if not self._places.acquire(blocking=False):
            raise TooManySignIns(
                "Many people are signing in at the moment, and yours was not checked. "
                "Try again in a few seconds."
            )
        try:
            yield self._hashing
        finally:
            self._places.release()

    def hash(self, password: str) -> str:
        with self.place() as hashing:
            return hashing.hash(password)

    def is_right(self, kept: str, password: str) -> bool:
        with self.place() as hashing:
            return hashing.is_right(kept, password)

    def close(self) -> None:
        self._hashing.close()
