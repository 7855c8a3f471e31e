"""The catalogue that is in use, followed by every process."""

import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog

from printworks.catalogue.opening import open_catalogue, read_catalogue
from printworks.catalogue.problems import BadCatalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock
from printworks.store.catalogue.versions import find_current, read_texts
from printworks.store.engine.database import Database

log = structlog.get_logger()

# How long it takes until a process notices that another version is in use.
SECONDS_BETWEEN_LOOKS: Final = 1.0


class CatalogueWatch:
    """Holds the version that is in use; safe in many threads.

    Once `start` was called, a thread replaces it as soon as another is. Until then it stays what
    it was when it was first asked for.
    """

    def __init__(self, database: Database, folder: Path | None, clock: Clock) -> None:
        self._database = database
        self._folder = folder
        self._clock = clock
        self._version: int | None = None
        self._current: Catalogue | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_failing = False

    @property
    def current(self) -> Catalogue:
        found = self._current
        return self.look() if found is None else found

    def look(self) -> Catalogue:
        """Find out which version is in use, and read it if it is another one."""
        with self._lock:
            with self._database.reading() as db:
                version = find_current(db, now=self._clock())
                is_new = self._current is None or version != self._version
                texts = read_texts(db, version) if is_new and version is not None else None
            if is_new:
                # Read outside the transaction: that takes a third of a second.
                loaded = open_catalogue(self._folder) if texts is None else read_catalogue(texts)
                self._current, self._version = loaded, version
            current = self._current
        # It was set above, if it had not been before.
        assert current is not None  # noqa: S101
        return current

    def start(self) -> None:
        """Follow what is published, until `close`; raise `BadCatalogue` if it cannot be read.

        A database that does not answer yet is no reason not to start: whoever asks meanwhile is
        told so.
        """
        self._look_again()
        self._thread = threading.Thread(target=self._follow, name="catalogue", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        while not self._stopped.wait(SECONDS_BETWEEN_LOOKS):
            # After the start, one that cannot be read leaves the one in use in use.
            with suppress(BadCatalogue):
                self._look_again()

    def _look_again(self) -> None:
        """Look, and log that it failed: once, until it succeeds."""
        try:
            self.look()
        except Exception as error:
            if not self._is_failing:
                log.warning("catalogue not read", error=str(error))
            self._is_failing = True
            if isinstance(error, BadCatalogue):
                raise
        else:
            self._is_failing = False
