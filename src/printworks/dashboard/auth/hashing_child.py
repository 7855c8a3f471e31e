"""The process that hashes passwords: started by a web process, at low priority, on few cores.

It reads one task per line and answers with one line each, until its input ends. Of all such
processes on a machine only so many hash at the same time.
"""

import fcntl
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

import msgspec
from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from printworks.starting import give_way

# With this, a busy web process gets nine tenths of a core that both want.
NICENESS: Final = 10


class HashTask(msgspec.Struct, frozen=True):
    """A password to be hashed, or compared with a hash."""

    password: bytes
    kept: str | None = None


class HashAnswer(msgspec.Struct, frozen=True):
    """The hash, or whether the password is right."""

    hash: str = ""
    is_right: bool = False


_read_task = msgspec.json.Decoder(HashTask).decode


class Hasher:
    """Hashes with argon2id; a comparison without a hash takes as long as one with."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        # Made before the first comparison, which would otherwise take longer.
        self._placeholder = self._hasher.hash("nobody has this password")

    def hash(self, password: str) -> str:
        return self._hasher.hash(encode(password))

    def is_right(self, kept: str, password: str) -> bool:
        """Compare a password with its hash; an empty hash takes as long, and is never right."""
        try:
            self._hasher.verify(kept or self._placeholder, encode(password))
        except (VerificationError, InvalidHashError):
            return False
        return bool(kept)

    def close(self) -> None:
        """Do nothing: it is a process of its own that has to be ended."""


def encode(password: str) -> bytes:
    """Return the bytes of a password, whatever was typed."""
    return password.encode("utf-8", "surrogateescape")


def answer(hasher: Hasher, line: bytes) -> bytes:
    """Do one task."""
    task = _read_task(line)
    password = task.password.decode("utf-8", "surrogateescape")
    if task.kept is None:
        return msgspec.json.encode(HashAnswer(hash=hasher.hash(password)))
    return msgspec.json.encode(HashAnswer(is_right=hasher.is_right(task.kept, password)))


@contextmanager
def one_of(locks: list[int], first: int) -> Iterator[None]:
    """Wait for a slot of the machine; one that ends, however it ends, leaves its slot."""
    taken = next((lock for lock in locks if _try(lock)), None)
    if taken is None:
        taken = locks[first % len(locks)]
        fcntl.flock(taken, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(taken, fcntl.LOCK_UN)


def _try(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _be_modest(slots: int) -> None:
    give_way(NICENESS, leads_session=True)
    if hasattr(os, "sched_setaffinity"):
        # Of all cores: the thread that starts this process is bound to one. In a container that
        # may use others only, it stays there.
        with suppress(OSError):
            os.sched_setaffinity(0, range(os.cpu_count() or 1)[-slots:])


def main(lock: str, slots: int) -> None:
    """Do tasks until the input ends."""
    _be_modest(slots)
    files = [Path(f"{lock}.{number}" if number else lock) for number in range(slots)]
    locks = [os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600) for file in files]
    hasher = Hasher()
    for line in sys.stdin.buffer:
        with one_of(locks, os.getpid()):
            answered = answer(hasher, line)
        sys.stdout.buffer.write(answered + b"\n")
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
