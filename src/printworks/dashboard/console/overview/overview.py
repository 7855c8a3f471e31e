"""The first page of the console: open problems, then the figures of the last days."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import partial
from typing import Final, NamedTuple, TypeVar

import msgspec
from starlette.responses import Response

from printworks.dashboard.shared.ages import write_age
from printworks.dashboard.shared.charts import Chart, ChartOptions, Series, make_chart
from printworks.dashboard.shared.code_words import speak
from printworks.dashboard.shared.dates import write_stored_day
from printworks.dashboard.shared.labels import Tone, count, label, shorten
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.payments import PaymentState
from printworks.rules.reasons import write_reasons
from printworks.store.issues.issues import Issue
from printworks.store.views.console.figures import (
    DAYS,
    DayOfCallbacks,
    DayOfOrders,
    DayOfProduction,
    FiguresAhead,
    count_ahead,
    count_callbacks,
    count_orders,
    count_production,
)
from printworks.store.views.console.jobs import JobRow
from printworks.store.views.console.labs import QueuedShipment
from printworks.store.views.console.problems import (
    Finds,
    OpenProblems,
    ProblemOrder,
    StuckPayment,
    UnnotifiedMerchant,
    find_problems,
)

T = TypeVar("T")

# How many of each kind of problem are listed.
_NAMED: Final = 3
# Payments have no list of their own, so all of them can be listed here.
_MOST_PAYMENTS: Final = 100
_MOST_CURRENCIES: Final = 3
# Below this share, a chart is highlighted.
_GOOD: Final = 0.95
_LONGEST: Final = 140
_HOURS_WITHOUT_TENTHS: Final = 10


# What stands below the bar of clocks that are ahead.
_AHEAD: Final = "Ahead"
_NOTHING_AHEAD: Final = FiguresAhead(0, {}, 0)


class OverviewItem(msgspec.Struct, frozen=True):
    """One example of a problem."""

    text: str
    address: str
    more: str = ""


class OverviewProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of problem: how many there are, the first, and a link to all."""

    name: str
    count: str
    tone: Tone
    address: str
    items: tuple[OverviewItem, ...]


@page_at("/console")
def show_overview(visit: ConsoleVisit) -> Response:
    """Show open problems, and charts of the last days."""
    now = visit.real_now
    transit = visit.services.catalogue.transit_days
    payments = _MOST_PAYMENTS if visit.query.get("payments") == "all" else _NAMED
    problems = find_problems(visit.db, transit_days=transit, now=now, limit=payments)
    listed = list_problems(problems, now=now, payments=payments)
    etag = visit.etag(listed)
    # A refresh takes only the problems from the page.
    charts = [] if "hx-request" in visit.request.headers else _list_charts(visit, transit)
    return visit.render(
        "console/overview.html",
        etag=etag,
        problems=listed,
        charts=charts,
        is_ahead=any(chart.rows[-1].day == _AHEAD for chart in charts),
        days=DAYS,
    )


def _list_charts(visit: ConsoleVisit, transit_days: Mapping[str, int]) -> list[Chart]:
    db, now = visit.db, visit.real_now
    ahead = count_ahead(db, now=now)
    return [
        *chart_orders(count_orders(db, now=now), ahead),
        chart_production(count_production(db, transit_days=transit_days, now=now), ahead),
        chart_callbacks(count_callbacks(db, now=now)),
    ]


class _Kind(NamedTuple):
    """What one problem is called, what several are, and where all of them are listed."""

    one: str
    several: str
    address: str
    tone: Tone = "warn"


_STUCK: Final = _Kind("Order blocked", "Orders blocked", "/console/orders?problem=stuck", "error")
_FAILED: Final = _Kind(
    "Lab job failed or on hold",
    "Lab jobs failed or on hold",
    "/console/production?show=failed",
    "error",
)
_LATE: Final = _Kind("Late lab job", "Late lab jobs", "/console/production?show=late", "error")
_REFUNDS: Final = _Kind("Rejected refund", "Rejected refunds", "/console?payments=all", "error")
_HELD: Final = _Kind("Order on hold", "Orders on hold", "/console/orders?problem=held")
_ISSUES: Final = _Kind("Open issue", "Open issues", "/console/issues")
_PAYMENTS: Final = _Kind("Unresolved payment", "Unresolved payments", "/console?payments=all")
_CALLBACKS: Final = _Kind(
    "Merchant with failed callbacks", "Merchants with failed callbacks", "/console/merchants"
)
_JOBS: Final = _Kind(
    "Background job failed", "Background jobs failed", "/console/jobs?state=failed"
)


def list_problems(
    problems: OpenProblems, *, now: datetime, payments: int = _NAMED
) -> list[OverviewProblem]:
    """Return the kinds of problems that exist, the most urgent first.

    `payments` is how many payments are listed; of other kinds, the first few are.
    """
    name_issue, name_payment = partial(_name_issue, now=now), partial(_name_payment, now=now)
    found = [
        _problem(_STUCK, problems.stuck, _name_order),
        _problem(_FAILED, problems.failed, _name_job),
        _problem(_LATE, problems.late, _name_job),
        _list_payments(_REFUNDS, problems.refunds, _name_refund, payments),
        _problem(_HELD, problems.held, _name_order),
        _problem(_ISSUES, problems.issues, name_issue),
        _list_payments(_PAYMENTS, problems.payments, name_payment, payments),
        _problem(_CALLBACKS, problems.unnotified, _name_merchant),
        _problem(_JOBS, problems.jobs, _name_background_job),
    ]
    return [problem for problem in found if problem.items]


def _problem(
    kind: _Kind, found: Finds[T], name_one: Callable[[T], OverviewItem], listed: int = _NAMED
) -> OverviewProblem:
    is_one = found.count == 1 and not found.is_more
    return OverviewProblem(
        name=kind.one if is_one else kind.several,
        count=f"{found.count:,}{'+' if found.is_more else ''}",
        tone=kind.tone,
        address=kind.address,
        items=tuple(name_one(row) for row in found.rows[:listed]),
    )


def _list_payments(
    kind: _Kind,
    found: Finds[StuckPayment],
    name_one: Callable[[StuckPayment], OverviewItem],
    listed: int,
) -> OverviewProblem:
    """Return a problem of payments, with a link to all unless they are all here."""
    is_whole = found.count <= listed
    return _problem(kind._replace(address="") if is_whole else kind, found, name_one, listed)


def _name_order(one: ProblemOrder) -> OverviewItem:
    why = write_reasons(one.reasons)
    more = f"{one.merchant}: {why}" if why else one.merchant
    return OverviewItem(f"Order {one.id}", f"/console/orders/{one.id}", shorten(more, _LONGEST))


def _name_job(one: QueuedShipment) -> OverviewItem:
    why = one.held_because or one.reason or f"to arrive by {write_stored_day(one.latest_arrival)}"
    return OverviewItem(f"Job {one.id}", f"/console/shipments/{one.id}", shorten(why, _LONGEST))


def _name_issue(one: Issue, *, now: datetime) -> OverviewItem:
    more = f"{label(one.kind)}, {write_age(one.created_at, now=now)}"
    return OverviewItem(f"Issue {one.id}", f"/console/issues/{one.id}", more)


def _name_payment(one: StuckPayment, *, now: datetime) -> OverviewItem:
    amount, age = format_money(one.amount, one.currency), write_age(one.since, now=now)
    what = "refund of " if one.state is PaymentState.REFUNDING else ""
    more = f"{what}{amount}, {one.merchant}, {age}"
    return OverviewItem(f"Order {one.order_id}", f"/console/orders/{one.order_id}", more)


def _name_refund(one: StuckPayment) -> OverviewItem:
    more = (
        f"{one.merchant}: the refund of {format_money(one.amount, one.currency)} was rejected by "
        f"the bank. Pay the {one.payer} in another way, then note it on the order."
    )
    return OverviewItem(f"Order {one.order_id}", f"/console/orders/{one.order_id}#money", more)


def _name_merchant(one: UnnotifiedMerchant) -> OverviewItem:
    more = f"{count(one.count, 'callback')} failed"
    return OverviewItem(one.name, f"/console/merchants/{one.code}#given-up", more)


def _name_background_job(one: JobRow) -> OverviewItem:
    why = f": {one.last_error}" if one.last_error else ""
    return OverviewItem(
        f"Job {one.id}", f"/console/jobs/{one.id}", shorten(f"{speak(one.kind)}{why}", _LONGEST)
    )


def chart_orders(days: Sequence[DayOfOrders], ahead: FiguresAhead = _NOTHING_AHEAD) -> list[Chart]:
    """Chart the submitted orders, and the revenue in each currency."""
    total = sum(day.orders for day in days) + ahead.orders
    charts = [
        make_chart(
            "Orders submitted",
            _name_days(days, ahead.orders),
            [Series("Orders", _add([day.orders for day in days], ahead.orders))],
            ChartOptions(summary=count(total, "order")),
        )
    ]
    revenue = dict(ahead.revenue)
    for day in days:
        for currency, amount in day.revenue.items():
            revenue[currency] = revenue.get(currency, 0) + amount
    largest = sorted(revenue, key=lambda currency: -revenue[currency])[:_MOST_CURRENCIES]
    return [
        *charts,
        *(
            _chart_revenue(days, one, revenue[one], ahead=ahead.revenue.get(one, 0))
            for one in largest
        ),
    ]


def _name_days(
    days: Sequence[DayOfOrders] | Sequence[DayOfProduction], ahead: int
) -> list[date | str]:
    """Return the days of a chart, and one more for clocks that are ahead."""
    return [*(day.day for day in days), *([_AHEAD] if ahead else [])]


def _add(figures: Sequence[int], ahead: int) -> list[int]:
    return [*figures, *([ahead] if ahead else [])]


def _chart_revenue(days: Sequence[DayOfOrders], currency: str, total: int, *, ahead: int) -> Chart:
    def write(amount: int) -> str:
        return format_money(amount, currency)

    return make_chart(
        f"Revenue in {currency}",
        _name_days(days, ahead),
        [Series("Revenue", _add([day.revenue.get(currency, 0) for day in days], ahead))],
        ChartOptions(
            summary=f"{write(total)} before refunds",
            write=write,
            write_axis=lambda amount: write(amount).removesuffix(".00"),
        ),
    )


def chart_production(
    days: Sequence[DayOfProduction], ahead: FiguresAhead = _NOTHING_AHEAD
) -> Chart:
    """Chart which shipments left on time, and how long they took.

    Simulated labs of a sandbox are on time: nobody counts what they send by clocks that are ahead.
    """
    shipped, in_time = sum(day.shipped for day in days), sum(day.in_time for day in days)
    share = in_time / shipped if shipped else 1.0
    hours = [_write_hours(day.median_hours) for day in days]
    # The series are equally long.
    late = [day.shipped - day.in_time for day in days]
    return make_chart(
        "Shipments on time",
        _name_days(days, ahead.shipped),
        [
            Series("On time", _add([day.in_time for day in days], ahead.shipped)),
            Series("Late", [*late, *([0] if ahead.shipped else [])], "bad"),
        ],
        ChartOptions(
            summary=f"{share:.0%} of {count(shipped, 'shipment')} on time" if shipped else "",
            tone="" if share >= _GOOD else "warn",
            more=[("Median time since submission", [*hours, ""])],
        ),
    )


def _write_hours(hours: float | None) -> str:
    if hours is None:
        return ""
    return f"{hours:.0f} hours" if hours >= _HOURS_WITHOUT_TENTHS else f"{hours:.1f} hours"


def chart_callbacks(days: Sequence[DayOfCallbacks]) -> Chart:
    """Chart how many callback attempts were delivered."""
    attempts, heard = sum(day.attempts for day in days), sum(day.delivered for day in days)
    share = heard / attempts if attempts else 1.0
    return make_chart(
        "Callbacks delivered",
        [day.day for day in days],
        [
            Series("Delivered", [day.delivered for day in days]),
            Series("Failed", [day.attempts - day.delivered for day in days], "bad"),
        ],
        ChartOptions(
            summary=f"{share:.0%} of {count(attempts, 'attempt')}" if attempts else "",
            tone="" if share >= _GOOD else "warn",
        ),
    )
