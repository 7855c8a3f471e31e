"""What can be done with an order: check, change, record, promise, in the caller's transaction."""

import secrets
from collections.abc import Mapping
from datetime import datetime

from sqlalchemy import Connection

from printworks.actions.images import promise_prints
from printworks.actions.submission import require_valid
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, WrongState
from printworks.rules.events import OrderChanged, OrderCreated, OrderMoved
from printworks.rules.jobs import JobKind
from printworks.rules.orders import (
    PERMISSIONS,
    OrderStatus,
    Payment,
    check_change,
    check_move,
)
from printworks.store import orders as store
from printworks.store.events import record_event
from printworks.store.jobs import promise
from printworks.store.merchants import Merchant
from printworks.store.orders import NewOrder, Order
from printworks.store.packing_slips import drop_packing_slip, want_packing_slip

_CHANGED_MEANWHILE = "The order has just changed. Read it again before you retry."


def create_order(
    db: Connection,
    merchant: Merchant,
    new: NewOrder,
    *,
    now: datetime,
    request_id: str | None = None,
) -> Order:
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
    if order.packing_slip_url:
        _promise_packing_slip(db, merchant, order, now=now, request_id=request_id)
    return order


def change_order(
    db: Connection,
    merchant: Merchant,
    order: Order,
    values: Mapping[str, object],
    *,
    now: datetime,
    request_id: str | None = None,
) -> Order:
    """Give fields of an order new values; the names are those of `NewOrder`."""
    check_change(order.status)
    changed = {name: value for name, value in values.items() if getattr(order, name) != value}
    if not changed:
        return order
    if changed.get("payment") == Payment.INVOICE_RECIPIENT and order.payment_token is None:
        changed["payment_token"] = _payment_token(Payment.INVOICE_RECIPIENT)

    if "packing_slip_url" in changed:
        # What was said about the old one is no longer true.
        changed["error_message"] = None
    updated = store.update_order(db, order, {**changed, "updated_at": now})
    if updated is None:
        raise WrongState(_CHANGED_MEANWHILE)
    record_event(db, order.id, OrderChanged(sorted(changed)), now=now)
    if "packing_slip_url" in changed:
        drop_packing_slip(db, order.id)
        if updated.packing_slip_url:
            _promise_packing_slip(db, merchant, updated, now=now, request_id=request_id)
    return updated


def _promise_packing_slip(
    db: Connection, merchant: Merchant, order: Order, *, now: datetime, request_id: str | None
) -> None:
    url = order.packing_slip_url or ""
    want_packing_slip(db, order.id, url, now=now)
    promise(
        db,
        JobKind.FETCH_PACKING_SLIP,
        {"order": order.id, "url": url},
        merchant=merchant,
        now=now,
        request_id=request_id,
    )


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


def submit_order(
    db: Connection,
    merchant: Merchant,
    order: Order,
    *,
    catalogue: Catalogue,
    now: datetime,
    request_id: str | None = None,
) -> Order:
    """Hand a valid order that the merchant pays for to production."""
    check_move(order.status, OrderStatus.SUBMITTED)
    if order.payment is Payment.INVOICE_RECIPIENT:
        message = (
            "`status` cannot be Submitted for an order with payment InvoiceRecipient; "
            "set it to AwaitingPayment and send the recipient to `paymentUrl`."
        )
        raise BadInput(message)
    status = require_valid(db, order, catalogue)
    submitted = move_order(db, order, OrderStatus.SUBMITTED, now=now)
    promise_prints(db, merchant, status.images, now=now, request_id=request_id)
    return submitted


def await_payment(db: Connection, order: Order, *, catalogue: Catalogue, now: datetime) -> Order:
    """Let the recipient pay for a valid order."""
    check_move(order.status, OrderStatus.AWAITING_PAYMENT)
    if order.payment is Payment.INVOICE_ME:
        message = (
            "An order with payment InvoiceMe that is NotYetSubmitted cannot become "
            "AwaitingPayment; set its status to Submitted."
        )
        raise WrongState(message)
    require_valid(db, order, catalogue)
    return move_order(db, order, OrderStatus.AWAITING_PAYMENT, now=now)


def _payment_token(payment: Payment) -> str | None:
    return secrets.token_urlsafe(24) if payment is Payment.INVOICE_RECIPIENT else None
