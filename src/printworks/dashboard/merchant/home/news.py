"""News: what happened since somebody looked, the newest first, alike things as one line."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
from starlette.responses import Response

from printworks.actions.news import see_news
from printworks.dashboard.merchant.home.needs import name_order
from printworks.dashboard.shared.labels import Tone, count
from printworks.dashboard.site.bell import is_progress
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, NothingNew
from printworks.rules.mail import MailKind
from printworks.rules.news import count_sent, may_hear
from printworks.rules.people import Duty
from printworks.store.engine.rows import group_by
from printworks.store.views.home.news import (
    FeedItem,
    NewsItem,
    find_last,
    list_feed,
    list_news,
)

# Rows that are read; alike ones become one line.
_READ: Final = 100
_FEED: Final = 200


class NewsLine(msgspec.Struct, frozen=True, kw_only=True):
    """One line of the news."""

    at: datetime
    text: str
    address: str
    tone: Tone
    is_new: bool


@page_at("/news", forms=Duty.LOOK)
def show_news(visit: MerchantVisit) -> Response:
    """Show the news; the bell of every page asks here, too."""
    bell = visit.query.get("bell")
    if bell is not None and visit.bell is not None and bell == visit.bell.text:
        raise NothingNew
    items = list_news(visit.db, visit.merchant.id, limit=_READ)
    feed = list_feed(visit.db, visit.merchant.id, after=0, limit=_FEED)
    lines = list_lines(visit, items, feed)
    last_news, last_event = find_last(items, feed)
    return visit.render(
        "merchant/news.html",
        etag=visit.etag(lines),
        lines=lines,
        new=sum(line.is_new for line in lines),
        last_news=last_news,
        last_event=last_event,
    )


@show_news.action("see-news", "Everything is marked as read.")
def mark_read(visit: MerchantVisit) -> None:
    """Mark as read what the page has shown, and not what came since."""
    sent = visit.sent
    see_news(
        visit.work,
        visit.person.id,
        news_id=sent.number("last_news") or 0,
        event=sent.number("last_event") or 0,
    )


def list_lines(
    visit: MerchantVisit, items: Sequence[NewsItem], feed: Sequence[FeedItem]
) -> list[NewsLine]:
    """Return the news, newest first."""
    heard = [item for item in items if may_hear(item.kind, visit.person.role)]
    zone = ZoneInfo(visit.time_zone)
    alike = group_by(
        heard, lambda item: (item.kind, item.order_id, item.subject_of, _day_of(item.at, zone))
    )
    told = [_write(group, visit.person.news_seen) for group in alike.values()]
    progress = group_by(filter(is_progress, feed), lambda item: _day_of(item.at, zone))
    told += [
        _write_progress(day, group, visit.person.events_seen) for day, group in progress.items()
    ]
    return sorted(told, key=lambda line: line.at, reverse=True)


def _day_of(at: datetime, zone: ZoneInfo) -> date:
    """Return the day on which the shop saw it, as its lists of orders count days."""
    return at.astimezone(zone).date()


def _write(group: Sequence[NewsItem], seen: int) -> NewsLine:
    newest = group[0]
    total = sum(item.count for item in group)
    text, address, tone = _WORDS[newest.kind](newest, total)
    return NewsLine(at=newest.at, text=text, address=address, tone=tone, is_new=newest.id > seen)


_Words = tuple[str, str, Tone]


def _name(item: NewsItem) -> str:
    return name_order(item.order_id or 0, item.merchant_order_id)


def _tell_images(item: NewsItem, total: int) -> _Words:
    which = "An image" if total == 1 else count(total, "image")
    return (
        f"{which} of {_lower(_name(item))} cannot be printed.",
        f"/orders/{item.order_id}",
        "error",
    )


def _tell_payment(item: NewsItem, _: int) -> _Words:
    return (
        f"The payment for {_lower(_name(item))} was declined.",
        f"/orders/{item.order_id}",
        "error",
    )


def _tell_issue(item: NewsItem, _: int) -> _Words:
    text = f"We answered your issue about {_lower(_name(item))}."
    return text, f"/issues/{item.subject}", ""


def _tell_callbacks(_: NewsItem, total: int) -> _Words:
    which = "A callback" if total == 1 else count(total, "callback")
    return f"{which} could not be delivered.", "/integrations?state=given-up", "error"


def _tell_low_credit(_item: NewsItem, _: int) -> _Words:
    return "Little is left of your credit limit.", "/account", "warn"


def _tell_overdue(_item: NewsItem, _: int) -> _Words:
    return "A part of what you owe is overdue.", "/account", "error"


_WORDS: Final = {
    MailKind.IMAGES_FAILED: _tell_images,
    MailKind.PAYMENTS_REFUSED: _tell_payment,
    MailKind.ISSUES_ANSWERED: _tell_issue,
    MailKind.CALLBACKS_FAILED: _tell_callbacks,
    MailKind.LOW_CREDIT: _tell_low_credit,
    MailKind.OVERDUE: _tell_overdue,
}


def _lower(name: str) -> str:
    return name[:1].lower() + name[1:]


def _write_progress(day: date, group: Sequence[FeedItem], seen: int) -> NewsLine:
    """Tell in one line what was sent on a day."""
    shipments = sum(count_sent(item.event) for item in group)
    completed = {item.order_id for item in group if not count_sent(item.event)}
    said = [
        *(
            [f"{count(shipments, 'shipment')} {'was' if shipments == 1 else 'were'} sent"]
            if shipments
            else []
        ),
        *([f"{count(len(completed), 'order')} complete"] if completed else []),
    ]
    orders = {item.order_id for item in group}
    one_order = f"/orders/{group[0].order_id}" if len(orders) == 1 else ""
    return NewsLine(
        at=group[0].at,
        text=f"{', '.join(said)}.",
        address=one_order or f"/orders?status=Complete&to={day}",
        tone="ok",
        is_new=group[0].number > seen,
    )
