"""Requests and responses as Pydantic models."""

from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel


class ShippingMethod(StrEnum):
    """How fast the order is shipped."""

    BUDGET = "Budget"
    STANDARD = "Standard"
    EXPRESS = "Express"
    OVERNIGHT = "Overnight"


class Payment(StrEnum):
    """Who pays."""

    INVOICE_ME = "InvoiceMe"
    INVOICE_RECIPIENT = "InvoiceRecipient"


class Wire(BaseModel):
    """Camel case on the wire, snake case inside."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True, from_attributes=True)


class NewOrder(Wire):
    """What a merchant sends."""

    merchant_order_id: str | None = None
    recipient_name: str
    address1: str | None = None
    address2: str | None = None
    address_town_or_city: str | None = None
    state_or_county: str | None = None
    postal_or_zip_code: str | None = None
    country_code: str = Field(min_length=2, max_length=2)
    preferred_shipping_method: ShippingMethod
    payment: Payment = Payment.INVOICE_ME
    packing_slip_url: str | None = None
    mobile_telephone: str | None = None
    telephone: str | None = None
    email: str | None = None
    invoice_amount_net: int = 0
    invoice_tax: int = 0
    invoice_currency: str | None = None


class Shipment(Wire):
    """A shipment of an order."""

    shipment_id: str | None
    is_tracked: bool


class ShippingInfo(Wire):
    """All shipments of an order."""

    price: int = 0
    shipments: list[Shipment] = []


class Image(Wire):
    """An image of an order."""

    id: int
    sku: str


class OrderOut(Wire):
    """What a merchant gets back."""

    id: int
    merchant_order_id: str | None
    recipient_name: str
    address1: str | None
    address2: str | None
    address_town_or_city: str | None
    state_or_county: str | None
    postal_or_zip_code: str | None
    country_code: str
    mobile_telephone: str | None
    price: int
    status: str
    shipping_info: ShippingInfo = ShippingInfo()
    payment: Payment
    payment_url: str | None
    packing_slip_url: str | None
    images: list[Image] = []
    preferred_shipping_method: ShippingMethod
    created: datetime
    last_updated: datetime
    can_cancel: bool = True
    can_hold: bool = True
    can_update_shipping: bool = True
    can_update_images: bool = False
    error_message: str | None
    invoice_amount_net: int
    invoice_tax: int
    invoice_currency: str | None
    tag: str | None = None


class Envelope(Wire):
    """The wrapping of every answer."""

    data: OrderOut
    status_txt: str = "OK"
    status_code: int = 200
