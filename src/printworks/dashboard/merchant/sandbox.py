"""The sandbox: a clock that can be moved, and words that let things go wrong."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.dashboard.merchant.faults import BANK_FAULTS, LAB_FAULTS
from printworks.dashboard.shared.order_timeline import TimelineEntry, tell
from printworks.dashboard.shared.words import count
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.router import FormAction, Page
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput
from printworks.payments.simulated import EEA
from printworks.store.callbacks.callbacks import Callback, count_events, list_feed
from printworks.store.orders.history import Happening
from printworks.wire.v3.sandbox import LONGEST

_UNITS: Final[Mapping[str, timedelta]] = {
    "minutes": timedelta(minutes=1),
    "hours": timedelta(hours=1),
    "days": timedelta(days=1),
}
_QUICK: Final = (("1", "hours", "1 hour"), ("1", "days", "1 day"), ("7", "days", "7 days"))
_SHOWN: Final = 30


class Told(msgspec.Struct, frozen=True):
    """Something that happened to one of the merchant's orders."""

    order_id: int
    timestamp: TimelineEntry


class Meanwhile(msgspec.Struct, frozen=True):
    """What happened while the clock was moved: some of it, and how much in all."""

    told: list[Told]
    total: int


def show_sandbox(visit: MerchantVisit) -> Response:
    """Show the clock, what happened when it was moved, and what can go wrong."""
    ahead = visit.merchant.clock_offset
    return visit.render(
        "merchant/sandbox.html",
        now=visit.now,
        real_now=visit.real_now,
        ahead=_write_duration(ahead),
        quick=_QUICK,
        units=list(_UNITS),
        meanwhile=_find_meanwhile(visit),
        lab_faults=LAB_FAULTS,
        bank_faults=BANK_FAULTS,
        authorising=len(EEA),
    )


def _find_meanwhile(visit: MerchantVisit) -> Meanwhile | None:
    since = visit.cursor("since")
    if since is None:
        return None
    feed = list_feed(visit.db, visit.merchant.id, after=since, limit=_SHOWN)
    total = count_events(visit.db, visit.merchant.id) - since
    return Meanwhile([one for callback in feed if (one := _tell(callback))], max(total, 0))


def _tell(callback: Callback) -> Told | None:
    if callback.event is None or callback.order_id is None:
        return None
    [timestamp] = tell([Happening(callback.created_at, callback.event)])
    return Told(callback.order_id, timestamp)


def advance(visit: MerchantVisit) -> str:
    """Move the clock; whatever falls due until then happens before this returns."""
    by = _read_duration(visit.sent.text("number"), visit.sent.text("unit"))
    with visit.services.database.reading() as db:
        since = count_events(db, visit.merchant.id)
    now = visit.services.advance_clock(visit.merchant.id, by)
    with visit.services.database.writing() as db:
        moved_to = now.isoformat(timespec="seconds")
        visit.within(db).note("advance-clock", _write_duration(by), now=moved_to)
    return f"{visit.path}?since={since}"


def _read_duration(number: str, unit: str) -> timedelta:
    times = read_number(number)
    if not times:
        raise BadInput("Say by how much the clock should move, in whole numbers.")
    if unit not in _UNITS:
        raise BadInput("Choose minutes, hours or days.")
    # Compared as numbers: the product of some is longer than any duration can be.
    if times > LONGEST // _UNITS[unit]:
        raise BadInput(f"The clock can be moved by at most {LONGEST.days} days at once.")
    return times * _UNITS[unit]


def _write_duration(duration: timedelta) -> str:
    """Return `1 day, 2 hours`; seconds are left out."""
    minutes = int(duration.total_seconds()) // 60
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes, "minute")]
    return ", ".join(count(number, word) for number, word in parts if number)


PAGES: Final[tuple[Page[MerchantVisit], ...]] = (
    Page(
        path="/sandbox",
        show=show_sandbox,
        form_actions=(
            FormAction(name="advance-clock", take=advance, says="The clock was moved.", alone=True),
        ),
        sandbox_only=True,
    ),
)
