"""News for the people of a merchant, and what each has seen of it.

What goes wrong and what is answered has rows of its own. What is told of orders all day is read from
the merchant's feed, of which the newest events are looked at.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, bindparam, func, insert, literal_column, select, update

from printworks.rules.callbacks import CallbackEvent
from printworks.rules.mail import MailKind
from printworks.store.callbacks.callbacks import read_callback_event
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.purging import delete_oldest
from printworks.store.engine.rows import columns_of
from printworks.store.tables import callbacks, news, order_events, orders, people

# More than this is counted as `99+`.
MOST_COUNTED: Final = 100


class NewNews(msgspec.Struct, frozen=True):
    """Something that the people of a merchant should know."""

    kind: MailKind
    # The first of what it tells of, and how many there were at once.
    order_id: int | None
    subject: int
    count: int


class NewsItem(msgspec.Struct, frozen=True):
    """Something that happened."""

    id: int
    kind: MailKind
    order_id: int | None
    subject: int
    count: int
    at: datetime
    # The merchant's own name for the order.
    merchant_order_id: str | None

    @property
    def subject_of(self) -> int:
        """What makes two things alike: the issue; images of one order are told as one."""
        return self.subject if self.kind is MailKind.ISSUES_ANSWERED else 0


class FeedItem(msgspec.Struct, frozen=True):
    """An event of the merchant's feed."""

    number: int
    order_id: int
    at: datetime
    event: CallbackEvent


def add_news(
    db: Connection, merchant_id: int, new: NewNews, *, at: datetime, now: datetime
) -> None:
    """Add something to the news of a merchant; `at` is the merchant's time."""
    values = msgspec.structs.asdict(new)
    db.execute(insert(news).values(merchant_id=merchant_id, at=at, created_at=now, **values))


_OF_MERCHANT: Final = news.c.merchant_id == bindparam("merchant_id")
_LIST: Final = PreparedStatement(
    select(*columns_of(news, NewsItem, merchant_order_id=orders.c.merchant_order_id))
    .join_from(news, orders, orders.c.id == news.c.order_id, isouter=True)
    .where(_OF_MERCHANT)
    .order_by(news.c.id.desc())
    .limit(bindparam("limit"))
)
_unseen = (
    select(news.c.id, news.c.kind)
    .where(_OF_MERCHANT, news.c.id > bindparam("after"))
    .order_by(news.c.id)
    .limit(literal_column(str(MOST_COUNTED)))
)
_UNSEEN: Final = PreparedStatement(_unseen)
_FEED: Final = PreparedStatement(
    select(
        callbacks.c.number,
        callbacks.c.order_id,
        order_events.c.created_at,
        order_events.c.facts,
    )
    .join_from(callbacks, order_events, order_events.c.id == callbacks.c.event_id)
    .where(
        callbacks.c.merchant_id == bindparam("merchant_id"), callbacks.c.number > bindparam("after")
    )
    .order_by(callbacks.c.number.desc())
    .limit(bindparam("limit"))
)


def list_news(db: Connection, merchant_id: int, *, limit: int) -> list[NewsItem]:
    """Return the newest news of a merchant."""
    rows = _LIST.all(db, {"merchant_id": merchant_id, "limit": limit})
    return [NewsItem(*row) for row in rows]


def list_unseen(db: Connection, merchant_id: int, *, after: int) -> list[tuple[int, MailKind]]:
    """Return the ids and kinds of news after this one, the oldest first, up to `MOST_COUNTED`."""
    rows = _UNSEEN.all(db, {"merchant_id": merchant_id, "after": after})
    return [(number, kind) for number, kind in rows]


def list_feed(db: Connection, merchant_id: int, *, after: int, limit: int) -> list[FeedItem]:
    """Return the newest events of a merchant's feed after this number, newest first."""
    rows = _FEED.all(db, {"merchant_id": merchant_id, "after": after, "limit": limit})
    return [
        FeedItem(number, order_id, at, read_callback_event(facts))
        for number, order_id, at, facts in rows
    ]


def mark_seen(db: Connection, person_id: int, *, news_id: int, event: int) -> None:
    """Store the last news and the last event that a person has seen; neither goes back."""
    changed = update(people).where(people.c.id == person_id)
    db.execute(changed.where(people.c.news_seen < news_id).values(news_seen=news_id))
    db.execute(changed.where(people.c.events_seen < event).values(events_seen=event))


def begin_unread(db: Connection, merchant_id: int, person_id: int) -> None:
    """Let a new person begin without news: what happened before they came is no news to them."""
    last = select(func.max(news.c.id)).where(news.c.merchant_id == merchant_id).scalar_subquery()
    event = (
        select(func.max(callbacks.c.number))
        .where(callbacks.c.merchant_id == merchant_id)
        .scalar_subquery()
    )
    values = {"news_seen": func.coalesce(last, 0), "events_seen": func.coalesce(event, 0)}
    db.execute(update(people).where(people.c.id == person_id).values(values))


def purge_news(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete news that was written before then, the oldest first; return how many."""
    return delete_oldest(db, news.c.created_at, news.c.created_at < before, limit=limit)


def find_last(items: Sequence[NewsItem], feed: Sequence[FeedItem]) -> tuple[int, int]:
    """Return the last news and the last event of what is shown, newest first."""
    return (items[0].id if items else 0, feed[0].number if feed else 0)
