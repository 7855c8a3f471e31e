"""The brand, followed by every web process, so that no page has to ask for it."""

import threading
from typing import Final

import structlog

from printworks.store.brand.brand import StoredBrand, read_brand
from printworks.store.engine.database import Database

log = structlog.get_logger()

# How long it takes until a process notices that the brand was changed.
SECONDS_BETWEEN_LOOKS: Final = 1.0


class BrandWatch:
    """Holds the brand; safe in many threads.

    Once `start` was called, a thread reads it again and again. A database that does not answer
    leaves it as it was.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._current = StoredBrand()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_failing = False

    @property
    def current(self) -> StoredBrand:
        return self._current

    def look(self) -> StoredBrand:
        """Read it again now."""
        with self._database.reading() as db:
            self._current = read_brand(db)
        return self._current

    def start(self) -> None:
        """Follow it until `close`."""
        self._look_again()
        self._thread = threading.Thread(target=self._follow, name="brand", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        while not self._stopped.wait(SECONDS_BETWEEN_LOOKS):
            self._look_again()

    def _look_again(self) -> None:
        """Look, and log that it failed: once, until it succeeds."""
        try:
            self.look()
        except Exception as error:  # noqa: BLE001  (a brand is no reason to stop)
            if not self._is_failing:
                log.warning("brand not read", error=str(error))
            self._is_failing = True
        else:
            self._is_failing = False
