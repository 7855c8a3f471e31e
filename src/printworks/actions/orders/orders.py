"""What can be done with an order: check, change, record, promise, in the caller's transaction."""

import secrets
from collections.abc import Mapping
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from printworks.actions.orders.moves import CHANGED_MEANWHILE, move_order
from printworks.actions.orders.quotes import quote_order
from printworks.actions.payments.charges import ON_ACCOUNT
from printworks.actions.payments.payments import (
    ask_again,
    ask_for_payment,
    cancel_payment,
    refund_order,
)
from printworks.actions.production.production import permissions_of, stop_labs
from printworks.actions.submission.submission import require_payable, require_valid
from printworks.actions.submission.submitting import release_to_production
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, WrongState
from printworks.rules.events import OrderChanged, OrderCreated
from printworks.rules.issues import check_not_compensated
from printworks.rules.jobs import JobKind
from printworks.rules.orders import (
    OrderStatus,
    Payment,
    check_change,
    check_move,
    check_not_being_paid,
)
from printworks.rules.payments import Cards, Payer, forget_refusal, is_on_account
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import clear_prices_to_user
from printworks.store.images.packing_slips import drop_packing_slip, want_packing_slip
from printworks.store.issues.issues import is_compensated
from printworks.store.labs.shipments import drop_planned, list_shipments
from printworks.store.money.ledger import lock_books
from printworks.store.money.payments import PaymentRequest, get_card
from printworks.store.orders import orders as store
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import NewOrder, Order
from printworks.store.queue.jobs import enqueue

# What the price of an order and its labs depend on.
_PRICED_BY: Final = frozenset({"destination_country", "shipping_method", "is_tracked"})


def create_order(
    db: Connection,
    merchant: Merchant,
    new: NewOrder,
    *,
    now: datetime,
    request_id: str | None = None,
) -> Order:
    """Make an order that can still be changed in every way."""
    order, place = store.insert_order(
        db,
        merchant.id,
        new,
        status=OrderStatus.NOT_YET_SUBMITTED,
        payment_token=_payment_token(new.payment),
        now=now,
    )
    created = OrderCreated(order.status, order.merchant_order_id)
    record_event(db, order.id, created, now=now, place=place)
    if order.packing_slip_url:
        _enqueue_packing_slip(db, merchant, order, now=now, request_id=request_id)
    return order


def change_order(
    db: Connection,
    merchant: Merchant,
    order: Order,
    values: Mapping[str, object],
    *,
    catalogue: Catalogue,
    now: datetime,
    request_id: str | None = None,
) -> Order:
    """Give fields of an order new values; the names are those of `NewOrder`."""
    check_change(order.status)
    check_not_being_paid(order.payment_request_id)
    changed = {name: value for name, value in values.items() if getattr(order, name) != value}
    if not changed:
        return order
    if changed.get("payment") == Payment.INVOICE_RECIPIENT and order.payment_token is None:
        changed["payment_token"] = _payment_token(Payment.INVOICE_RECIPIENT)

    # What was said about the old packing slip is no longer true.
    silenced = {"error_message": None} if "packing_slip_url" in changed else {}
    updated = store.update_order(db, order, {**changed, **silenced, "updated_at": now})
    if updated is None:
        raise WrongState(CHANGED_MEANWHILE)
    record_event(db, order.id, OrderChanged(sorted(changed)), now=now)
    if "packing_slip_url" in changed:
        _replace_packing_slip(db, merchant, updated, now=now, request_id=request_id)
    if changed.get("payment") == Payment.INVOICE_ME:
        clear_prices_to_user(db, order.id)
    if order.image_count and not _PRICED_BY.isdisjoint(changed):
        return quote_order(db, merchant, updated, catalogue, now=now)
    return updated


def _replace_packing_slip(
    db: Connection, merchant: Merchant, order: Order, *, now: datetime, request_id: str | None
) -> None:
    dropped = drop_packing_slip(db, order.id)
    if dropped is not None:
        enqueue(db, JobKind.REMOVE_FILES, {"files": [dropped]}, merchant=merchant, now=now)
    if order.packing_slip_url:
        _enqueue_packing_slip(db, merchant, order, now=now, request_id=request_id)


def _enqueue_packing_slip(
    db: Connection, merchant: Merchant, order: Order, *, now: datetime, request_id: str | None
) -> None:
    url = order.packing_slip_url or ""
    want_packing_slip(db, order.id, url, now=now)
    enqueue(
        db,
        JobKind.FETCH_PACKING_SLIP,
        {"order": order.id, "url": url},
        merchant=merchant,
        now=now,
        request_id=request_id,
    )


def cancel_order(
    db: Connection, merchant: Merchant, order: Order, *, catalogue: Catalogue, now: datetime
) -> Order:
    """Cancel an order that still permits it, give the money back and tell its labs."""
    check_move(order.status, OrderStatus.CANCELLED)
    shipments = list_shipments(db, order.id)
    if not permissions_of(order, shipments, catalogue).cancel:
        message = (
            f"An order that is {order.status} and at a lab that has begun with it cannot become "
            f"{OrderStatus.CANCELLED}."
        )
        raise WrongState(message)
    if order.status is OrderStatus.SUBMITTED:
        check_not_compensated(is_compensated=is_compensated(db, order.id))
        refund_order(db, merchant, order, now=now)
        stop_labs(db, merchant, order, now=now)
    cancel_payment(db, merchant, order, now=now)
    # Nothing will travel.
    drop_planned(db, order.id)
    return move_order(
        db,
        order,
        OrderStatus.CANCELLED,
        now=now,
        payment_request_id=None,
        pay_until=None,
        held_at=None,
    )


def submit_order(
    db: Connection,
    merchant: Merchant,
    order: Order,
    *,
    catalogue: Catalogue,
    cards: Cards | None = None,
    needs_recipient: bool = True,
    now: datetime,
    request_id: str | None = None,
) -> Order | PaymentRequest:
    """Hand a valid order to production, if the merchant may owe what it costs.

    Whose card is charged gets a payment instead: the caller asks its provider, outside of any
    transaction, and settles what that says. While one is under way, it is returned again.
    """
    check_move(order.status, OrderStatus.SUBMITTED)
    if order.payment is Payment.INVOICE_RECIPIENT:
        message = (
            "`status` cannot be Submitted for an order with payment InvoiceRecipient; "
            "set it to AwaitingPayment and send the recipient to `paymentUrl`."
        )
        raise BadInput(message)
    if order.payment_request_id is not None:
        return ask_again(db, order.payment_request_id, now=now)
    on_account = is_on_account(merchant.billing, cards)
    if on_account:
        # Held from here on: two orders at once must not both find room below the same limit.
        lock_books(db, merchant.id)
    images = require_valid(
        db, order, catalogue, on_account=on_account, needs_recipient=needs_recipient
    ).images
    # Nobody is asked for nothing.
    if cards is None or on_account or order.price == 0:
        return release_to_production(
            db,
            merchant,
            order,
            images,
            catalogue=catalogue,
            provider=ON_ACCOUNT,
            now=now,
            request_id=request_id,
        )
    return ask_for_payment(
        db,
        merchant,
        order,
        cards,
        payer=Payer.MERCHANT,
        amount=order.price,
        card=get_card(db, merchant.id),
        now=now,
        request_id=request_id,
    )


def await_payment(
    db: Connection,
    merchant: Merchant,
    order: Order,
    *,
    catalogue: Catalogue,
    cards: Cards | None,
    now: datetime,
) -> Order:
    """Let the recipient pay for an order; an address that is missing is asked for then."""
    check_move(order.status, OrderStatus.AWAITING_PAYMENT)
    if order.payment is Payment.INVOICE_ME:
        message = (
            "An order with payment InvoiceMe that is NotYetSubmitted cannot become "
            "AwaitingPayment; set its status to Submitted."
        )
        raise WrongState(message)
    if cards is None:
        raise WrongState("Recipients cannot pay here; set `payment` to InvoiceMe.")
    on_account = is_on_account(merchant.billing, cards)
    require_payable(db, order, catalogue, on_account=on_account)
    pay_until = now + cards.checkout_within
    enqueue(
        db,
        JobKind.END_CHECKOUT,
        {"order": order.id},
        merchant=merchant,
        now=now,
        wait=cards.checkout_within,
    )
    return move_order(
        db,
        order,
        OrderStatus.AWAITING_PAYMENT,
        now=now,
        pay_until=pay_until,
        error_message=forget_refusal(order.error_message),
    )


def _payment_token(payment: Payment) -> str | None:
    return secrets.token_urlsafe(24) if payment is Payment.INVOICE_RECIPIENT else None
