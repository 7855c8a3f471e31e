"""Orders as 3.0 shows and takes them. Here `countryCode` is where the parcel goes."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Final, Self

import msgspec
from msgspec import UNSET, Meta, UnsetType

from printworks.errors import BadInput
from printworks.rules.orders import OrderStatus, Payment, ShippingMethod
from printworks.rules.quotes import keeps_quote
from printworks.store.orders.filters import OrderFilter
from printworks.store.orders.orders import NewOrder, Order
from printworks.wire.links import Links
from printworks.wire.orders import SHARED_NAMES, ShownOrder, show_shared_members
from printworks.wire.reading import Amount, CountryCode, CurrencyCode, Reader, Url, text
from printworks.wire.shipments import ShippingInfoOut
from printworks.wire.timestamps import read_end, read_timestamp, show_timestamp
from printworks.wire.v3.images import ImageOut

Line = Annotated[str, Meta(max_length=255), text(255)]
Telephone = Annotated[str, Meta(max_length=50), text(50)]
Email = Annotated[str, Meta(max_length=254), text(254)]


class CreateOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What makes an order."""

    recipientName: Line
    countryCode: CountryCode
    preferredShippingMethod: ShippingMethod
    merchantOrderId: Line | None = None
    address1: Line | None = None
    address2: Line | None = None
    addressTownOrCity: Line | None = None
    stateOrCounty: Line | None = None
    postalOrZipCode: Line | None = None
    payment: Payment = Payment.INVOICE_ME
    packingSlipUrl: Url | None = None
    mobileTelephone: Telephone | None = None
    telephone: Telephone | None = None
    email: Email | None = None
    invoiceAmountNet: Amount = 0
    invoiceTax: Amount = 0
    invoiceCurrency: CurrencyCode | None = None

    def to_new_order(self) -> NewOrder:
        return NewOrder(**{core: getattr(self, name) for name, core in CORE_NAMES.items()})


class UpdateOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What changes an order: null or nothing keeps what is stored, empty text clears it.

    A `countryCode` to which one of its images is not sold is refused.
    """

    recipientName: Line | UnsetType
    countryCode: CountryCode | UnsetType
    preferredShippingMethod: ShippingMethod | UnsetType
    merchantOrderId: Line | UnsetType | None = UNSET
    address1: Line | UnsetType | None = UNSET
    address2: Line | UnsetType | None = UNSET
    addressTownOrCity: Line | UnsetType | None = UNSET
    stateOrCounty: Line | UnsetType | None = UNSET
    postalOrZipCode: Line | UnsetType | None = UNSET
    payment: Payment | UnsetType | None = UNSET
    packingSlipUrl: Url | UnsetType | None = UNSET
    mobileTelephone: Telephone | UnsetType | None = UNSET
    telephone: Telephone | UnsetType | None = UNSET
    email: Email | UnsetType | None = UNSET
    invoiceAmountNet: Amount | UnsetType | None = UNSET
    invoiceTax: Amount | UnsetType | None = UNSET
    invoiceCurrency: CurrencyCode | UnsetType | None = UNSET

    def to_changes(self) -> dict[str, object]:
        """Say it in the words of the core, without what is to be kept."""
        wanted = {core: getattr(self, name) for name, core in CORE_NAMES.items()}
        return {
            core: WHEN_CLEARED.get(core) if value is None else value
            for core, value in wanted.items()
            if value is not UNSET
        }


# How 3.0 calls what the core calls otherwise.
CORE_NAMES: Final[Mapping[str, str]] = {
    **SHARED_NAMES,
    "countryCode": "destination_country",
    "preferredShippingMethod": "shipping_method",
    "packingSlipUrl": "packing_slip_url",
    "telephone": "telephone",
    "email": "email",
}


# What is never without a value goes back to the one it had by default.
WHEN_CLEARED: Final[Mapping[str, object]] = {
    "payment": Payment.INVOICE_ME,
    "invoice_amount_net": 0,
    "invoice_tax": 0,
}


class OrderOut(msgspec.Struct, frozen=True):
    """An order with every member that the contract names."""

    id: int
    merchantOrderId: str | None
    recipientName: str | None
    address1: str | None
    address2: str | None
    addressTownOrCity: str | None
    stateOrCounty: str | None
    postalOrZipCode: str | None
    countryCode: str | None
    mobileTelephone: str | None
    price: int
    status: OrderStatus
    shippingInfo: ShippingInfoOut
    payment: Payment
    paymentUrl: str | None
    images: list[ImageOut]
    preferredShippingMethod: ShippingMethod
    created: str
    lastUpdated: str
    canCancel: bool
    canHold: bool
    canUpdateShipping: bool
    canUpdateImages: bool
    errorMessage: str | None
    invoiceAmountNet: int
    invoiceTax: int
    invoiceCurrency: str | None
    packingSlipUrl: str | None
    tag: str | None
    # Until when an open order keeps its price.
    quoteExpiresAt: str | UnsetType = UNSET
    # Only where a seller collects tax: how much of it there is, and what is charged in all.
    tax: int | UnsetType = UNSET
    total: int | UnsetType = UNSET

    @classmethod
    def of(cls, shown: ShownOrder, links: Links) -> Self:
        order = shown.order
        return cls(
            **show_shared_members(shown, links),
            countryCode=order.destination_country,
            images=[ImageOut.of(image, links) for image in shown.images],
            preferredShippingMethod=order.shipping_method,
            # Images can be added, but 3.0 cannot remove them again.
            canUpdateImages=False,
            packingSlipUrl=order.packing_slip_url,
            tag=None,
            quoteExpiresAt=_show_expiry(order),
        )


def _show_expiry(order: Order) -> str | UnsetType:
    ends = order.quote_expires_at
    if ends is None or not keeps_quote(order.status, ends, order.payment_request_id):
        return UNSET
    return show_timestamp(ends)


class ListOrders(msgspec.Struct, frozen=True, kw_only=True):
    """Which orders to list: those that fit all that is given."""

    status: OrderStatus | None = None
    merchantOrderId: Line | None = None
    createdFrom: Annotated[datetime, Reader(read_timestamp)] | None = None
    createdTo: Annotated[datetime, Reader(read_end)] | None = None

    def to_filter(self) -> OrderFilter:
        first, end = self.createdFrom, self.createdTo
        if first is not None and end is not None and first >= end:
            raise BadInput("`createdFrom` must not be after `createdTo`.")
        return OrderFilter(self.status, self.merchantOrderId, first, end)


class SummaryLine(msgspec.Struct, frozen=True):
    """A figure with its name."""

    label: str
    value: str


class OrderListOut(msgspec.Struct, frozen=True):
    """A page of orders, and how many there are in all.

    `nextStart` is there only if the page was cut, because its orders have very many images: the
    other orders of the page begin there.
    """

    content: list[OrderOut]
    count: int
    summary: list[SummaryLine]
    nextStart: int | UnsetType = UNSET

    @classmethod
    def of(cls, orders: list[OrderOut], total: int, rest: int | None = None) -> Self:
        return cls(
            content=orders,
            count=total,
            summary=[SummaryLine("Orders", str(total))],
            nextStart=UNSET if rest is None else rest,
        )
