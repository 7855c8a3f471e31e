"""The recipient pays: what for and how much, where it goes, and the end of the time for it."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection

from printworks.actions.orders.moves import move_order
from printworks.actions.payments.charges import ON_ACCOUNT
from printworks.actions.payments.payments import ask_again, ask_for_payment
from printworks.actions.payments.totals import line_for_recipient, total_for_recipient
from printworks.actions.submission.submission import check_submission, require_printable
from printworks.actions.submission.submitting import release_to_production
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, WrongState
from printworks.rules.events import OrderChanged
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import (
    Cards,
    CheckoutLine,
    CheckoutTotal,
    Payer,
    explain_refusal,
)
from printworks.rules.recipients import NEEDED, OPTIONAL, find_problems, tidy
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.images.images import Image, list_images
from printworks.store.money.payments import PaymentRequest, find_last_request, get_request
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import (
    Order,
    find_order_by_token,
    get_any_order_to_change,
    update_order,
)

NOT_PAID_IN_TIME: Final = "The recipient did not pay in time."


class CheckoutItem(msgspec.Struct, frozen=True):
    """An image, and what the recipient pays for it."""

    image: Image
    line: CheckoutLine


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """All that a recipient sees before and after paying."""

    order: Order
    merchant: Merchant
    items: list[CheckoutItem]
    total: CheckoutTotal
    currency: Currency
    # The payment that was last asked for, if any.
    payment: PaymentRequest | None
    # Whether every image can be made, as far as is known.
    is_printable: bool

    @property
    def missing(self) -> list[str]:
        """What the recipient must still tell us, by the names of `NEEDED`."""
        return _list_missing(self.order)


def find_checkout(db: Connection, token: str, catalogue: Catalogue) -> Checkout | None:
    """Return what can be paid for at an address; None if there is nothing."""
    order = find_order_by_token(db, token)
    if order is None or order.payment is not Payment.INVOICE_RECIPIENT:
        return None
    merchant = get_merchant(db, order.merchant_id)
    images = list_images(db, order.id)
    return Checkout(
        order=order,
        merchant=merchant,
        items=[CheckoutItem(image, line_for_recipient(image)) for image in images],
        total=total_for_recipient(order, images),
        currency=order.currency or merchant.currency,
        payment=find_last_request(db, order.id),
        is_printable=check_submission(db, order, catalogue).is_printable,
    )


def complete_recipient(
    db: Connection, checkout: Checkout, given: Mapping[str, str], *, now: datetime
) -> Order:
    """Take from the recipient what the merchant did not say; what it did say stays.

    Raise `BadInput` unless `find_problems` finds none.
    """
    order = get_any_order_to_change(db, checkout.order.id)
    _require_open(order, now=now)
    for name, sentence in find_problems(_list_missing(order), given).items():
        raise BadInput(f"`{name}`: {sentence}")
    changes = {
        name: value
        for name in (*NEEDED, *OPTIONAL)
        if (value := tidy(given.get(name, ""))) and not getattr(order, name)
    }
    if not changes:
        return order
    record_event(db, order.id, OrderChanged(sorted(changes)), now=now)
    return update_order(db, order, {**changes, "updated_at": now}) or order


def _list_missing(order: Order) -> list[str]:
    return [name for name in NEEDED if not getattr(order, name)]


def pay_as_recipient(
    db: Connection, checkout: Checkout, *, cards: Cards, catalogue: Catalogue, now: datetime
) -> PaymentRequest | None:
    """Ask the recipient for the money; the payment that is under way, if there is one.

    None, and the order is handed in, if the recipient has nothing to pay.
    """
    order = get_any_order_to_change(db, checkout.order.id)
    _require_open(order, now=now)
    if order.payment_request_id is not None:
        return ask_again(db, order.payment_request_id, now=now)
    require_printable(db, order, catalogue)
    merchant = get_merchant(db, order.merchant_id)
    if checkout.total.total == 0:
        images = [item.image for item in checkout.items]
        release_to_production(
            db, merchant, order, images, catalogue=catalogue, provider=ON_ACCOUNT, now=now
        )
        return None
    return ask_for_payment(
        db,
        merchant,
        order,
        cards,
        payer=Payer.RECIPIENT,
        amount=checkout.total.total,
        now=now,
    )


def _require_open(order: Order, *, now: datetime) -> None:
    if order.status is not OrderStatus.AWAITING_PAYMENT or order.pay_until is None:
        raise WrongState("The order does not wait for a payment.")
    if now >= order.pay_until:
        raise WrongState("The time for the payment is over.")


def end_checkout(db: Connection, order_id: int, *, now: datetime) -> timedelta | None:
    """Give an order back to its merchant if its recipient's time is over.

    Return how long to wait while the recipient is just paying. `now` is the real time; the
    merchant's may be ahead.
    """
    order = get_any_order_to_change(db, order_id)
    now += get_merchant(db, order.merchant_id).clock_offset
    is_over = order.pay_until is not None and now >= order.pay_until
    if order.status is not OrderStatus.AWAITING_PAYMENT or not is_over:
        return None
    if order.payment_request_id is not None:
        request = get_request(db, order.payment_request_id)
        return request.expires_at - now
    move_order(
        db,
        order,
        OrderStatus.NOT_YET_SUBMITTED,
        now=now,
        pay_until=None,
        error_message=explain_refusal(NOT_PAID_IN_TIME),
    )
    return None
