"""What merchants are charged and get back, what is received and repaid: events and entries."""

from datetime import datetime

from sqlalchemy import Connection

from printworks.rules.events import OrderCharged, OrderRefunded
from printworks.rules.ledger import EntryKind, entry_key
from printworks.store.accounts.merchants import Merchant
from printworks.store.money.ledger import post_entry
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.events import list_events, record_event
from printworks.store.orders.orders import Order

ON_ACCOUNT = "account"


def charge_order(
    db: Connection, merchant: Merchant, order: Order, *, provider: str = ON_ACCOUNT, now: datetime
) -> None:
    """Charge the merchant what was quoted; who pays for that is the provider's business."""
    # An order that was given back may be charged again, and that is another charge.
    number = len(_list_charges(db, order)) + 1
    event = OrderCharged(
        amount=order.price,
        currency=order.currency or merchant.currency,
        provider=provider,
        reference=f"order-{order.id}-{number}",
    )
    record_event(db, order.id, event, now=now)
    _post_event(db, merchant, order, EntryKind.CHARGE, event, now=now)


def refund_charge(db: Connection, merchant: Merchant, order: Order, *, now: datetime) -> None:
    """Take back what was last charged for an order."""
    for last in _list_charges(db, order)[-1:]:
        refunded = OrderRefunded(
            amount=last.amount,
            currency=last.currency,
            provider=last.provider,
            reference=last.reference,
        )
        record_event(db, order.id, refunded, now=now)
        _post_event(db, merchant, order, EntryKind.REFUND, refunded, now=now)


def receive_payment(db: Connection, request: PaymentRequest, *, now: datetime) -> None:
    """Write down that money for an order has come in."""
    _post_payment(db, request, EntryKind.PAYMENT, now=now)


def repay(db: Connection, request: PaymentRequest, *, now: datetime) -> None:
    """Write down that money for an order has gone back."""
    _post_payment(db, request, EntryKind.REPAYMENT, now=now)


def _list_charges(db: Connection, order: Order) -> list[OrderCharged]:
    return [event for event in list_events(db, order.id) if isinstance(event, OrderCharged)]


def _post_event(
    db: Connection,
    merchant: Merchant,
    order: Order,
    kind: EntryKind,
    event: OrderCharged | OrderRefunded,
    *,
    now: datetime,
) -> None:
    post_entry(
        db,
        merchant.id,
        key=entry_key(kind, event.reference),
        kind=kind,
        amount=event.amount,
        currency=event.currency,
        order_id=order.id,
        memo=f"by {event.provider}",
        now=now,
    )


def _post_payment(
    db: Connection, request: PaymentRequest, kind: EntryKind, *, now: datetime
) -> None:
    post_entry(
        db,
        request.merchant_id,
        key=entry_key(kind, request.key),
        kind=kind,
        amount=request.amount,
        currency=request.currency,
        order_id=request.order_id,
        memo=f"{request.payer} by {request.provider}",
        now=now,
    )
