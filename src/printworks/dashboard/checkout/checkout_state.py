"""What a recipient can do with an order now, and what the page shows of it."""

from collections.abc import Mapping
from datetime import datetime
from typing import Final

from printworks.actions.payments.checkout import Checkout, CheckoutItem
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.checkout.checkout_view import (
    CheckoutLineView,
    CheckoutState,
    CheckoutView,
    TotalRow,
    make_fields,
)
from printworks.dashboard.checkout.order_view import (
    METHODS,
    OrderMaking,
    OrderProgress,
    describe_progress,
    view_item,
    view_shop,
    write_address,
)
from printworks.dashboard.checkout.readers import RecipientReader
from printworks.dashboard.checkout.refusals import explain_decline, is_certain
from printworks.language.words import Words, mark
from printworks.rules.merchants import MerchantState
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import PaymentState
from printworks.rules.reasons import ReasonCode, has_reason
from printworks.rules.recipients import OPTIONAL
from printworks.store.money.payments import PaymentRequest
from printworks.wire.links import Links

_REFUNDS: Final[Mapping[PaymentState, str]] = {
    PaymentState.REFUNDING: mark("Your payment is refunded to the original payment method."),
    PaymentState.REFUNDED: mark(
        "Your payment was refunded to the original payment method. "
        "Banks may take a few days to show it."
    ),
    # How it is repaid after that is between the payer and the shop.
    PaymentState.REFUND_REJECTED: mark("Your payment is refunded."),
    PaymentState.REPAID: mark("Your payment was refunded."),
    # Nobody knows yet whether it was charged.
    PaymentState.CANCELLED: mark("Whatever was charged is refunded."),
}


def find_state(checkout: Checkout, *, can_pay: bool, now: datetime) -> CheckoutState:
    """Return what the recipient can do; `now` is the merchant's time."""
    order = checkout.order
    match order.status:
        case OrderStatus.CANCELLED:
            return CheckoutState.CANCELLED
        case OrderStatus.SUBMITTED | OrderStatus.COMPLETE:
            return CheckoutState.PAID
        case OrderStatus.NOT_YET_SUBMITTED:
            was_late = has_reason(order.reasons, ReasonCode.NOT_PAID_IN_TIME)
            return CheckoutState.EXPIRED if was_late else CheckoutState.NOT_READY
        case OrderStatus.AWAITING_PAYMENT:
            return _find_open_state(checkout, can_pay=can_pay, now=now)


def _find_open_state(checkout: Checkout, *, can_pay: bool, now: datetime) -> CheckoutState:
    order, payment = checkout.order, checkout.payment
    if order.payment_request_id is not None and payment is not None:
        is_asked = payment.state is PaymentState.WAITING and payment.url
        return CheckoutState.AT_BANK if is_asked else CheckoutState.FINDING_OUT
    is_open = checkout.merchant.state is MerchantState.ACTIVE
    if order.pay_until is None or not (can_pay and is_open and checkout.is_printable):
        return CheckoutState.NOT_READY
    if now >= order.pay_until:
        return CheckoutState.EXPIRED
    return CheckoutState.INCOMPLETE if checkout.missing else CheckoutState.PAYABLE


def describe_checkout(
    checkout: Checkout,
    state: CheckoutState,
    catalogue: Catalogue,
    links: Links,
    reader: RecipientReader,
) -> CheckoutView:
    """Return what the page shows, except for the form token."""
    order, payment, words = checkout.order, checkout.payment, reader.words
    country = words.country(order.destination_country)
    wanted = list_wanted(checkout) if state is CheckoutState.INCOMPLETE else []
    is_declined = payment is not None and payment.state is PaymentState.DECLINED
    return CheckoutView(
        state=state,
        shop=view_shop(checkout.shop),
        order=str(order.id),
        reference=order.merchant_order_id or "",
        currency=checkout.currency,
        total=checkout.total.total,
        lines=tuple(_describe_item(item, catalogue, links) for item in checkout.items),
        rows=_list_rows(checkout, words),
        # A form that asks for the postcode shows the country beside it.
        address=write_address(order, "" if "postal_code" in wanted else country),
        email=order.email or "",
        country=country,
        # An email that cannot be used is there to be corrected.
        fields=make_fields(
            wanted, order.destination_country or "", words, values={"email": order.email or ""}
        ),
        reason=explain_decline(payment.reason or "", words) if payment and is_declined else "",
        bank_url=(payment.url or "") if payment else "",
        refund=_explain_refund(payment, words) if payment else "",
        progress=_find_progress(checkout, catalogue, words)
        if state is CheckoutState.PAID
        else None,
        version=str((order.version, payment and payment.state, checkout.shop.profile)),
    )


def _explain_refund(payment: PaymentRequest, words: Words) -> str:
    """Say what becomes of what was charged; empty if nothing was."""
    state = payment.state
    if state is PaymentState.DECLINED and not is_certain(payment.reason or ""):
        state = PaymentState.CANCELLED
    return words.say(_REFUNDS[state]) if state in _REFUNDS else ""


def _find_progress(checkout: Checkout, catalogue: Catalogue, words: Words) -> OrderProgress:
    order, payment = checkout.order, checkout.payment
    images = [item.image for item in checkout.items]
    zone = checkout.shop.profile.time_zone
    making = OrderMaking(order, images, checkout.shipments, catalogue, zone)
    begun_at = payment.updated_at if payment else order.updated_at
    return describe_progress(making, words, begun_as=words.say("Paid"), begun_at=begun_at)


def _list_rows(checkout: Checkout, words: Words) -> tuple[TotalRow, ...]:
    total = checkout.total
    label = words.say("Tax included") if total.tax_included else words.say("Tax")
    tax = [TotalRow(label, total.tax)] if total.tax else []
    return (
        TotalRow(words.say("Prints"), total.items),
        TotalRow(words.say(METHODS[checkout.order.shipping_method]), total.shipping),
        *tax,
    )


def list_wanted(checkout: Checkout) -> list[str]:
    """Return which fields the recipient is asked for: what is missing, and what goes with it."""
    missing = checkout.missing
    if not {"address1", "town_or_city", "postal_code"} & {*missing}:
        return missing
    return [*missing, *(name for name in OPTIONAL if not getattr(checkout.order, name))]


def _describe_item(item: CheckoutItem, catalogue: Catalogue, links: Links) -> CheckoutLineView:
    line = item.line
    return CheckoutLineView(
        item=view_item(item.image, catalogue, links), each=line.each, total=line.total
    )
