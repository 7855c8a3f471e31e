"""Lots: asked for, started, and worked off line by line, each in a transaction of its own."""

import hashlib
from collections.abc import Sequence

import msgspec

from printworks.actions.lots.imports import create_imported
from printworks.actions.orders.orders import cancel_order
from printworks.actions.payments.card_charges import refuse_unpaid
from printworks.actions.submission.check import ReadySubmission
from printworks.actions.submission.prices import require_price
from printworks.actions.submission.sharpness import require_confirmed
from printworks.actions.submission.submit import submit_order
from printworks.actions.work import Actor, Work
from printworks.errors import BadInput
from printworks.rules.jobs import JobKind
from printworks.rules.lots import (
    LINES_AT_ONCE,
    UNFINISHED,
    LineProblem,
    LineState,
    LotKind,
    LotState,
    LotTotals,
    may_start,
)
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import OPEN_PAYMENTS
from printworks.rules.people import Realm
from printworks.store.money.payments import PaymentRequest, get_request
from printworks.store.orders import lots as store
from printworks.store.orders.lots import Lot, LotLine, NewLine, NewLot
from printworks.store.orders.orders import Order, get_order_to_change, list_orders_by_id


def prepare_lot(work: Work, kind: LotKind, order_ids: Sequence[int], *, once: str) -> int:
    """Write down what is to be done with many orders; return the number of the lot.

    Nothing is done until it is started. The same form, by its text `once`, makes one lot.
    """
    if not order_ids:
        raise BadInput("Choose at least one order.")
    told = f"{once} {kind} {sorted(order_ids)}"
    key = f"form {hashlib.sha256(told.encode()).hexdigest()}"
    known = store.find_lot_by_key(work.db, work.merchant.id, key)
    if known is not None:
        return known.id
    found = list_orders_by_id(work.db, work.merchant.id, order_ids)
    prices = {order.id: order.total for order in found} if kind is LotKind.SUBMIT else {}
    lines = [
        NewLine(state=LineState.READY, order_id=order_id, content=_note_price(prices.get(order_id)))
        for order_id in order_ids
    ]
    totals = LotTotals(amount=_sum_open(work, found) if prices else 0)
    new = NewLot(
        kind=kind,
        state=LotState.CHECKED,
        key=key,
        who=work.actor.who,
        totals=msgspec.to_builtins(totals),
    )
    return store.insert_lot(work.db, work.merchant.id, new, lines, now=work.real_now)


def _sum_open(work: Work, found: Sequence[Order]) -> int:
    """Return what those orders cost that can still be submitted."""
    is_open = [order for order in found if order.status is OrderStatus.NOT_YET_SUBMITTED]
    return sum(order.total for order in is_open if order.currency == work.merchant.currency)


def _note_price(price: int | None) -> dict[str, int] | None:
    return None if price is None else {"price": price}


def start_lot(
    work: Work, lot_id: int, *, submits: bool = False, prints_blurred: bool = False
) -> None:
    """Let a lot be worked off in the background; one that was started before is left alone."""
    lot = store.get_lot(work.db, work.merchant.id, lot_id, to_change=True)
    good = store.measure_progress(work.db, lot.id).count(LineState.READY)
    if not may_start(lot.state, good=good):
        return
    chosen = {"submits": submits, "prints_blurred": prints_blurred}
    store.update_lot(work.db, lot, state=LotState.RUNNING, who=work.actor.who, **chosen)
    work.audit("start-lot", f"lot {lot.id}", what=lot.kind, orders=good, submits=submits)
    _enqueue_step(work, lot, after=0)


def _enqueue_step(work: Work, lot: Lot, *, after: int) -> None:
    work.enqueue(
        JobKind.RUN_LOT, {"lot": lot.id, "after": after}, dedupe_key=f"lot:{lot.id}:{after}"
    )


def list_step(work: Work, lot_id: int, *, after: int) -> tuple[Lot, list[int]]:
    """Return a lot, and the lines of its next step."""
    lot = store.get_lot(work.db, work.merchant.id, lot_id)
    return lot, store.list_unfinished(work.db, lot.id, after=after, limit=LINES_AT_ONCE)


def end_step(work: Work, lot_id: int, done: Sequence[int]) -> None:
    """Let the next step follow; finish the lot if there is none."""
    lot = store.get_lot(work.db, work.merchant.id, lot_id, to_change=True)
    if done:
        _enqueue_step(work, lot, after=done[-1])
    elif lot.state is LotState.RUNNING:
        store.update_lot(work.db, lot, state=LotState.DONE, finished_at=work.real_now)


def on_behalf_of(work: Work, lot: Lot) -> Work:
    """Continue as whoever asked for a lot, for the audit log."""
    return msgspec.structs.replace(work, actor=Actor(Realm.MERCHANT, lot.who))


def do_line(
    work: Work, lot: Lot, number: int, ready: ReadySubmission | None = None
) -> tuple[Order, PaymentRequest] | None:
    """Do one thing with a line: create its order, or submit or cancel it.

    What became of it is written in the same transaction, so that it is never done twice. If a
    card must be charged first, return the order and the payment: a line asks for one payment only.
    """
    line = store.get_line_to_change(work.db, lot.id, number)
    if line.state not in UNFINISHED:
        return None
    if line.order_id is None:
        create_imported(work, lot, line)
        return None
    order = get_order_to_change(work.db, work.merchant.id, line.order_id)
    if lot.kind is LotKind.CANCEL:
        cancel_order(work, order)
    elif (payment := _submit(work, lot, line, order, ready)) is not None:
        return order, payment
    _finish(work, line)
    return None


def _submit(
    work: Work, lot: Lot, line: LotLine, order: Order, ready: ReadySubmission | None
) -> PaymentRequest | None:
    """Submit the order of a line; return the payment if a card must be charged first."""
    if line.payment_id is not None:
        return _resume(work, line.payment_id)
    if lot.kind is LotKind.SUBMIT:
        _check_agreed(work, lot, line, order, ready)
    submitted = submit_order(work, order, ready=ready)
    if not isinstance(submitted, PaymentRequest):
        return None
    store.update_line(work.db, line, state=line.state, payment_id=submitted.id)
    return submitted


def _resume(work: Work, payment_id: int) -> PaymentRequest | None:
    """Return the payment of a line if it has no outcome yet; refuse the line if it failed."""
    payment = get_request(work.db, payment_id)
    if payment.state in OPEN_PAYMENTS:
        return payment
    if (refusal := refuse_unpaid(payment)) is not None:
        raise refusal
    return None


def _check_agreed(
    work: Work, lot: Lot, line: LotLine, order: Order, ready: ReadySubmission | None
) -> None:
    """Refuse an order that is not as it was when somebody said yes to it."""
    require_price(order, (line.content or {}).get("price"))
    if not lot.prints_blurred:
        require_confirmed(work, order, (), ready)


def finish_line(work: Work, lot: Lot, number: int) -> None:
    """Write down that the order of a line was paid for."""
    _finish(work, store.get_line_to_change(work.db, lot.id, number))


def _finish(work: Work, line: LotLine) -> None:
    store.update_line(work.db, line, state=LineState.DONE)


def refuse_line(work: Work, lot: Lot, number: int, sentence: str) -> None:
    """Write down why nothing more is done with a line."""
    line = store.get_line_to_change(work.db, lot.id, number)
    if line.state in UNFINISHED:
        row = line.rows[0] if line.rows else 0
        problems = [LineProblem(row, "", sentence)]
        store.update_line(work.db, line, state=LineState.REFUSED, problems=problems, content=None)
