"""Privacy: find a person, export or erase what is known, and how long everything is kept.

Whom somebody looks for is in the body of a form, never in an address: addresses are in logs and
in the history of browsers.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.actions.privacy.erasing import erase_order
from printworks.actions.privacy.exporting import MOST_ORDERS, export_orders, write_archive
from printworks.dashboard.shared.archives import send_archive
from printworks.dashboard.shared.bulk import BulkReport, do_each, read_chosen
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.forms import read_number
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.rules.jobs import JobKind
from printworks.rules.people import Duty
from printworks.rules.privacy import DESCRIPTIONS, KEPT, LONGEST_ASKED_BY, Subject, read_asked_by
from printworks.settings import Settings
from printworks.store.accounts.merchants import find_merchant_by_code, get_merchant
from printworks.store.accounts.privacy.erasures import get_erasure, list_erasures
from printworks.store.accounts.privacy.sweeps import SweepRecord, list_sweeps
from printworks.store.views.console.orders import read_any_orders
from printworks.store.views.console.search import (
    FoundAnyOrders,
    PersonSearch,
    find_orders_of_person,
)

_RECEIPTS: Final = 20
# What a person may have, and a page can list.
_MOST_FOUND: Final = 50


class KeptView(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is stored for a while."""

    what: str
    setting: str
    keep: timedelta | None
    last: SweepRecord | None


class _Kept(msgspec.Struct, frozen=True):
    what: str
    setting: str
    kind: JobKind


_KEPT_FOR_A_WHILE: Final = (
    _Kept("Names, addresses and contact data", "keep_recipients", JobKind.ERASE_OLD_RECIPIENTS),
    _Kept("Previews, thumbnails and mockups", "keep_proofs", JobKind.PURGE_PROOFS),
    _Kept("Pictures, print files and packing slips", "keep_originals", JobKind.PURGE_PICTURES),
    _Kept("Photos of issues", "keep_issue_photos", JobKind.PURGE_ISSUE_PHOTOS),
    _Kept("Orders that were never submitted", "keep_drafts", JobKind.CANCEL_DRAFTS),
    _Kept("Answers of callbacks", "keep_callbacks", JobKind.PURGE_CALLBACK_ATTEMPTS),
    _Kept("Answers to keyed requests", "keep_idempotency_keys", JobKind.PURGE_IDEMPOTENCY_KEYS),
    _Kept("The request log of merchants", "keep_requests", JobKind.PURGE_REQUESTS),
    _Kept("Finished jobs", "keep_finished_jobs", JobKind.PURGE_JOBS),
)


@page_at("/console/privacy", duty=Duty.SUPPORT)
def show_privacy(
    visit: ConsoleVisit, found: FoundAnyOrders | None = None, report: BulkReport | None = None
) -> Response:
    """Show receipts and retention, and the orders of a person if somebody has looked for one."""
    receipts, last = cut(
        list_erasures(visit.db, before=visit.cursor(), limit=_RECEIPTS + 1), _RECEIPTS
    )
    if found is None and report is None:
        found = _find_chosen(visit)
    return visit.render(
        "console/privacy.html",
        found=found,
        report=report,
        most_found=_MOST_FOUND,
        receipts=receipts,
        pages=visit.pages(last.id if last else None),
        kept=_describe_kept(visit.services.settings, list_sweeps(visit.db)),
        next_sweep=_find_next_hour(visit.real_now),
        longest=LONGEST_ASKED_BY,
        may_erase=visit.may(Duty.ADMINISTER),
    )


def _find_chosen(visit: ConsoleVisit) -> FoundAnyOrders | None:
    """Return the orders of a form that was refused, or the one that another page leads to."""
    named = [*visit.sent.texts("chosen")[:_MOST_FOUND], visit.query.get("order", "")]
    numbers = [number for text in named if (number := read_number(text)) is not None]
    return FoundAnyOrders(read_any_orders(visit.db, numbers), is_cut=False) if numbers else None


def _describe_kept(settings: Settings, swept: dict[str, SweepRecord]) -> list[KeptView]:
    return [
        KeptView(
            what=one.what,
            setting=one.setting,
            keep=getattr(settings, one.setting),
            last=swept.get(one.kind.value),
        )
        for one in _KEPT_FOR_A_WHILE
    ]


def _find_next_hour(now: datetime) -> datetime:
    return now.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


@show_privacy.action("find-person", alone=True, only_shows=True)
def find(visit: ConsoleVisit) -> Response:
    """Show the orders of a person."""
    with visit.services.database.reading() as db:
        inside = visit.within(db)
        found = find_orders_of_person(db, _read_person(inside), limit=_MOST_FOUND)
        return show_privacy(inside, found)


def _read_person(visit: ConsoleVisit) -> PersonSearch:
    sent = visit.sent
    person = PersonSearch(
        email=sent.text("email"), name=sent.text("name"), postcode=sent.text("postcode")
    )
    if not person.email and not (person.name and person.postcode):
        raise BadInput("Enter an email address, or a name and a postcode.", field="email")
    code = sent.text("merchant")
    if not code:
        return person
    merchant = find_merchant_by_code(visit.db, code)
    if merchant is None:
        raise BadInput("There is no merchant with this code.", field="merchant")
    return msgspec.structs.replace(person, merchant_id=merchant.id)


@show_privacy.action(
    "erase-recipients", needs_password=True, always_asks=True, duty=Duty.ADMINISTER, alone=True
)
def erase(visit: ConsoleVisit) -> Response:
    """Erase the recipients of the chosen orders, each in a transaction of its own."""
    chosen, sent = read_chosen(visit.sent), visit.sent
    asked_by = read_asked_by(sent.text("asked_by"))
    if not sent.text("is_sure"):
        raise BadInput("Confirm that what is erased cannot be restored.", field="is_sure")
    when_ended = bool(sent.text("when_ended"))

    def erase_one(order_id: int) -> str:
        with visit.services.database.writing() as db:
            system = visit.system_work_in(db)
            erasure = erase_order(system, order_id, asked_by=asked_by, when_ended=when_ended)
        return f"Order {order_id}: receipt {erasure.id}, {erasure.state}."

    report = do_each(chosen, erase_one, named="Order")
    with visit.services.database.reading() as db:
        return show_privacy(visit.within(db), None, report)


@show_privacy.action(
    "export-recipients",
    needs_password=True,
    always_asks=True,
    duty=Duty.ADMINISTER,
    alone=True,
    only_shows=True,
)
def export(visit: ConsoleVisit) -> Response:
    """Send a ZIP with what is known of the recipients of the chosen orders."""
    chosen: Sequence[int] = read_chosen(visit.sent)[:MOST_ORDERS]
    with visit.services.database.writing() as db:
        collected = export_orders(visit.system_work_in(db), chosen)
    return send_archive(write_archive(visit.services.files, collected), "person", collected.at)


@page_at("/console/privacy/{id}", duty=Duty.SUPPORT)
def show_receipt(visit: ConsoleVisit) -> Response:
    """Show what was erased, what is kept, and what is left to do elsewhere."""
    erasure = get_erasure(visit.db, visit.number("id"))
    removed = (erasure.removed or {}).items()
    return visit.render(
        "console/receipt.html",
        erasure=erasure,
        merchant=get_merchant(visit.db, erasure.merchant_id),
        removed=[(DESCRIPTIONS[Subject(subject)], count) for subject, count in removed if count],
        kept=KEPT,
    )
