"""What every version shows of an order in the same way."""

from collections.abc import Mapping
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, NamedTuple

import msgspec

from printworks.rules.orders import OrderStatus, Payment, Permissions
from printworks.rules.reasons import write_reasons
from printworks.store.images.images import Images
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipments
from printworks.wire.links import Links
from printworks.wire.shipments import ShipmentOut, ShippingInfoOut
from printworks.wire.timestamps import show_timestamp


class ShownOrder(NamedTuple):
    """All that a response shows of an order."""

    order: Order
    images: Images
    shipments: Shipments
    permissions: Permissions


class WantedStatus(StrEnum):
    """The statuses that a merchant may ask for."""

    CANCELLED = OrderStatus.CANCELLED.value
    AWAITING_PAYMENT = OrderStatus.AWAITING_PAYMENT.value
    SUBMITTED = OrderStatus.SUBMITTED.value


class SetStatus(msgspec.Struct, frozen=True):
    """The status that an order should have."""

    status: WantedStatus


# How the core calls the members that have the same name and meaning in every version.
SHARED_NAMES: Final[Mapping[str, str]] = {
    "recipientName": "recipient_name",
    "address1": "address1",
    "address2": "address2",
    "addressTownOrCity": "town_or_city",
    "stateOrCounty": "state_or_county",
    "postalOrZipCode": "postal_code",
    "mobileTelephone": "mobile_telephone",
    "merchantOrderId": "merchant_order_id",
    "payment": "payment",
    "invoiceAmountNet": "invoice_amount_net",
    "invoiceTax": "invoice_tax",
    "invoiceCurrency": "invoice_currency",
}


_read_shared: Final = attrgetter(*SHARED_NAMES.values())


def show_shared_members(shown: ShownOrder, links: Links) -> dict[str, Any]:
    """Return the members that have the same name and meaning in every version."""
    order, _, shipments, permissions = shown
    is_cancelled = order.status is OrderStatus.CANCELLED
    return {
        **_show_tax(order, is_cancelled=is_cancelled),
        **dict(zip(SHARED_NAMES, _read_shared(order), strict=True)),
        "id": order.id,
        "price": 0 if is_cancelled else order.price,
        "status": order.status,
        "shippingInfo": ShippingInfoOut(
            price=0 if is_cancelled else order.shipping_price,
            shipments=[ShipmentOut.of(shipment) for shipment in shipments],
        ),
        "paymentUrl": _find_payment_url(order, links),
        "created": show_timestamp(order.created_at),
        "lastUpdated": show_timestamp(order.updated_at),
        "canCancel": permissions.cancel,
        "canHold": permissions.hold,
        "canUpdateShipping": permissions.update_shipping,
        "errorMessage": write_reasons(order.reasons),
    }


def _show_tax(order: Order, *, is_cancelled: bool) -> dict[str, int]:
    """Return the members that an order has where a seller collects tax."""
    if order.tax is None:
        return {}
    return {"tax": 0, "total": 0} if is_cancelled else {"tax": order.tax, "total": order.total}


def _find_payment_url(order: Order, links: Links) -> str | None:
    if order.payment is not Payment.INVOICE_RECIPIENT or order.payment_token is None:
        return None
    return links.payment(order.payment_token)
