"""The checkout, where a recipient pays for an order and completes its address."""

from collections.abc import Mapping
from datetime import datetime, timedelta

import msgspec

from printworks.actions.orders.moves import move_order
from printworks.actions.payments.charges import ON_ACCOUNT
from printworks.actions.payments.payments import request_payment, resume_payment
from printworks.actions.payments.totals import line_for_recipient, total_for_recipient
from printworks.actions.production.release import release_to_production
from printworks.actions.submission.check import check_submission, require_printable
from printworks.actions.work import SystemWork, Work
from printworks.catalogue.products import Currency
from printworks.errors import BadInput, WrongState
from printworks.rules.events import OrderChanged
from printworks.rules.mail import find_address
from printworks.rules.merchants import MerchantState
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import CheckoutLine, CheckoutTotal
from printworks.rules.reasons import Reason, ReasonCode, add_reason
from printworks.rules.recipients import NEEDED, OPTIONAL, find_problems, tidy
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.accounts.shops import Shop, get_shop
from printworks.store.images.images import Image, list_images
from printworks.store.money.payments import PaymentRequest, find_last_request, get_request
from printworks.store.orders.orders import (
    Order,
    find_order_by_token,
    get_any_order_to_change,
    update_order,
)
from printworks.store.orders.shipments import Shipment, list_shipments


class CheckoutItem(msgspec.Struct, frozen=True):
    """An image, and what the recipient pays for it."""

    image: Image
    line: CheckoutLine


class Checkout(msgspec.Struct, frozen=True, kw_only=True):
    """What a recipient sees before and after paying."""

    order: Order
    merchant: Merchant
    shop: Shop
    items: list[CheckoutItem]
    total: CheckoutTotal
    currency: Currency
    # The last payment, if any.
    payment: PaymentRequest | None
    # Whether every image can be made, as far as is known.
    is_printable: bool
    # Without those that were replaced.
    shipments: list[Shipment]

    @property
    def missing(self) -> list[str]:
        """What the recipient must still fill in or correct, by the names of `NEEDED`."""
        return _list_missing(self.order)


def find_checkout(system: SystemWork, token: str) -> Checkout | None:
    """Return the checkout with a token; None if there is none."""
    order = find_order_by_token(system.db, token)
    if order is None or order.payment is not Payment.INVOICE_RECIPIENT:
        return None
    merchant = get_merchant(system.db, order.merchant_id)
    work = system.for_merchant(merchant)
    images = list_images(work.db, order.id)
    return Checkout(
        order=order,
        merchant=merchant,
        shop=get_shop(work.db, merchant.id),
        items=[CheckoutItem(image, line_for_recipient(image)) for image in images],
        total=total_for_recipient(order, images),
        currency=order.currency or merchant.currency,
        payment=find_last_request(work.db, order.id),
        is_printable=check_submission(work, order).is_printable,
        shipments=list_shipments(work.db, order.id),
    )


def complete_recipient(work: Work, checkout: Checkout, given: Mapping[str, str]) -> Order:
    """Fill in from the recipient what is missing or cannot be used; the rest stays.

    Raise `BadInput` if `find_problems` finds any.
    """
    order = get_any_order_to_change(work.db, checkout.order.id)
    _require_open(order, now=work.now)
    missing = _list_missing(order)
    for name, sentence in find_problems(missing, given).items():
        raise BadInput(f"`{name}`: {sentence}")
    empty = [name for name in OPTIONAL if not getattr(order, name)]
    changes = {name: value for name in (*missing, *empty) if (value := tidy(given.get(name, "")))}
    if not changes:
        return order
    work.record(order.id, OrderChanged(sorted(changes)))
    return update_order(work.db, order, {**changes, "updated_at": work.now})


def _list_missing(order: Order) -> list[str]:
    # The API takes any text for an email; nobody could pay with one that the provider refuses.
    usable = {name: getattr(order, name) for name in NEEDED} | {"email": find_address(order.email)}
    return [name for name in NEEDED if not usable[name]]


def pay_as_recipient(work: Work, checkout: Checkout) -> PaymentRequest | None:
    """Request the payment, or return the one that is under way.

    Return None, and release the order to production, if there is nothing to pay.
    """
    order = get_any_order_to_change(work.db, checkout.order.id)
    _require_open(order, now=work.now)
    if order.payment_request_id is not None:
        return resume_payment(work, order.payment_request_id)
    # In words for the recipient, who knows nothing of the account.
    if work.merchant.state is not MerchantState.ACTIVE:
        raise WrongState("The shop cannot take orders at the moment. Please ask it.")
    require_printable(work, order)
    if work.cards is None:
        raise WrongState("Recipients cannot pay here.")
    # Read again: the checkout was read before the order was locked.
    images = list_images(work.db, order.id)
    amount = total_for_recipient(order, images).total
    if amount != checkout.total.total:
        raise WrongState("The amount has changed since it was shown.")
    if amount == 0:
        release_to_production(work, order, images, provider=ON_ACCOUNT)
        return None
    return request_payment(work, order, work.cards, amount=amount)


def _require_open(order: Order, *, now: datetime) -> None:
    if order.status is not OrderStatus.AWAITING_PAYMENT or order.pay_until is None:
        raise WrongState("The order does not wait for a payment.")
    if now >= order.pay_until:
        raise WrongState("The time for the payment is over.")


def end_checkout(system: SystemWork, order_id: int) -> timedelta | None:
    """Return an order to its merchant if the recipient did not pay in time.

    While a payment is under way, return how long to wait for it.
    """
    work, order = system.lock_order(order_id)
    is_over = order.pay_until is not None and work.now >= order.pay_until
    if order.status is not OrderStatus.AWAITING_PAYMENT or not is_over:
        return None
    if order.payment_request_id is not None:
        return get_request(work.db, order.payment_request_id).expires_at - work.now
    move_order(
        work,
        order,
        OrderStatus.NOT_YET_SUBMITTED,
        pay_until=None,
        reasons=add_reason(order.reasons, Reason(ReasonCode.NOT_PAID_IN_TIME)),
    )
    return None
