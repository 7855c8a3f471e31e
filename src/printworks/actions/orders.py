"""What can be done with an order: check, change, record, promise, in the caller's transaction."""

import secrets
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from printworks.errors import BadInput, WrongState
from printworks.rules.events import OrderChanged, OrderCreated, OrderMoved
from printworks.rules.orders import (
    PERMISSIONS,
    OrderStatus,
    Payment,
    check_change,
    check_move,
)
from printworks.rules.submission import find_general_errors
from printworks.store import orders as store
from printworks.store.events import record_event
from printworks.store.merchants import Merchant
from printworks.store.orders import NewOrder, Order

_CHANGED_MEANWHILE = "The order has just changed. Read it again before you retry."


def create_order(db: Connection, merchant: Merchant, new: NewOrder, *, now: datetime) -> Order:
    """Make an order that can still be changed in every way."""
    order = store.insert_order(
        db,
        merchant.id,
        new,
        status=OrderStatus.NOT_YET_SUBMITTED,
        payment_token=_payment_token(new.payment),
        now=now,
    )
    record_event(db, order.id, OrderCreated(order.status, order.merchant_order_id), now=now)
    return order


def change_order(
    db: Connection, order: Order, values: Mapping[str, object], *, now: datetime
) -> Order:
    """Give fields of an order new values; the names are those of `NewOrder`."""
    check_change(order.status)
    changed = {name: value for name, value in values.items() if getattr(order, name) != value}
    if not changed:
        return order
    if changed.get("payment") == Payment.INVOICE_RECIPIENT and order.payment_token is None:
        changed["payment_token"] = _payment_token(Payment.INVOICE_RECIPIENT)

    updated = store.update_order(db, order, {**changed, "updated_at": now})
    if updated is None:
        raise WrongState(_CHANGED_MEANWHILE)
    record_event(db, order.id, OrderChanged(sorted(changed)), now=now)
    return updated


def move_order(db: Connection, order: Order, wanted: OrderStatus, *, now: datetime) -> Order:
    """Change the status and remember that it happened: all or nothing."""
    check_move(order.status, wanted)
    moved = store.update_order(db, order, {"status": wanted, "updated_at": now})
    if moved is None:
        raise WrongState(_CHANGED_MEANWHILE)
    happened = OrderMoved(order.status, wanted, order.merchant_order_id)
    record_event(db, order.id, happened, now=now)
    return moved


def cancel_order(db: Connection, order: Order, *, now: datetime) -> Order:
    """Cancel an order that still permits it."""
    check_move(order.status, OrderStatus.CANCELLED)
    if not PERMISSIONS[order.status].cancel:
        raise WrongState(f"This order is {order.status} and can no longer be cancelled.")
    return move_order(db, order, OrderStatus.CANCELLED, now=now)


def submit_order(db: Connection, order: Order, *, now: datetime) -> Order:
    """Hand a valid order that the merchant pays for to production."""
    check_move(order.status, OrderStatus.SUBMITTED)
    if order.payment is Payment.INVOICE_RECIPIENT:
        message = (
            "`status` cannot be Submitted for an order with payment InvoiceRecipient; "
            "set it to AwaitingPayment and send the recipient to `paymentUrl`."
        )
        raise BadInput(message)
    _check_valid(order)
    return move_order(db, order, OrderStatus.SUBMITTED, now=now)


def await_payment(db: Connection, order: Order, *, now: datetime) -> Order:
    """Let the recipient pay for a valid order."""
    check_move(order.status, OrderStatus.AWAITING_PAYMENT)
    if order.payment is Payment.INVOICE_ME:
        message = (
            "An order with payment InvoiceMe that is NotYetSubmitted cannot become "
            "AwaitingPayment; set its status to Submitted."
        )
        raise WrongState(message)
    _check_valid(order)
    return move_order(db, order, OrderStatus.AWAITING_PAYMENT, now=now)


def _check_valid(order: Order) -> None:
    errors = find_general_errors(
        recipient_name=order.recipient_name,
        address1=order.address1,
        town_or_city=order.town_or_city,
        postal_code=order.postal_code,
        destination_country=order.destination_country,
        # There is no way yet to add an image.
        image_count=0,
    )
    if errors:
        raise WrongState(f"The order cannot be submitted: {', '.join(errors)}.")


def _payment_token(payment: Payment) -> str | None:
    return secrets.token_urlsafe(24) if payment is Payment.INVOICE_RECIPIENT else None
