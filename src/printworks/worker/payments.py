"""Checks and refunds payments, and ends checkouts that were not paid in time."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from printworks.actions.payments.checkout import end_checkout
from printworks.actions.payments.payments import (
    check_later,
    describe_charge,
    note_unanswered,
    prepare_settling,
    record_refunded,
    settle,
)
from printworks.actions.payments.refunds import record_rejected
from printworks.payments.provider import (
    Charge,
    Declined,
    Outcome,
    Paid,
    PaymentProvider,
    ProviderUnavailable,
    RefundOutcome,
    RefundRejected,
    Unknown,
)
from printworks.rules.jobs import PermanentFailure, RetryLater
from printworks.rules.payments import (
    CHECK_REFUND_AFTER,
    LAST_CHECK_AFTER,
    LOOK_UP_FOR,
    OPEN_PAYMENTS,
    UNKNOWN_AFTER,
    PaymentState,
    wait_for_payer,
    wait_for_provider,
)
from printworks.store.accounts.merchants import get_merchant
from printworks.store.money.payments import PaymentRequest, get_request
from printworks.store.orders.orders import get_order
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.resources import infrastructure_errors

# How soon to check again while the provider does not know a payment yet.
SOON: Final = timedelta(seconds=30)

NOT_REACHED: Final = "The payment provider could not be reached."
NOT_ANSWERED: Final = (
    "The payment provider did not answer in time; whatever was charged is refunded. Submit the "
    "order again to pay for it."
)
# Concluded here, not an answer of a provider.
_NEVER_REACHED: Final = Declined(reason=NOT_REACHED)
_NEVER_ANSWERED: Final = Declined(reason=NOT_ANSWERED)
_CONCLUDED_HERE: Final = (_NEVER_REACHED, _NEVER_ANSWERED)
NOT_IN_TIME: Final = "The payment was not authorised in time."

_UNSETTLED: Final = OPEN_PAYMENTS | {PaymentState.CANCELLED}
# A declined payment may turn out to have been made after all.
_CHECKABLE: Final = _UNSETTLED | {PaymentState.DECLINED}
_REFUND_SENT: Final = frozenset({PaymentState.REFUNDING, PaymentState.REFUNDED})


class _Case(NamedTuple):
    """A payment that is checked, and the merchant's time."""

    payment: PaymentRequest
    charge: Charge
    now: datetime
    is_clock_moving: bool
    # When it ends if its provider has not answered.
    ends_at: datetime

    @property
    def paid(self) -> Paid:
        """The payment as it was received."""
        return Paid(provider=self.payment.provider, reference=self.payment.reference)

    @property
    def retry_in(self) -> timedelta:
        """How long to wait for a provider that does not answer."""
        return wait_for_provider(self.now - self.payment.created_at, self.ends_at - self.now)


async def check_payment(context: Context, job: Job) -> None:
    """Look up a payment at its provider, and end it if it has expired or was cancelled.

    Of one that was refunded, look up the refund. Idempotent: a settled payment is left alone, and
    so are repeated requests at providers; a refund is rejected once.
    """
    with infrastructure_errors():
        case = await context.in_thread(_read, context, job)
        if case.payment.state in _REFUND_SENT:
            await _check_refund(context, case)
        if case.payment.state not in _CHECKABLE:
            return
        try:
            outcome = await context.in_payment_pool(_look_up, context, case)
        except ProviderUnavailable as error:
            await context.in_thread(_handle_silence, context, case)
            raise RetryLater(str(error), wait=case.retry_in) from error
        settled = await context.in_thread(_settle, context, case, outcome)
    if settled.state is PaymentState.WAITING:
        wait = wait_for_payer(
            case.now - settled.created_at,
            settled.expires_at - case.now,
            is_clock_moving=case.is_clock_moving,
        )
        raise RetryLater("The payer has not authorised the payment yet.", wait=max(wait, SOON))
    if settled.state in _UNSETTLED:
        raise RetryLater("The provider does not know the payment yet.", wait=SOON)


async def refund_payment(context: Context, job: Job) -> None:
    """Refund a payment to its payer.

    Idempotent: providers refund a payment once, and so does the ledger.
    """
    with infrastructure_errors():
        case = await context.in_thread(_read, context, job)
        if case.payment.state is not PaymentState.REFUNDING:
            return
        try:
            outcome = await context.in_payment_pool(_refund, context, case)
        except ProviderUnavailable as error:
            raise RetryLater(str(error), wait=case.retry_in) from error
        await context.in_thread(_note_refund, context, case, outcome)


async def _check_refund(context: Context, case: _Case) -> None:
    if case.payment.state is PaymentState.REFUNDING:
        # Rejected so soon, it may not even be recorded as sent.
        raise RetryLater("The payment is being refunded.", wait=case.retry_in)
    try:
        outcome = await context.in_payment_pool(_look_up_refund, context, case)
    except ProviderUnavailable as error:
        if case.now - case.payment.updated_at >= CHECK_REFUND_AFTER + LOOK_UP_FOR:
            raise PermanentFailure(
                f"The provider has not said for {LOOK_UP_FOR.days} days whether the refund of "
                f"payment {case.payment.id} was rejected: look for {case.payment.key} there."
            ) from error
        raise RetryLater(str(error), wait=case.retry_in) from error
    if isinstance(outcome, RefundRejected):
        await context.in_thread(_note_refund, context, case, outcome)


async def expire_checkout(context: Context, job: Job) -> None:
    """Return an order to its merchant if the recipient did not pay in time.

    Idempotent: an order that no longer awaits payment, or has a later deadline, is left alone.
    """
    with infrastructure_errors():
        left = await context.in_thread(_end_checkout, context, job)
    if left is not None:
        raise RetryLater("The recipient is paying now.", wait=max(left, SOON))


def _read(context: Context, job: Job) -> _Case:
    with context.database.reading() as db:
        payment = get_request(db, job.args["payment"])
        merchant = get_merchant(db, payment.merchant_id)
        order = get_order(db, merchant.id, payment.order_id)
    charge = describe_charge(merchant, order, payment)
    is_moving = merchant.advancing_until is not None and merchant.advancing_until > context.clock()
    ends_at = payment.created_at + context.settings.payment_answer_within
    if payment.reference:
        # The payer has that long, whether the provider answers or not.
        ends_at = max(ends_at, payment.expires_at)
    return _Case(payment, charge, context.clock() + merchant.clock_offset, is_moving, ends_at)


def _look_up(context: Context, case: _Case) -> Outcome | Unknown:
    payment, now = case.payment, case.now
    provider = context.resources.gateway.open(payment.provider)
    if payment.reference and (payment.state is PaymentState.CANCELLED or now >= payment.expires_at):
        return _cancel(provider, case)
    outcome = provider.look_up(case.charge, payment.reference)
    # Since the last request for it: that may still be under way.
    if isinstance(outcome, Unknown) and now - payment.updated_at >= UNKNOWN_AFTER:
        return _NEVER_REACHED
    return outcome


def _handle_silence(context: Context, case: _Case) -> None:
    """Show that a provider does not answer, or end what has waited for its answer long enough.

    The provider is asked on: what it has charged by then is refunded.
    """
    payment = case.payment
    if payment.state not in _UNSETTLED:
        if case.now - payment.created_at >= LOOK_UP_FOR:
            raise PermanentFailure(
                f"The provider has not said for {LOOK_UP_FOR.days} days whether payment "
                f"{payment.id} was charged: look for {payment.key} there, and refund it if it was."
            )
    elif case.now >= case.ends_at:
        _settle(context, case, _NEVER_ANSWERED)
    else:
        with context.database.writing() as db:
            note_unanswered(context.system_work(db), payment.id, until=case.ends_at)


def _cancel(provider: PaymentProvider, case: _Case) -> Outcome:
    """Cancel a payment at its provider, unless it has been paid just before."""
    outcome = provider.cancel(case.charge, case.payment.reference)
    if isinstance(outcome, Paid) or case.payment.state is PaymentState.CANCELLED:
        return outcome
    return Declined(reason=NOT_IN_TIME)


def _settle(context: Context, case: _Case, outcome: Outcome | Unknown) -> PaymentRequest:
    with context.database.reading() as db:
        ready = prepare_settling(context.system_work(db), case.payment.id, outcome)
    with context.database.writing() as db:
        settled = settle(context.system_work(db), case.payment.id, outcome, ready)
        if outcome in _CONCLUDED_HERE and case.payment.state in _UNSETTLED:
            # If the provider has it after all, it is refunded.
            check_later(context.system_work(db), settled, wait=LAST_CHECK_AFTER)
        return settled


def _refund(context: Context, case: _Case) -> RefundOutcome:
    provider = context.resources.gateway.open(case.payment.provider)
    return provider.refund(case.charge, case.paid)


def _look_up_refund(context: Context, case: _Case) -> RefundOutcome:
    provider = context.resources.gateway.open(case.payment.provider)
    return provider.look_up_refund(case.charge, case.paid)


def _note_refund(context: Context, case: _Case, outcome: RefundOutcome) -> None:
    with context.database.writing() as db:
        if isinstance(outcome, RefundRejected):
            record_rejected(context.system_work(db), case.payment, outcome)
        else:
            record_refunded(
                context.system_work(db), case.payment.id, rejected=case.payment.rejected_refunds
            )


def _end_checkout(context: Context, job: Job) -> timedelta | None:
    with context.database.writing() as db:
        return end_checkout(context.system_work(db), job.args["order"])
