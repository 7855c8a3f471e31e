"""The bell: how much a merchant's person has not seen yet."""

from typing import Final

import msgspec
from sqlalchemy import Connection

from printworks.rules.news import count_sent, is_completed, may_hear
from printworks.store.accounts.people import Person
from printworks.store.views.home.news import MOST_COUNTED, FeedItem, list_feed, list_unseen

# Of the events since somebody looked, the newest that are searched for shipments.
_LOOKED_AT: Final = 50


class Bell(msgspec.Struct, frozen=True):
    """How much is new."""

    count: int

    @property
    def text(self) -> str:
        """The count as the bell shows it."""
        return f"{MOST_COUNTED - 1}+" if self.count >= MOST_COUNTED else str(self.count)

    @property
    def words(self) -> str:
        """The count as it is read aloud."""
        return f"News, {self.text} unread" if self.count else "News, nothing new"


def read_bell(db: Connection, person: Person, merchant_id: int) -> Bell:
    """Count what a person has not seen: each thing by itself, and all shipments as one."""
    unseen = list_unseen(db, merchant_id, after=person.news_seen)
    heard = sum(may_hear(kind, person.role) for _, kind in unseen)
    feed = list_feed(db, merchant_id, after=person.events_seen, limit=_LOOKED_AT)
    return Bell(heard + any(map(is_progress, feed)))


def is_progress(item: FeedItem) -> bool:
    """Return whether an event of the feed is worth telling: shipments, and orders that are complete."""
    return bool(count_sent(item.event)) or is_completed(item.event)
