"""Finding out what became of payments, giving money back, and ending what nobody pays for."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from printworks.actions.payments.checkout import end_checkout
from printworks.actions.payments.payments import describe_charge, look_later, note_refunded, settle
from printworks.payments.provider import (
    Charge,
    Declined,
    Outcome,
    Paid,
    PaymentProvider,
    ProviderUnavailable,
    Unknown,
)
from printworks.rules.jobs import RetryLater
from printworks.rules.payments import (
    LAST_LOOK_AFTER,
    LOOK_EVERY,
    OPEN_PAYMENTS,
    UNHEARD_OF_AFTER,
    PaymentState,
)
from printworks.store.accounts.merchants import get_merchant
from printworks.store.money.payments import PaymentRequest, get_request
from printworks.store.orders.orders import get_order
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.tools import infrastructure_errors

# How long a provider that does not answer is left alone, at first and at most.
AWAY: Final = timedelta(minutes=1)
LONG_AWAY: Final = timedelta(hours=1)
# How soon one is asked again that has not heard of a payment that may still be on its way.
SOON: Final = timedelta(seconds=30)

NOT_REACHED: Final = "The payment provider could not be reached."
NOT_IN_TIME: Final = "The payment was not authorised in time."

_UNSETTLED: Final = OPEN_PAYMENTS | {PaymentState.CANCELLED}
# One of these may turn out to have been made after all.
_WORTH_A_LOOK: Final = _UNSETTLED | {PaymentState.DECLINED}


class _Case(NamedTuple):
    """A payment that is looked into, at the merchant's time."""

    request: PaymentRequest
    charge: Charge
    now: datetime


async def check_payment(context: Context, job: Job) -> None:
    """Find out what became of a payment, and end it if its time is over or nobody wants it.

    Harmless twice: what is settled is left alone, and providers do the same thing once.
    """
    with infrastructure_errors():
        case = await context.in_thread(_read, context, job)
        if case.request.state not in _WORTH_A_LOOK:
            return
        outcome = await context.in_payment_pool(_find_out, context, case)
        settled = await context.in_thread(_settle, context, case, outcome)
    if settled.state is PaymentState.WAITING:
        left = settled.expires_at - case.now
        raise RetryLater("The payer has not answered yet.", wait=max(min(LOOK_EVERY, left), SOON))
    if settled.state in _UNSETTLED:
        raise RetryLater("The provider has not heard of the payment yet.", wait=SOON)


async def refund_payment(context: Context, job: Job) -> None:
    """Give money back to whoever paid it.

    Harmless twice: providers give the same money back once, and so does the ledger.
    """
    with infrastructure_errors():
        case = await context.in_thread(_read, context, job)
        if case.request.state is not PaymentState.REFUNDING:
            return
        await context.in_payment_pool(_refund, context, case)
        await context.in_thread(_note_refunded, context, case)


async def end_checkout_of(context: Context, job: Job) -> None:
    """Take an order back from a recipient who did not pay in time.

    Harmless twice: an order that waits for its recipient no more, or has got more time, is left
    alone.
    """
    with infrastructure_errors():
        left = await context.in_thread(_end_checkout, context, job)
    if left is not None:
        raise RetryLater("The recipient is just paying.", wait=max(left, SOON))


def _read(context: Context, job: Job) -> _Case:
    with context.database.reading() as db:
        request = get_request(db, job.args["payment"])
        merchant = get_merchant(db, request.merchant_id)
        order = get_order(db, merchant.id, request.order_id)
    charge = describe_charge(merchant, order, request)
    return _Case(request, charge, context.clock() + merchant.clock_offset)


def _find_out(context: Context, case: _Case) -> Outcome | Unknown:
    request, charge, now = case
    try:
        provider = context.outside.gateway.open(request.provider)
        if request.reference and (
            request.state is PaymentState.CANCELLED or now >= request.expires_at
        ):
            return _close(provider, case)
        outcome = provider.look_up(charge, request.reference)
        # Since it was last asked for: a request may take its time.
        if isinstance(outcome, Unknown) and now - request.updated_at >= UNHEARD_OF_AFTER:
            return Declined(reason=NOT_REACHED)
    except ProviderUnavailable as error:
        raise _away(error, case) from error
    return outcome


def _away(error: ProviderUnavailable, case: _Case) -> RetryLater:
    so_far = case.now - case.request.created_at
    return RetryLater(str(error), wait=min(max(so_far, AWAY), LONG_AWAY))


def _close(provider: PaymentProvider, case: _Case) -> Outcome:
    """See to it that nobody can authorise a payment any more; who was quicker has paid."""
    outcome = provider.cancel(case.charge, case.request.reference)
    if isinstance(outcome, Paid) or case.request.state is PaymentState.CANCELLED:
        return outcome
    return Declined(reason=NOT_IN_TIME)


def _settle(context: Context, case: _Case, outcome: Outcome | Unknown) -> PaymentRequest:
    catalogue = context.outside.catalogue
    now = context.clock()
    with context.database.writing() as db:
        settled = settle(db, case.request.id, outcome, catalogue=catalogue, now=now)
        is_failed = isinstance(outcome, Declined) and outcome.reason == NOT_REACHED
        if is_failed and case.request.state in _UNSETTLED:
            # Should the provider find it after all, the money goes back.
            look_later(db, settled, wait=LAST_LOOK_AFTER, now=now)
        return settled


def _refund(context: Context, case: _Case) -> None:
    request = case.request
    paid = Paid(provider=request.provider, reference=request.reference)
    try:
        context.outside.gateway.open(request.provider).refund(case.charge, paid)
    except ProviderUnavailable as error:
        raise _away(error, case) from error


def _note_refunded(context: Context, case: _Case) -> None:
    with context.database.writing() as db:
        note_refunded(db, case.request.id, now=context.clock())


def _end_checkout(context: Context, job: Job) -> timedelta | None:
    with context.database.writing() as db:
        return end_checkout(db, job.args["order"], now=context.clock())
