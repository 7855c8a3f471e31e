"""Money for orders: asked for, settled by what the provider says, called off, given back.

The provider is never asked in a transaction. What it is asked for is written down before, with a
promise that somebody will look what became of it; what it says is settled afterwards. Whoever dies
in between leaves one payment or none.
"""

import secrets
from datetime import datetime, timedelta

from sqlalchemy import Connection

from printworks.actions.orders.moves import move_order
from printworks.actions.payments.charges import receive_payment, refund_charge, repay
from printworks.actions.submission.submission import require_printable
from printworks.actions.submission.submitting import release_to_production
from printworks.catalogue.snapshot import Catalogue
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
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import (
    CHECK_AFTER,
    OPEN_PAYMENTS,
    Cards,
    Payer,
    PaymentState,
    explain_refusal,
    forget_refusal,
)
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.images.images import list_images
from printworks.store.money.payments import (
    PaymentRequest,
    SavedCard,
    find_paid_request,
    find_request_by_key,
    get_request,
    insert_request,
    update_request,
)
from printworks.store.orders.orders import Order, get_any_order_to_change, update_order
from printworks.store.queue.jobs import enqueue

NO_CARD = SavedCard("", "")


def ask_for_payment(
    db: Connection,
    merchant: Merchant,
    order: Order,
    cards: Cards,
    *,
    payer: Payer,
    amount: int,
    card: SavedCard = NO_CARD,
    now: datetime,
    request_id: str | None = None,
) -> PaymentRequest:
    """Write down that a provider will be asked for money, and promise to look what came of it."""
    request = insert_request(
        db,
        merchant_id=merchant.id,
        order_id=order.id,
        # Providers must know no other charge by this key, not even another deployment's.
        key=secrets.token_urlsafe(24),
        payer=payer,
        provider=cards.provider,
        amount=amount,
        currency=order.currency or merchant.currency,
        card=card,
        expires_at=now + cards.authorise_within,
        now=now,
    )
    silenced = forget_refusal(order.error_message)
    update_order(db, order, {"payment_request_id": request.id, "error_message": silenced})
    _enqueue_check(db, merchant, request, wait=CHECK_AFTER, now=now, request_id=request_id)
    return request


def describe_charge(merchant: Merchant, order: Order, request: PaymentRequest) -> Charge:
    """Put a payment into the words of its provider."""
    return Charge(
        key=request.key,
        merchant=merchant.code,
        order=order.id,
        amount=request.amount,
        currency=request.currency,
        # Providers live in real time.
        asked_at=request.created_at - merchant.clock_offset,
        customer=request.customer,
        payment_method=request.payment_method,
        destination_country=order.destination_country or "",
        recipient=order.recipient_name or "",
        merchant_reference=order.merchant_order_id or "",
        payer_email=(order.email or "") if request.payer is Payer.RECIPIENT else "",
    )


def settle(
    db: Connection,
    request_id: int,
    outcome: Outcome | Unknown,
    *,
    catalogue: Catalogue,
    now: datetime,
) -> PaymentRequest:
    """Do what follows from what a provider said; harmless when somebody else did already.

    `now` is the real time; the merchant's may be ahead.
    """
    order = get_any_order_to_change(db, get_request(db, request_id).order_id)
    merchant = get_merchant(db, order.merchant_id)
    now += merchant.clock_offset
    request = get_request(db, request_id)
    match outcome:
        case Paid():
            return _take(db, merchant, order, request, outcome, catalogue, now=now)
        case NeedsAuthorisation():
            return _wait(db, order, request, outcome, now=now)
        case Declined():
            return _end(db, order, request, outcome, now=now)
        case Unknown():
            return request


def _take(
    db: Connection,
    merchant: Merchant,
    order: Order,
    request: PaymentRequest,
    paid: Paid,
    catalogue: Catalogue,
    *,
    now: datetime,
) -> PaymentRequest:
    if request.state in {PaymentState.PAID, PaymentState.REFUNDING, PaymentState.REFUNDED}:
        return request
    receive_payment(db, request, now=now)
    if request.state not in OPEN_PAYMENTS or order.payment_request_id != request.id:
        # The order is cancelled, or the payment was given up: too late.
        return _refund(db, merchant, request, paid.reference, now=now)
    images = list_images(db, order.id)
    try:
        require_printable(db, order, catalogue)
        release_to_production(
            db, merchant, order, images, catalogue=catalogue, provider=request.provider, now=now
        )
    except WrongState as refusal:
        _let_go(db, order, explain_refusal(refusal.message), now=now)
        unpaid = update_request(db, request, {"reason": refusal.message})
        return _refund(db, merchant, unpaid, paid.reference, now=now)
    values = {"state": PaymentState.PAID, "reference": paid.reference, "updated_at": now}
    return update_request(db, request, values)


def _wait(
    db: Connection,
    order: Order,
    request: PaymentRequest,
    asked: NeedsAuthorisation,
    *,
    now: datetime,
) -> PaymentRequest:
    if request.state not in {PaymentState.ASKED, PaymentState.CANCELLED}:
        return request
    values = {"reference": asked.reference, "url": asked.url, "updated_at": now}
    if request.state is PaymentState.CANCELLED:
        # Only now it is known what has to be cancelled.
        return update_request(db, request, values)
    if order.status is OrderStatus.NOT_YET_SUBMITTED:
        move_order(db, order, OrderStatus.AWAITING_PAYMENT, now=now)
    return update_request(db, request, {**values, "state": PaymentState.WAITING})


def _end(
    db: Connection, order: Order, request: PaymentRequest, declined: Declined, *, now: datetime
) -> PaymentRequest:
    if request.state not in OPEN_PAYMENTS | {PaymentState.CANCELLED}:
        return request
    if order.payment_request_id == request.id:
        if request.payer is Payer.RECIPIENT:
            # Who may pay may try again.
            update_order(db, order, {"payment_request_id": None})
        else:
            _let_go(db, order, explain_refusal(declined.reason), now=now)
    values = {"state": PaymentState.DECLINED, "reason": declined.reason, "updated_at": now}
    return update_request(db, request, values)


def _let_go(db: Connection, order: Order, message: str, *, now: datetime) -> None:
    """Let the merchant change the order again, or submit it again."""
    if order.status is OrderStatus.AWAITING_PAYMENT:
        order = move_order(db, order, OrderStatus.NOT_YET_SUBMITTED, now=now, pay_until=None)
    values = {"payment_request_id": None, "error_message": message, "updated_at": now}
    update_order(db, order, values)


def cancel_payment(db: Connection, merchant: Merchant, order: Order, *, now: datetime) -> None:
    """End the payment that is under way for an order, and give back what comes all the same."""
    if order.payment_request_id is None:
        return
    request = get_request(db, order.payment_request_id)
    update_request(db, request, {"state": PaymentState.CANCELLED, "updated_at": now})
    _enqueue_check(db, merchant, request, now=now)


def refund_order(db: Connection, merchant: Merchant, order: Order, *, now: datetime) -> None:
    """Take back what was charged for an order, and promise to repay what was paid for it."""
    refund_charge(db, merchant, order, now=now)
    paid = find_paid_request(db, order.id)
    if paid is not None:
        _refund(db, merchant, paid, paid.reference, now=now)


def _refund(
    db: Connection, merchant: Merchant, request: PaymentRequest, reference: str, *, now: datetime
) -> PaymentRequest:
    enqueue(
        db,
        JobKind.REFUND_PAYMENT,
        {"payment": request.id},
        merchant=merchant,
        now=now,
        dedupe_key=f"{JobKind.REFUND_PAYMENT}:{request.id}",
    )
    values = {"state": PaymentState.REFUNDING, "reference": reference, "updated_at": now}
    return update_request(db, request, values)


def note_refunded(db: Connection, request_id: int, *, now: datetime) -> None:
    """Remember that money went back; harmless twice. `now` is the real time."""
    order = get_any_order_to_change(db, get_request(db, request_id).order_id)
    now += get_merchant(db, order.merchant_id).clock_offset
    request = get_request(db, request_id)
    if request.state is PaymentState.REFUNDING:
        repay(db, request, now=now)
        update_request(db, request, {"state": PaymentState.REFUNDED, "updated_at": now})


def recheck_payment(db: Connection, key: str, *, event_id: str, now: datetime) -> None:
    """Promise to look at a payment of which its provider says that something became of it.

    What, is asked then: such events come late, twice and in any order. `now` is the real time.
    """
    request = find_request_by_key(db, key)
    if request is None:
        return
    merchant = get_merchant(db, request.merchant_id)
    now += merchant.clock_offset
    _enqueue_check(db, merchant, request, now=now, dedupe_key=f"{request.provider}:{event_id}")


def look_later(db: Connection, request: PaymentRequest, *, wait: timedelta, now: datetime) -> None:
    """Promise to look at a payment once more. `now` is the real time."""
    merchant = get_merchant(db, request.merchant_id)
    _enqueue_check(db, merchant, request, wait=wait, now=now + merchant.clock_offset)


def ask_again(db: Connection, request_id: int, *, now: datetime) -> PaymentRequest:
    """Return a payment that is under way, for whoever asks for it once more."""
    request = get_request(db, request_id)
    if request.state is not PaymentState.ASKED:
        return request
    return update_request(db, request, {"updated_at": now})


def _enqueue_check(
    db: Connection,
    merchant: Merchant,
    request: PaymentRequest,
    *,
    wait: timedelta = timedelta(0),
    now: datetime,
    request_id: str | None = None,
    dedupe_key: str | None = None,
) -> None:
    enqueue(
        db,
        JobKind.CHECK_PAYMENT,
        {"payment": request.id},
        merchant=merchant,
        now=now,
        wait=wait,
        request_id=request_id,
        dedupe_key=dedupe_key,
    )
