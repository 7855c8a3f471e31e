"""What a recipient can do with an order now, and what the page shows of it."""

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
from printworks.dashboard.shared.labels import name_attribute, name_country
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import PaymentState
from printworks.rules.reasons import ReasonCode, has_reason
from printworks.rules.recipients import OPTIONAL
from printworks.store.orders.orders import Order
from printworks.wire.links import Links

_REFUNDED: Final = frozenset({PaymentState.REFUNDING, PaymentState.REFUNDED})
# What some write where there is no postcode.
_NO_POSTCODE: Final = "-"


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
    if order.pay_until is None or not can_pay or not checkout.is_printable:
        return CheckoutState.NOT_READY
    if now >= order.pay_until:
        return CheckoutState.EXPIRED
    return CheckoutState.INCOMPLETE if checkout.missing else CheckoutState.PAYABLE


def describe_checkout(
    checkout: Checkout, state: CheckoutState, catalogue: Catalogue, links: Links, *, page: str
) -> CheckoutView:
    """Return what the page shows, except for the form token."""
    order, payment, total = checkout.order, checkout.payment, checkout.total
    country = name_country(order.destination_country)
    is_incomplete = state is CheckoutState.INCOMPLETE
    wanted = list_wanted(checkout) if is_incomplete else []
    return CheckoutView(
        page=page,
        state=state,
        merchant=checkout.merchant.name,
        order=str(order.id),
        currency=checkout.currency,
        total=total.total,
        lines=tuple(_describe_item(item, catalogue, links) for item in checkout.items),
        rows=(
            TotalRow("Prints", total.items),
            TotalRow(f"Shipping ({order.shipping_method})", total.shipping),
            *([TotalRow("Tax", total.tax)] if total.tax else []),
        ),
        # A form that asks for the postcode shows the country beside it.
        address=_write_address(order, "" if "postal_code" in wanted else country),
        email=order.email or "",
        country=country,
        fields=make_fields(wanted, order.destination_country or ""),
        reason=(payment.reason or "") if payment and payment.state is PaymentState.DECLINED else "",
        bank_url=(payment.url or "") if payment else "",
        is_refunded=payment is not None and payment.state in _REFUNDED,
    )


def list_wanted(checkout: Checkout) -> list[str]:
    """Return which fields the recipient is asked for: what is missing, and what goes with it."""
    missing = checkout.missing
    if not {"address1", "town_or_city", "postal_code"} & {*missing}:
        return missing
    return [*missing, *(name for name in OPTIONAL if not getattr(checkout.order, name))]


def _write_address(order: Order, country: str) -> tuple[str, ...]:
    postcode = "" if order.postal_code == _NO_POSTCODE else order.postal_code
    place = ", ".join(
        part for part in (order.town_or_city, order.state_or_county, postcode) if part
    )
    lines = (order.recipient_name, order.address1, order.address2, place, country)
    return tuple(line for line in lines if line)


def _describe_item(item: CheckoutItem, catalogue: Catalogue, links: Links) -> CheckoutLineView:
    image, line = item.image, item.line
    product = catalogue.find_product(image.sku)
    _, thumbnail = links.proofs(image.id, image.edition)
    return CheckoutLineView(
        description=product.description if product else image.sku,
        choices=tuple(
            f"{name_attribute(name)}: {value}" for name, value in image.attributes.items()
        ),
        copies=line.copies,
        each=line.each,
        total=line.total,
        thumbnail=thumbnail if image.has_proofs else "",
        mockup=links.mockup(image.id, image.edition) if image.mockup else "",
    )
