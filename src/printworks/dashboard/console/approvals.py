"""Money that operators post by hand, and what waits for a second person."""

from typing import Final

from starlette.responses import Response

from printworks.actions.payments import by_hand
from printworks.actions.payments.by_hand import (
    PostedByHand,
    PostingByHand,
    post_money,
    reverse_entry,
)
from printworks.dashboard.console.accounts.merchants import get_merchant_of
from printworks.dashboard.shared.money import read_money
from printworks.dashboard.site.forms import at_field
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.rules.ledger import REVERSALS, EntryKind
from printworks.rules.people import Duty
from printworks.store.money.approvals import list_waiting
from printworks.store.money.ledger import get_entry
from printworks.store.views.console.ledger import list_money
from printworks.store.views.console.merchants import get_merchant_line

_ROWS: Final = 50
_KINDS: Final = [("debit", "Debit"), ("credit", "Credit"), ("payout", "Pay-out")]


@page_at("/console/approvals")
def show_approvals(visit: ConsoleVisit) -> Response:
    """Show what waits for a second person, oldest first."""
    return visit.render(
        "console/approvals.html",
        waiting=list_waiting(visit.db, limit=_ROWS),
        me=visit.actor.who,
        may_decide=visit.may(Duty.ADMINISTER),
    )


@show_approvals.action(
    "approve-money", "It was approved and posted.", duty=Duty.ADMINISTER, needs_password=True
)
def approve(visit: ConsoleVisit) -> None:
    by_hand.approve(visit.system_work, visit.sent.number("approval") or 0)


@show_approvals.action("reject-money", "It was rejected.", duty=Duty.ADMINISTER)
def reject(visit: ConsoleVisit) -> None:
    by_hand.reject(visit.system_work, visit.sent.number("approval") or 0)


@page_at("/console/merchants/{code}/money", duty=Duty.ADMINISTER)
def show_money(visit: ConsoleVisit) -> Response:
    """Show the forms that post money of a merchant by hand."""
    merchant = get_merchant_of(visit)
    entries = list_money(visit.db, merchant_id=merchant.id, limit=_ROWS).entries
    terms = visit.services.money_terms
    return visit.render(
        "console/merchant_money.html",
        merchant=get_merchant_line(visit.db, merchant.id),
        kinds=_KINDS,
        reversible=[
            line.entry
            for line in entries
            if line.entry.kind in REVERSALS and line.entry.order_id is None
        ],
        terms=terms,
    )


@show_money.action("post-money", duty=Duty.ADMINISTER, needs_password=True)
def post(visit: ConsoleVisit) -> str:
    """Post a debit, a credit or a pay-out."""
    merchant, sent = get_merchant_of(visit), visit.sent
    known = {kind: EntryKind(kind) for kind, _ in _KINDS}
    kind = known.get(sent.text("kind"))
    if kind is None:
        raise BadInput("Choose what is posted.", field="kind")
    with at_field("amount"):
        amount = read_money(sent.text("amount"), merchant.currency)
    again = _read_again(visit, merchant.currency)
    posting = PostingByHand(kind=kind, amount=amount, memo=sent.text("memo"), again=again)
    return _describe(merchant.code, post_money(visit.work_for(merchant), posting))


@show_money.action("reverse-money", duty=Duty.ADMINISTER, needs_password=True)
def reverse(visit: ConsoleVisit) -> str:
    """Reverse an entry that was posted by hand."""
    merchant = get_merchant_of(visit)
    number = visit.sent.number("entry")
    if number is None:
        raise BadInput("Choose an entry.", field="entry")
    currency = get_entry(visit.db, merchant.id, number).currency
    again = _read_again(visit, currency)
    posted = reverse_entry(visit.work_for(merchant), number, visit.sent.text("memo"), again=again)
    return _describe(merchant.code, posted)


def _read_again(visit: ConsoleVisit, currency: str) -> int | None:
    typed = visit.sent.text("again")
    with at_field("again"):
        return read_money(typed, currency) if typed else None


def _describe(code: str, posted: PostedByHand) -> str:
    return f"/console/ledger?merchant={code}" if posted.entry else "/console/approvals"
