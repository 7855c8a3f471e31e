"""The open jobs of labs, by lab and cut-off, the late ones marked."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Final
from zoneinfo import ZoneInfo

import msgspec
from starlette.responses import Response

from printworks.actions.production.lab_reports import reoffer_shipment, report_for_lab
from printworks.catalogue.labs import Lab
from printworks.dashboard.console.production.sheets import (
    download_prints,
    find_jobs,
    print_sheets,
)
from printworks.dashboard.shared.ages import write_age, write_span
from printworks.dashboard.shared.bulk import BulkReport, do_each, is_choosing, read_chosen
from printworks.dashboard.shared.labels import operator_label
from printworks.dashboard.shared.order_routing import name_lab
from printworks.dashboard.site.forms import read_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.labs.documents import LabReport
from printworks.rules.people import Duty
from printworks.rules.production import OPEN, LabState
from printworks.rules.routing.calendars import MONDAY_TO_FRIDAY
from printworks.store.accounts.merchants import read_clock_offsets
from printworks.store.views.console.labs import QueueCount, QueuedShipment, count_queue, list_queue
from printworks.store.views.console.problems import find_failed, find_late

ROWS: Final = 50
# Of problems, which have no further pages.
MOST_PROBLEMS: Final = 200
# In the order in which a job passes through them.
STATES: Final = (LabState.OFFERED, LabState.ACCEPTED, LabState.IN_PRODUCTION, LabState.FAILED)
# The filters that the overview links to.
_PROBLEMS: Final = ("late", "failed")


class LabView(msgspec.Struct, frozen=True, kw_only=True):
    """A lab, its open jobs, and its next cut-off."""

    code: str
    name: str
    cut_off: str
    time_left: str
    is_paused: bool
    counts: Mapping[LabState, int]
    copies: int
    # How many days of work that is.
    load: str


class JobView(msgspec.Struct, frozen=True, kw_only=True):
    """A job in the queue."""

    shipment: QueuedShipment
    is_late: bool
    age: str


class LabBulkAction(StrEnum):
    """What can be reported of many lab jobs at once."""

    ACCEPT = "accept"
    BEGIN = "begin"
    DISPATCH = "dispatch"
    OFFER_AGAIN = "offer-again"
    SHEETS = "sheets"
    PRINTS = "prints"


_BULK_ACTIONS: Final = (
    (LabBulkAction.ACCEPT.value, "Accept"),
    (LabBulkAction.BEGIN.value, "Begin production"),
    (LabBulkAction.DISPATCH.value, "Dispatch, without tracking"),
    (LabBulkAction.OFFER_AGAIN.value, "Offer to labs again"),
    (LabBulkAction.SHEETS.value, "Print the job sheets"),
    (LabBulkAction.PRINTS.value, "Download the print files (ZIP)"),
)
_REPORTED: Final[Mapping[LabBulkAction, LabState]] = {
    LabBulkAction.ACCEPT: LabState.ACCEPTED,
    LabBulkAction.BEGIN: LabState.IN_PRODUCTION,
    LabBulkAction.DISPATCH: LabState.DISPATCHED,
}


@page_at("/console/production")
def show_production(visit: ConsoleVisit, report: BulkReport | None = None) -> Response:
    """Show open jobs, oldest first, or only late or failed ones."""
    problem = _read_problem(visit)
    lab, state = _read_lab(visit), _read_state(visit.query.get("state", ""))
    queued, following = _find(visit, lab, state, problem=problem)
    counts = count_queue(visit.db)
    jobs = _view_jobs(visit, queued)
    labs = _view_labs(visit, counts)
    etag = visit.etag(jobs, labs)
    may_produce = visit.may(Duty.PRODUCE)
    return visit.render(
        "console/production.html",
        etag=etag,
        is_choosing=may_produce and is_choosing(visit),
        bulk_actions=_BULK_ACTIONS if may_produce else (),
        report=report,
        jobs=jobs,
        labs=labs,
        states=[(one.value, operator_label(one)) for one in STATES],
        choices=[(one.code, one.name) for one in labs],
        lab_name=lambda code: name_lab(code, visit.services.catalogue),
        chosen_lab=lab or "",
        chosen_state=state.value if state else "",
        problem=problem,
        most_problems=MOST_PROBLEMS,
        totals={one: sum(row.shipments for row in counts if row.state is one) for one in STATES},
        pages=visit.pages(following, by="after"),
    )


@show_production.action("report-many", duty=Duty.PRODUCE, alone=True)
def report_many(visit: ConsoleVisit) -> Response:
    """Report the same of the chosen lab jobs, each in a transaction of its own; or print them."""
    bulk_action = read_choice(
        LabBulkAction,
        visit.sent.text("bulk_action"),
        "Choose what to do with the lab jobs.",
        field="bulk_action",
    )
    chosen = read_chosen(visit.sent)
    if bulk_action is LabBulkAction.SHEETS:
        return print_sheets(visit, find_jobs(visit, chosen))
    if bulk_action is LabBulkAction.PRINTS:
        return download_prints(visit, find_jobs(visit, chosen))

    def report_one(shipment_id: int) -> str:
        with visit.services.database.writing() as db:
            system = visit.system_work_in(db)
            if bulk_action is LabBulkAction.OFFER_AGAIN:
                offered = reoffer_shipment(system, shipment_id)
                replaced = ", ".join(str(one.id) for one in offered)
                return f"Lab job {shipment_id} is replaced by {replaced}."
            report = LabReport(job=shipment_id, state=_REPORTED[bulk_action])
            return f"Lab job {shipment_id} is {report_for_lab(system, report).state}."

    report = do_each(chosen, report_one, named="Lab job")
    with visit.services.database.reading() as db:
        return show_production(visit.within(db), report)


def _find(
    visit: ConsoleVisit, lab: str | None, state: LabState | None, *, problem: str
) -> tuple[Sequence[QueuedShipment], int | None]:
    if problem == "late":
        transit = visit.services.catalogue.transit_days
        late = find_late(
            visit.db, transit_days=transit, now=visit.real_now, lab=lab, limit=MOST_PROBLEMS
        )
        return late.rows, None
    if problem:
        return find_failed(visit.db, lab=lab, limit=MOST_PROBLEMS).rows, None
    after = visit.cursor("after") or 0
    page = list_queue(visit.db, lab=lab, state=state, after=after, limit=ROWS)
    return page.shipments, page.next


def _view_jobs(visit: ConsoleVisit, queued: Sequence[QueuedShipment]) -> list[JobView]:
    transit = visit.services.catalogue.transit_days
    ahead = read_clock_offsets(visit.db, [one.merchant_id for one in queued])
    return [
        JobView(
            shipment=one,
            is_late=is_late(one, transit, now=visit.real_now + ahead[one.merchant_id]),
            age=write_age(one.created_at, now=visit.real_now + ahead[one.merchant_id]),
        )
        for one in queued
    ]


def is_late(shipment: QueuedShipment, transit_days: Mapping[str, int], *, now: datetime) -> bool:
    """Say whether a job would arrive late if it left now; `now` is the merchant's time."""
    if shipment.state not in OPEN:
        return False
    arrives = MONDAY_TO_FRIDAY.add(now.date(), transit_days.get(shipment.service, 0))
    return date.fromisoformat(shipment.latest_arrival) < arrives


def _view_labs(visit: ConsoleVisit, counts: Sequence[QueueCount]) -> list[LabView]:
    """Return the labs, those with the next cut-off first."""
    by_lab: dict[str, list[QueueCount]] = {}
    for row in counts:
        by_lab.setdefault(row.lab, []).append(row)
    catalogue = visit.services.catalogue
    known = [
        (lab.hours.find_next_cut_off(visit.real_now).astimezone(UTC), lab) for lab in catalogue.labs
    ]
    known.sort(key=lambda pair: (pair[0], pair[1].code))
    views = [_view_lab(lab, at, by_lab.pop(lab.code, []), visit.real_now) for at, lab in known]
    # What is still at labs that have left the catalogue.
    return [*views, *(_view_gone(code, rows) for code, rows in sorted(by_lab.items()))]


def _view_lab(lab: Lab, at: datetime, rows: Sequence[QueueCount], now: datetime) -> LabView:
    copies = sum(row.copies for row in rows if row.state in OPEN)
    local = at.astimezone(ZoneInfo(lab.time_zone))
    days = copies / lab.capacity if lab.capacity else 0
    return LabView(
        code=lab.code,
        name=lab.name,
        cut_off=f"{local:%a %H:%M} {local:%Z}",
        time_left=f"in {write_span(at - now)}",
        is_paused=lab.paused,
        counts={row.state: row.shipments for row in rows},
        copies=copies,
        load=_write_load(days) if copies else "idle",
    )


def _write_load(days: float) -> str:
    return f"{days:.1f} days of work" if days >= 1 else f"{days:.0%} of a day's work"


def _view_gone(code: str, rows: Sequence[QueueCount]) -> LabView:
    return LabView(
        code=code,
        name=code,
        cut_off="",
        time_left="",
        is_paused=True,
        counts={row.state: row.shipments for row in rows},
        copies=sum(row.copies for row in rows if row.state in OPEN),
        load="no longer in the catalogue",
    )


def _read_problem(visit: ConsoleVisit) -> str:
    wanted = visit.query.get("show", "")
    return wanted if wanted in _PROBLEMS else ""


def _read_lab(visit: ConsoleVisit) -> str | None:
    code = visit.query.get("lab", "")
    return code if code.isascii() and code.isprintable() and code else None


def _read_state(text: str) -> LabState | None:
    return next((state for state in STATES if state.value == text), None)
