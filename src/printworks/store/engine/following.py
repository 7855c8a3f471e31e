"""Something of the database that every process holds, and replaces as soon as it is another."""

import threading
from abc import ABC, abstractmethod
from typing import Final

import structlog

log = structlog.get_logger()

# How long it takes until a process notices that something has changed.
SECONDS_BETWEEN_LOOKS: Final = 1.0


class Follower(ABC):
    """Looks every second whether something has changed, once `start` was called."""

    # What is not read while it fails, for the log.
    subject: str
    # What stops a start, because it does not pass by itself.
    fatal: tuple[type[Exception], ...] = ()

    def __init__(self) -> None:
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_failing = False

    @abstractmethod
    def look(self) -> object:
        """Find out what is in use, and read it if it is something else."""

    def start(self) -> None:
        """Follow until `close`; raise what is fatal.

        A database that does not answer yet is no reason not to start: whoever asks meanwhile is
        told so.
        """
        self._look_again()
        self._thread = threading.Thread(target=self._follow, name=self.subject, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        while not self._stopped.wait(SECONDS_BETWEEN_LOOKS):
            try:
                self._look_again()
            except self.fatal:
                # After the start, what cannot be read leaves what is in use in use.
                continue

    def _look_again(self) -> None:
        """Look, and log that it failed: once, until it succeeds."""
        try:
            self.look()
        except Exception as error:
            if not self._is_failing:
                log.warning("not read", what=self.subject, error=str(error))
            self._is_failing = True
            if isinstance(error, self.fatal):
                raise
        else:
            self._is_failing = False
