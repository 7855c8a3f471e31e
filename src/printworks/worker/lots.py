"""Works off lots: a few lines at a time, each in a transaction of its own."""

from typing import Final, NamedTuple

from printworks.actions.lots.lots import (
    do_line,
    end_step,
    finish_line,
    list_step,
    on_behalf_of,
    refuse_line,
)
from printworks.actions.payments.card_charges import charge_once, refuse_unpaid
from printworks.actions.payments.payments import describe_charge, prepare_settling, settle
from printworks.actions.submission.submit import prepare_submission
from printworks.errors import ServiceError, WrongState
from printworks.rules.lots import LotKind
from printworks.rules.payments import PaymentState
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.lots import Lot, find_order_of_line
from printworks.store.orders.orders import Order
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.resources import infrastructure_errors

_CONFIRM: Final = "Your bank asks you to confirm the payment. Open the order to do so."


class _LineTask(NamedTuple):
    """A job, and the line of a lot that it works on."""

    context: Context
    job: Job
    lot: Lot
    number: int


async def run_lot(context: Context, job: Job) -> None:
    """Work off the next lines of a lot, and let the next step follow.

    Idempotent: what becomes of a line is written in the transaction that does it, and a line that
    is done is left alone; the next step is enqueued once.
    """
    with infrastructure_errors():
        lot, numbers = await context.in_thread(_list, context, job)
        for number in numbers:
            await _work_on(_LineTask(context, job, lot, number))
        await context.in_thread(_end, context, job, numbers)


def _list(context: Context, job: Job) -> tuple[Lot, list[int]]:
    with context.database.reading() as db:
        return list_step(context.job_work(db, job), job.args["lot"], after=job.args["after"])


async def _work_on(task: _LineTask) -> None:
    """Do all that is to be done with a line; its refusal concerns no other."""
    context, _, lot, _ = task
    # An order of a file is created first, and submitted next.
    times = 2 if lot.kind is LotKind.IMPORT and lot.submits else 1
    try:
        for _ in range(times):
            unpaid = await context.in_thread(_begin, task)
            if unpaid is not None:
                await context.in_payment_pool(_pay, task, *unpaid)
    except ServiceError as refusal:
        await context.in_thread(_refuse, task, refusal.message)


def _begin(task: _LineTask) -> tuple[Order, PaymentRequest] | None:
    context, job, lot, number = task
    ready = None
    with context.database.reading() as db:
        order_id = find_order_of_line(db, lot.id, number)
        if order_id is not None and lot.kind is not LotKind.CANCEL:
            # The labs are chosen before the transaction.
            ready = prepare_submission(context.job_work(db, job), order_id)
    with context.database.writing() as db:
        work = on_behalf_of(context.job_work(db, job), lot)
        return do_line(work, lot, number, ready)


def _pay(task: _LineTask, order: Order, payment: PaymentRequest) -> None:
    """Charge the card, outside any transaction, and settle the outcome."""
    context, job, lot, number = task
    if payment.state is not PaymentState.WAITING:
        with context.database.reading() as db:
            charge = describe_charge(context.job_work(db, job).merchant, order, payment)
        is_new = order.payment_request_id is None
        outcome = charge_once(context.services.gateway, charge, payment, is_new=is_new)
        with context.database.reading() as db:
            ready = prepare_settling(context.system_work(db, job), payment.id, outcome)
        with context.database.writing() as db:
            payment = settle(context.system_work(db, job), payment.id, outcome, ready)
            if payment.state is PaymentState.PAID:
                finish_line(context.job_work(db, job), lot, number)
                return
    raise refuse_unpaid(payment) or WrongState(_CONFIRM)


def _refuse(task: _LineTask, sentence: str) -> None:
    context, job, lot, number = task
    with context.database.writing() as db:
        refuse_line(context.job_work(db, job), lot, number, sentence)


def _end(context: Context, job: Job, done: list[int]) -> None:
    with context.database.writing() as db:
        end_step(context.job_work(db, job), job.args["lot"], done)
