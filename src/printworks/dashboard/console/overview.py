"""The first page of the console: what somebody has to look into, then how the business goes."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Final, TypeVar

import msgspec
from starlette.responses import Response

from printworks.dashboard.console.charts import Chart, Series, draw_bars
from printworks.dashboard.console.production import find_transit_days
from printworks.dashboard.console.words import tell_age
from printworks.dashboard.shared.issue_words import KINDS
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.shared.words import count, shorten
from printworks.dashboard.site.etag import make_etag
from printworks.dashboard.site.rendering import Tone
from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.store.console.figures import (
    DAYS,
    DayOfCallbacks,
    DayOfOrders,
    DayOfProduction,
    count_callbacks,
    count_orders,
    count_production,
)
from printworks.store.console.labs import QueuedShipment
from printworks.store.console.problems import (
    DeafMerchant,
    Finds,
    OpenProblems,
    StuckPayment,
    TroubledOrder,
    find_problems,
)
from printworks.store.issues.issues import Issue
from printworks.store.queue.jobs import JobRow

T = TypeVar("T")

# So many of each kind of trouble are named.
_NAMED: Final = 3
# Payments have no list of their own: all of them are named here, for whoever asks.
_MOST_PAYMENTS: Final = 100
_MOST_CURRENCIES: Final = 3
# Below this share of what was promised, a chart says so in colour.
_GOOD: Final = 0.95
_LONGEST: Final = 140
_HOURS_WITHOUT_TENTHS: Final = 10


class OverviewItem(msgspec.Struct, frozen=True):
    """One of the first of a kind of trouble."""

    text: str
    address: str
    more: str = ""


class OverviewTrouble(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of trouble: how much there is of it, the first, and where all of it is."""

    name: str
    count: str
    tone: Tone
    address: str
    items: tuple[OverviewItem, ...]


def show_overview(visit: ConsoleVisit) -> Response:
    """Show what is wrong, and the last thirty days."""
    now = visit.real_now
    transit = find_transit_days(visit.services.catalogue)
    payments = _MOST_PAYMENTS if visit.query.get("payments") == "all" else _NAMED
    problems = find_problems(visit.db, transit_days=transit, now=now, limit=payments)
    troubles = list_troubles(problems, now=now, payments=payments)
    etag = make_etag(troubles)
    if visit.is_unchanged(etag):
        return Response(status_code=204)
    return visit.render(
        "console/overview.html",
        etag=etag,
        troubles=troubles,
        # Who looks again takes only what is wrong from the page.
        charts=[] if "hx-request" in visit.request.headers else _draw_charts(visit, transit),
        days=DAYS,
    )


def _draw_charts(visit: ConsoleVisit, transit_days: Mapping[str, int]) -> list[Chart]:
    db, now = visit.db, visit.real_now
    return [
        *draw_orders(count_orders(db, now=now)),
        draw_production(count_production(db, transit_days=transit_days, now=now)),
        draw_callbacks(count_callbacks(db, now=now)),
    ]


def list_troubles(
    problems: OpenProblems, *, now: datetime, payments: int = _NAMED
) -> list[OverviewTrouble]:
    """Return the kinds of trouble that there are, the most urgent first.

    So many payments are named; of the others, the first few.
    """
    found = [*_list_urgent(problems), *_list_less_urgent(problems, now=now, payments=payments)]
    return [trouble for trouble in found if trouble.items]


def _list_urgent(problems: OpenProblems) -> list[OverviewTrouble]:
    return [
        _trouble(
            ("Order cannot go on", "Orders cannot go on"),
            problems.stuck,
            _name_order,
            tone="error",
            address="/console/orders?trouble=stuck",
        ),
        _trouble(
            ("Lab job failed or is held", "Lab jobs failed or are held"),
            problems.failed,
            _name_job,
            tone="error",
            address="/console/production?show=failed",
        ),
        _trouble(
            ("Lab job is late", "Lab jobs are late"),
            problems.late,
            _name_job,
            tone="error",
            address="/console/production?show=late",
        ),
    ]


def _list_less_urgent(
    problems: OpenProblems, *, now: datetime, payments: int
) -> list[OverviewTrouble]:
    return [
        _trouble(
            ("Order is held", "Orders are held"),
            problems.held,
            _name_order,
            address="/console/orders?trouble=held",
        ),
        _trouble(
            ("Issue to settle", "Issues to settle"),
            problems.issues,
            partial(_name_issue, now=now),
            address="/console/issues",
        ),
        _trouble(
            ("Payment without an end", "Payments without an end"),
            problems.payments,
            partial(_name_payment, now=now),
            address="/console?payments=all" if problems.payments.count > payments else "",
            named=payments,
        ),
        _trouble(
            ("Merchant not told of something", "Merchants not told of something"),
            problems.given_up,
            _name_merchant,
            address="/console/merchants",
        ),
        _trouble(
            ("Background job failed", "Background jobs failed"),
            problems.jobs,
            _name_background_job,
            address="/console/jobs?state=failed",
        ),
    ]


def _trouble(
    names: tuple[str, str],
    found: Finds[T],
    name_one: Callable[[T], OverviewItem],
    *,
    tone: Tone = "warn",
    address: str = "",
    named: int = _NAMED,
) -> OverviewTrouble:
    number = f"{found.count:,}{'+' if found.is_more else ''}"
    name = names[0] if found.count == 1 and not found.is_more else names[1]
    items = tuple(name_one(row) for row in found.rows[:named])
    return OverviewTrouble(name=name, count=number, tone=tone, address=address, items=items)


def _name_order(one: TroubledOrder) -> OverviewItem:
    more = f"{one.merchant}: {one.error_message}" if one.error_message else one.merchant
    return OverviewItem(f"Order {one.id}", f"/console/orders/{one.id}", shorten(more, _LONGEST))


def _name_job(one: QueuedShipment) -> OverviewItem:
    why = one.held_because or one.reason or f"to arrive by {one.latest_arrival}"
    return OverviewItem(
        f"Job {one.id}", f"/console/shipments/{one.id}", shorten(f"{one.lab}: {why}", _LONGEST)
    )


def _name_issue(one: Issue, *, now: datetime) -> OverviewItem:
    more = f"{KINDS[one.kind]}, {tell_age(one.created_at, now=now)}"
    return OverviewItem(f"Issue {one.id}", f"/console/issues/{one.id}", more)


def _name_payment(one: StuckPayment, *, now: datetime) -> OverviewItem:
    amount, age = format_money(one.amount, one.currency), tell_age(one.created_at, now=now)
    more = f"{amount}, {one.merchant}, {age}"
    return OverviewItem(f"Order {one.order_id}", f"/console/orders/{one.order_id}", more)


def _name_merchant(one: DeafMerchant) -> OverviewItem:
    more = f"{count(one.count, 'callback')} given up"
    return OverviewItem(one.name, f"/console/merchants/{one.code}#given-up", more)


def _name_background_job(one: JobRow) -> OverviewItem:
    why = f": {one.last_error}" if one.last_error else ""
    return OverviewItem(
        f"Job {one.id}", f"/console/jobs/{one.id}", shorten(f"{one.kind}{why}", _LONGEST)
    )


def draw_orders(days: Sequence[DayOfOrders]) -> list[Chart]:
    """Draw what was submitted, and what was charged for it in each currency."""
    dates = [day.day for day in days]
    total = sum(day.orders for day in days)
    charts = [
        draw_bars(
            "Orders submitted",
            dates,
            [Series("Orders", [day.orders for day in days])],
            summary=count(total, "order"),
        )
    ]
    revenue: dict[str, int] = {}
    for day in days:
        for currency, amount in day.revenue.items():
            revenue[currency] = revenue.get(currency, 0) + amount
    largest = sorted(revenue, key=lambda currency: -revenue[currency])[:_MOST_CURRENCIES]
    return [*charts, *(_draw_revenue(days, one, revenue[one]) for one in largest)]


def _draw_revenue(days: Sequence[DayOfOrders], currency: str, total: int) -> Chart:
    def write(amount: int) -> str:
        return format_money(amount, currency)

    return draw_bars(
        f"Revenue in {currency}",
        [day.day for day in days],
        [Series("Revenue", [day.revenue.get(currency, 0) for day in days])],
        summary=f"{write(total)} before refunds",
        write=write,
        write_axis=lambda amount: write(amount).removesuffix(".00"),
    )


def draw_production(days: Sequence[DayOfProduction]) -> Chart:
    """Draw what was sent in time and what was not, and how long it took."""
    shipped, in_time = sum(day.shipped for day in days), sum(day.in_time for day in days)
    share = in_time / shipped if shipped else 1.0
    hours = [_tell_hours(day.median_hours) for day in days]
    return draw_bars(
        "Production against promise",
        [day.day for day in days],
        [
            Series("Sent in time", [day.in_time for day in days]),
            Series("Sent late", [day.shipped - day.in_time for day in days], "bad"),
        ],
        summary=f"{share:.0%} of {count(shipped, 'parcel')} in time" if shipped else "",
        tone="" if share >= _GOOD else "warn",
        more=[("From submission, in the middle", hours)],
    )


def _tell_hours(hours: float | None) -> str:
    if hours is None:
        return ""
    return f"{hours:.0f} hours" if hours >= _HOURS_WITHOUT_TENTHS else f"{hours:.1f} hours"


def draw_callbacks(days: Sequence[DayOfCallbacks]) -> Chart:
    """Draw how often merchants' programs heard us, and how often not."""
    attempts, heard = sum(day.attempts for day in days), sum(day.delivered for day in days)
    share = heard / attempts if attempts else 1.0
    return draw_bars(
        "Callbacks heard",
        [day.day for day in days],
        [
            Series("Heard", [day.delivered for day in days]),
            Series("Not heard", [day.attempts - day.delivered for day in days], "bad"),
        ],
        summary=f"{share:.0%} of {count(attempts, 'try', 'tries')}" if attempts else "",
        tone="" if share >= _GOOD else "warn",
    )


PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (Page(path="/console", show=show_overview),)
