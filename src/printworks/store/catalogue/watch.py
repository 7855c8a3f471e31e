"""The catalogue that is in use, followed by every process."""

import threading
from collections.abc import Mapping
from pathlib import Path

from printworks.catalogue.opening import open_catalogue, read_catalogue
from printworks.catalogue.problems import BadCatalogue, CatalogueProblem, Place
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
        # The last version that could not be read, and what is wrong with it.
        self._bad: tuple[int | None, Mapping[CatalogueProblem, Place]] | None = None

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
                if is_new and self._bad is not None and self._bad[0] == version:
                    # What was published stays as it is: it would fail again.
                    raise BadCatalogue(self._bad[1])
                texts = read_texts(db, version) if is_new and version is not None else None
            if is_new:
                # Read outside the transaction: that takes a third of a second.
                self._current, self._version = self._load(version, texts), version
            current = self._current
        # It was set above, if it had not been before.
        assert current is not None  # noqa: S101
        return current

    def _load(self, version: int | None, texts: Mapping[str, str] | None) -> Catalogue:
        """Read a version, or the folder of the settings, whose files may be mended meanwhile."""
        if texts is None:
            return open_catalogue(self._folder)
        try:
            return read_catalogue(texts)
        except BadCatalogue as error:
            self._bad = (version, error.places)
            raise
