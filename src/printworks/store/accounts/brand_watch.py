"""The brand, followed by every web process, so that no page has to ask for it."""

from printworks.store.accounts.brand import StoredBrand, read_brand
from printworks.store.engine.database import Database
from printworks.store.engine.following import Follower


class BrandWatch(Follower):
    """Holds the brand; safe in many threads. A database that does not answer leaves it as it was."""

    subject = "brand"

    def __init__(self, database: Database) -> None:
        super().__init__()
        self._database = database
        self._current = StoredBrand()

    @property
    def current(self) -> StoredBrand:
        return self._current

    def look(self) -> StoredBrand:
        """Read it again now."""
        with self._database.reading() as db:
            self._current = read_brand(db)
        return self._current
