"""How long it will take: what is being done, and how much of it is."""

from typing import Protocol


class TransferProgress(Protocol):
    """Shows people how far something is; safe to use from one thread."""

    def begin(self, what: str, total: int | None = None) -> None:
        """Begin the next part, of so many pieces if that is known."""

    def advance(self, pieces: int = 1) -> None:
        """Say that some more is done."""


class SilentProgress:
    """Shows nothing."""

    def begin(self, what: str, total: int | None = None) -> None:
        """Do nothing."""

    def advance(self, pieces: int = 1) -> None:
        """Do nothing."""
