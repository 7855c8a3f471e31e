"""The sandbox: a clock that can be moved, and keywords that simulate faults."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.actions.accounts.clock import audit_clock_move
from printworks.clock import LONGEST_ADVANCE
from printworks.dashboard.merchant.sandbox.faults import BANK_FAULTS, LAB_FAULTS
from printworks.dashboard.shared.labels import count
from printworks.dashboard.shared.order_timeline import TimelineEntry, describe_timeline
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput
from printworks.payments.simulated import EEA
from printworks.store.accounts.merchants import get_merchant
from printworks.store.callbacks.callbacks import count_events, list_feed
from printworks.store.orders.history import DatedEvent

_UNITS: Final[Mapping[str, timedelta]] = {
    "minutes": timedelta(minutes=1),
    "hours": timedelta(hours=1),
    "days": timedelta(days=1),
}
_QUICK: Final = (("1", "hours", "1 hour"), ("1", "days", "1 day"), ("7", "days", "7 days"))
_SHOWN: Final = 30


class SandboxEvents(msgspec.Struct, frozen=True):
    """The events while the clock was moved: the first, and how many there were."""

    # Each with the number of its order.
    events: list[tuple[int, TimelineEntry]]
    total: int


@page_at("/sandbox", sandbox_only=True)
def show_sandbox(visit: MerchantVisit) -> Response:
    """Show the clock, what happened when it was moved, and the faults."""
    ahead = visit.merchant.clock_offset
    return visit.render(
        "merchant/sandbox.html",
        now=visit.now,
        real_now=visit.real_now,
        ahead=_write_duration(ahead),
        quick=_QUICK,
        units=list(_UNITS),
        meanwhile=_list_events_since(visit),
        lab_faults=LAB_FAULTS,
        bank_faults=BANK_FAULTS,
        authorising=len(EEA),
    )


def _list_events_since(visit: MerchantVisit) -> SandboxEvents | None:
    since = visit.cursor("since")
    if since is None:
        return None
    feed = list_feed(visit.db, visit.merchant.id, after=since, limit=_SHOWN)
    total = count_events(visit.db, visit.merchant.id) - since
    events = [
        (callback.order_id, entry)
        for callback in feed
        if callback.event is not None and callback.order_id is not None
        for entry in describe_timeline([DatedEvent(callback.created_at, callback.event)])
    ]
    return SandboxEvents(events, max(total, 0))


@show_sandbox.action("advance-clock", "The clock was moved.", alone=True)
def advance(visit: MerchantVisit) -> str:
    """Move the clock; everything due by then happens before this returns."""
    by = _read_duration(visit.sent.text("number"), visit.sent.text("unit"))
    with visit.services.database.reading() as db:
        since = count_events(db, visit.merchant.id)
    move_clock(visit, by)
    return f"{visit.path}?since={since}"


def move_clock(visit: MerchantVisit, by: timedelta) -> None:
    """Move the clock of the merchant, run what falls due until then, and audit it."""
    services, merchant_id = visit.services, visit.merchant.id
    services.advance_clock(merchant_id, by)
    with services.database.writing() as db:
        # Read again: the clock of the visit's merchant is the one before the move.
        merchant = get_merchant(db, merchant_id)
        audit_clock_move(visit.system_work_in(db).for_merchant(merchant), by)


def _read_duration(number: str, unit: str) -> timedelta:
    times = read_number(number)
    if not times:
        raise BadInput("Enter how far the clock should move, as a whole number.", field="number")
    if unit not in _UNITS:
        raise BadInput("Choose minutes, hours or days.", field="unit")
    # Compared as numbers: the product of some is longer than any duration can be.
    if times > LONGEST_ADVANCE // _UNITS[unit]:
        message = f"The clock can be moved by at most {LONGEST_ADVANCE.days} days at once."
        raise BadInput(message, field="number")
    return times * _UNITS[unit]


def _write_duration(duration: timedelta) -> str:
    """Return `1 day, 2 hours`; seconds are left out."""
    minutes = int(duration.total_seconds()) // 60
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    parts = [(days, "day"), (hours, "hour"), (minutes, "minute")]
    return ", ".join(count(number, word) for number, word in parts if number)
