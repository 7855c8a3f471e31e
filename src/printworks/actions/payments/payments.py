"""Payments for orders: requested, settled by the provider's answer, cancelled, refunded.

The provider is never called in a transaction. The payment is written before the call, with a job
that checks its outcome, and the answer is settled afterwards. A process that dies in between leaves
one payment or none.
"""

import secrets
from datetime import datetime, timedelta
from typing import Unpack

from printworks.actions.mail.notices import describe_order, notify
from printworks.actions.orders.moves import move_order
from printworks.actions.payments.charges import record_payment, refund_charge
from printworks.actions.production.release import release_to_production
from printworks.actions.submission.check import ReadySubmission, make_ready, require_printable
from printworks.actions.work import JobOptions, SystemWork, Work
from printworks.errors import WrongState
from printworks.payments.provider import (
    Charge,
    Declined,
    NeedsAuthorisation,
    Outcome,
    Paid,
    Unknown,
)
from printworks.rules.jobs import JobKind
from printworks.rules.ledger import EntryKind
from printworks.rules.mail import MailKind, find_address
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import (
    CHECK_AFTER,
    CHECK_REFUND_AFTER,
    OPEN_PAYMENTS,
    Cards,
    Payer,
    PaymentState,
    name_refund,
)
from printworks.rules.reasons import (
    UNPAID,
    Reason,
    ReasonCode,
    add_reason,
    drop_reasons,
    has_reason,
)
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.money.cards import note_refusal
from printworks.store.money.payments import (
    NewPayment,
    PaymentRequest,
    SavedCard,
    find_paid_request,
    find_request_by_key,
    get_request,
    insert_request,
    update_request,
)
from printworks.store.orders.orders import Order, update_order
from printworks.store.orders.shipments import get_whole_order

NO_CARD = SavedCard("", "")
# Whatever became of the money later, it was received once.
_RECEIVED = frozenset(
    {
        PaymentState.PAID,
        PaymentState.REFUNDING,
        PaymentState.REFUNDED,
        PaymentState.REFUND_REJECTED,
        PaymentState.REPAID,
    }
)


def request_payment(
    work: Work,
    order: Order,
    cards: Cards,
    *,
    amount: int,
    from_balance: int = 0,
    card: SavedCard | None = None,
) -> PaymentRequest:
    """Create a payment before its provider is called, and enqueue a check of the outcome.

    Without a card, the recipient pays. What is taken from the balance beside it is reserved until
    the payment has ended.
    """
    payment = insert_request(
        work.db,
        NewPayment(
            merchant_id=work.merchant.id,
            order_id=order.id,
            # Unique at the provider, even across deployments.
            key=secrets.token_urlsafe(24),
            payer=Payer.RECIPIENT if card is None else Payer.MERCHANT,
            provider=cards.provider,
            amount=amount,
            from_balance=from_balance,
            currency=order.currency or work.merchant.currency,
            card=card or NO_CARD,
            expires_at=work.now + cards.authorise_within,
        ),
        now=work.now,
    )
    left = drop_reasons(order.reasons, UNPAID)
    update_order(work.db, order, {"payment_request_id": payment.id, "reasons": left})
    _enqueue_check(work, payment, wait=CHECK_AFTER)
    return payment


def describe_charge(merchant: Merchant, order: Order, payment: PaymentRequest) -> Charge:
    """Return a payment as its provider expects it."""
    return Charge(
        key=payment.key,
        merchant=merchant.code,
        order=order.id,
        amount=payment.amount,
        currency=payment.currency,
        # Providers use the real time.
        asked_at=payment.created_at - merchant.clock_offset,
        customer=payment.customer,
        payment_method=payment.payment_method,
        destination_country=order.destination_country or "",
        recipient=order.recipient_name or "",
        merchant_reference=order.merchant_order_id or "",
        payer_email=(find_address(order.email) or "") if payment.payer is Payer.RECIPIENT else "",
        rejected_refunds=payment.rejected_refunds,
    )


def prepare_settling(
    system: SystemWork, payment_id: int, outcome: Outcome | Unknown
) -> ReadySubmission | None:
    """Choose the labs of an order that was paid for, before the transaction that settles it.

    If the order changes in between, they are chosen again in that transaction.
    """
    payment = get_request(system.db, payment_id)
    if not isinstance(outcome, Paid) or payment.state not in OPEN_PAYMENTS:
        return None
    work = system.for_merchant(get_merchant(system.db, payment.merchant_id))
    return make_ready(work, get_whole_order(work.db, payment.merchant_id, payment.order_id))


def settle(
    system: SystemWork,
    payment_id: int,
    outcome: Outcome | Unknown,
    ready: ReadySubmission | None = None,
) -> PaymentRequest:
    """Apply a provider's answer to a payment and its order. Idempotent."""
    work, order = system.lock_order(get_request(system.db, payment_id).order_id)
    payment = get_request(work.db, payment_id)
    match outcome:
        case Paid():
            return _settle_paid(work, order, payment, outcome, ready)
        case NeedsAuthorisation():
            return _settle_waiting(work, order, payment, outcome)
        case Declined():
            return _settle_declined(work, order, payment, outcome)
        case Unknown():
            return payment


def _settle_paid(
    work: Work, order: Order, payment: PaymentRequest, paid: Paid, ready: ReadySubmission | None
) -> PaymentRequest:
    if payment.state in _RECEIVED:
        return payment
    record_payment(work, payment, EntryKind.PAYMENT)
    if payment.state not in OPEN_PAYMENTS or order.payment_request_id != payment.id:
        # Too late: the order is cancelled, or the payment has ended.
        return begin_refund(work, payment, paid.reference)
    try:
        images = require_printable(work, order, ready).images
        routing = ready and ready.routing
        release_to_production(work, order, images, provider=payment.provider, ready=routing)
    except WrongState as refusal:
        _return_to_merchant(work, order, refusal.message)
        unpaid = update_request(work.db, payment, {"reason": refusal.message})
        return begin_refund(work, unpaid, paid.reference)
    if payment.payer is Payer.MERCHANT:
        note_refusal(work.db, work.merchant.id, payment.payment_method, None)
    values = {"state": PaymentState.PAID, "reference": paid.reference, "updated_at": work.now}
    return update_request(work.db, payment, values)


def _settle_waiting(
    work: Work, order: Order, payment: PaymentRequest, asked: NeedsAuthorisation
) -> PaymentRequest:
    if payment.state not in {PaymentState.ASKED, PaymentState.CANCELLED}:
        return payment
    values = {"reference": asked.reference, "url": asked.url, "updated_at": work.now}
    if payment.state is PaymentState.CANCELLED:
        # Its reference is only known now, and needed to cancel it at the provider.
        return update_request(work.db, payment, values)
    order = _note_answered(work, order)
    if order.status is OrderStatus.NOT_YET_SUBMITTED:
        move_order(work, order, OrderStatus.AWAITING_PAYMENT)
    return update_request(work.db, payment, {**values, "state": PaymentState.WAITING})


def _settle_declined(
    work: Work, order: Order, payment: PaymentRequest, declined: Declined
) -> PaymentRequest:
    if payment.state not in OPEN_PAYMENTS | {PaymentState.CANCELLED}:
        return payment
    if order.payment_request_id == payment.id:
        if payment.payer is Payer.RECIPIENT:
            # The recipient may try again.
            update_order(work.db, _note_answered(work, order), {"payment_request_id": None})
        else:
            _return_to_merchant(work, order, declined.reason)
            note_refusal(work.db, work.merchant.id, payment.payment_method, declined.reason)
            _tell_refused(work, order, payment, declined.reason)
    values = {"state": PaymentState.DECLINED, "reason": declined.reason, "updated_at": work.now}
    return update_request(work.db, payment, values)


def _tell_refused(work: Work, order: Order, payment: PaymentRequest, why: str) -> None:
    fact = describe_order(order, text=why, amount=payment.amount, currency=payment.currency)
    notify(work, work.merchant.id, MailKind.PAYMENTS_REFUSED, [fact])


def _return_to_merchant(work: Work, order: Order, why: str) -> None:
    """Let the merchant change or submit the order again."""
    if order.status is OrderStatus.AWAITING_PAYMENT:
        order = move_order(work, order, OrderStatus.NOT_YET_SUBMITTED, pay_until=None)
    others = drop_reasons(order.reasons, {ReasonCode.PAYMENT_UNANSWERED})
    refused = add_reason(others, Reason(ReasonCode.PAYMENT_REFUSED, detail=why))
    values = {"payment_request_id": None, "reasons": refused, "updated_at": work.now}
    update_order(work.db, order, values)


def note_unanswered(system: SystemWork, payment_id: int, *, until: datetime) -> None:
    """Show on an order that its provider does not answer, and until when it is asked. Idempotent.

    `until` is in the merchant's time.
    """
    work, order = system.lock_order(get_request(system.db, payment_id).order_id)
    payment = get_request(work.db, payment_id)
    is_wanted = payment.state in OPEN_PAYMENTS and order.payment_request_id == payment.id
    if not is_wanted or has_reason(order.reasons, ReasonCode.PAYMENT_UNANSWERED):
        return
    noted = Reason(ReasonCode.PAYMENT_UNANSWERED, detail=f"{until:%Y-%m-%d %H:%M} UTC")
    values = {"reasons": add_reason(order.reasons, noted), "updated_at": work.now}
    update_order(work.db, order, values)


def _note_answered(work: Work, order: Order) -> Order:
    """Drop the reason of `note_unanswered`."""
    if not has_reason(order.reasons, ReasonCode.PAYMENT_UNANSWERED):
        return order
    left = drop_reasons(order.reasons, {ReasonCode.PAYMENT_UNANSWERED})
    return update_order(work.db, order, {"reasons": left, "updated_at": work.now})


def cancel_payment(work: Work, order: Order) -> None:
    """Cancel the payment that is under way for an order; if it succeeds anyway, it is refunded."""
    if order.payment_request_id is None:
        return
    payment = get_request(work.db, order.payment_request_id)
    update_request(work.db, payment, {"state": PaymentState.CANCELLED, "updated_at": work.now})
    _enqueue_check(work, payment)


def refund_order(work: Work, order: Order) -> None:
    """Refund the charge of an order, and enqueue the repayment of what was paid for it."""
    refund_charge(work, order)
    paid = find_paid_request(work.db, order.id)
    if paid is not None:
        begin_refund(work, paid, paid.reference)


def begin_refund(work: Work, payment: PaymentRequest, reference: str) -> PaymentRequest:
    """Enqueue the refund of a payment."""
    key = f"{JobKind.REFUND_PAYMENT}:{name_refund(str(payment.id), payment.rejected_refunds)}"
    work.enqueue(JobKind.REFUND_PAYMENT, {"payment": payment.id}, dedupe_key=key)
    values = {"state": PaymentState.REFUNDING, "reference": reference, "updated_at": work.now}
    return update_request(work.db, payment, values)


def record_refunded(system: SystemWork, payment_id: int, *, rejected: int = 0) -> None:
    """Record that a refund was sent, and enqueue a look at whether a bank rejected it. Idempotent.

    Webhooks tell earlier that it was rejected, unless they get lost. `rejected` is how many were
    before it: what is said of one refund does not count for the next one.
    """
    work, _ = system.lock_order(get_request(system.db, payment_id).order_id)
    payment = get_request(work.db, payment_id)
    is_same = payment.rejected_refunds == rejected
    if payment.state is PaymentState.REFUNDING and is_same:
        record_payment(work, payment, EntryKind.REPAYMENT)
        update_request(work.db, payment, {"state": PaymentState.REFUNDED, "updated_at": work.now})
        _enqueue_check(work, payment, wait=CHECK_REFUND_AFTER)


def recheck_payment(system: SystemWork, key: str, *, event_id: str) -> None:
    """Enqueue a check of a payment about which its provider has sent an event.

    The event itself is not applied, because events arrive late, twice and in any order.
    """
    payment = find_request_by_key(system.db, key)
    if payment is not None:
        work = system.for_merchant(get_merchant(system.db, payment.merchant_id))
        _enqueue_check(work, payment, dedupe_key=f"{payment.provider}:{event_id}")


def check_later(system: SystemWork, payment: PaymentRequest, *, wait: timedelta) -> None:
    """Enqueue another check of a payment."""
    work = system.for_merchant(get_merchant(system.db, payment.merchant_id))
    _enqueue_check(work, payment, wait=wait)


def resume_payment(work: Work, payment_id: int) -> PaymentRequest:
    """Return the payment that is under way, and record that it was requested again."""
    payment = get_request(work.db, payment_id)
    if payment.state is not PaymentState.ASKED:
        return payment
    return update_request(work.db, payment, {"updated_at": work.now})


def _enqueue_check(work: Work, payment: PaymentRequest, **options: Unpack[JobOptions]) -> None:
    work.enqueue(JobKind.CHECK_PAYMENT, {"payment": payment.id}, **options)
