"""The catalogue that is in use, followed by every process."""

import threading
from pathlib import Path

from printworks.catalogue.opening import open_catalogue, read_catalogue
from printworks.catalogue.problems import BadCatalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import Clock
from printworks.store.catalogue.versions import find_current, read_texts
from printworks.store.engine.database import Database
from printworks.store.engine.following import Follower


class CatalogueWatch(Follower):
    """Holds the version that is in use; safe in many threads.

    Once `start` was called, a thread replaces it as soon as another is. Until then it stays what
    it was when it was first asked for.
    """

    subject = "catalogue"
    fatal = (BadCatalogue,)

    def __init__(self, database: Database, folder: Path | None, clock: Clock) -> None:
        super().__init__()
        self._database = database
        self._folder = folder
        self._clock = clock
        self._version: int | None = None
        self._current: Catalogue | None = None
        self._lock = threading.Lock()

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
