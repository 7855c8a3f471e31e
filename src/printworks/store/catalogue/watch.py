"""The catalogue that is in use, followed by every process."""

import threading
from pathlib import Path
from typing import Final

import structlog

from printworks.catalogue.opening import open_catalogue
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
                loaded = open_catalogue(self._folder) if texts is None else Catalogue.load(texts)
                self._current, self._version = loaded, version
            current = self._current
        # It was set above, if it had not been before.
        assert current is not None  # noqa: S101
        return current

    def start(self) -> None:
        """Follow what is published, until `close`."""
        _ = self.current
        self._thread = threading.Thread(target=self._follow, name="catalogue", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._stopped.set()
        if self._thread is not None:
            self._thread.join()

    def _follow(self) -> None:
        is_failing = False
        while not self._stopped.wait(SECONDS_BETWEEN_LOOKS):
            try:
                self.look()
            except Exception as error:  # noqa: BLE001  (the one in use stays in use)
                if not is_failing:
                    log.warning("catalogue not read", error=str(error))
                is_failing = True
            else:
                is_failing = False
