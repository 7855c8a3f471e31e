"""Lots: asked for, started, and worked off line by line, each in a transaction of its own."""

import hashlib
from collections.abc import Sequence

import msgspec

from printworks.actions.lots.imports import create_imported
from printworks.actions.orders.orders import cancel_order
from printworks.actions.submission.check import ReadySubmission
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
    may_start,
)
from printworks.rules.people import Realm
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders import lots as store
from printworks.store.orders.lots import Lot, LotLine, NewLine, NewLot
from printworks.store.orders.orders import Order, get_order_to_change


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
    lines = [NewLine(state=LineState.READY, order_id=order_id) for order_id in order_ids]
    new = NewLot(kind=kind, state=LotState.CHECKED, key=key, who=work.actor.who)
    return store.insert_lot(work.db, work.merchant.id, new, lines, now=work.real_now)


def start_lot(work: Work, lot_id: int, *, submits: bool = False) -> None:
    """Let a lot be worked off in the background; one that was started before is left alone."""
    lot = store.get_lot(work.db, work.merchant.id, lot_id, to_change=True)
    good = store.measure_progress(work.db, lot.id).count(LineState.READY)
    if not may_start(lot.state, good=good):
        return
    store.update_lot(work.db, lot, state=LotState.RUNNING, submits=submits, who=work.actor.who)
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
    card must be charged first, return the order and the payment.
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
    else:
        submitted = submit_order(work, order, ready=ready)
        if isinstance(submitted, PaymentRequest):
            return order, submitted
    _finish(work, line)
    return None


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
