"""The price lists that are in use, followed by every process."""

import threading

from printworks.clock import Clock
from printworks.rules.price_lists import PriceBook, PriceRates
from printworks.store.engine.database import Database
from printworks.store.engine.following import Follower
from printworks.store.money.price_lists import read_lists, read_revision, read_revisions


class PriceWatch(Follower):
    """Holds all lists as they were at one revision; safe in many threads.

    Of a new revision, only the lists that have changed are read.
    """

    subject = "price lists"

    def __init__(self, database: Database, clock: Clock) -> None:
        super().__init__()
        self._database = database
        self._clock = clock
        self._current: PriceBook | None = None
        self._lists: dict[int, PriceRates] = {}
        self._lock = threading.Lock()

    @property
    def current(self) -> PriceBook:
        found = self._current
        return self.look() if found is None else found

    def look(self) -> PriceBook:
        """Find out whether a list has changed, and read those that have."""
        with self._lock, self._database.reading() as db:
            revision, found = read_revision(db), self._current
            if found is not None and found.revision == revision:
                return found
            # A change that is committed meanwhile is read at the next look, too: the revision
            # that is held is older then.
            wanted = read_revisions(db, now=self._clock())
            kept = {
                number: rates
                for number, rates in self._lists.items()
                if wanted.get(number) == rates.of.revision
            }
            new = read_lists(db, wanted.keys() - kept.keys())
            self._lists = kept | {one.id: PriceRates(one) for one in new}
            self._current = PriceBook(revision, self._lists.values())
            return self._current
