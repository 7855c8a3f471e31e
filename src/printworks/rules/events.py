"""What can happen to an order, as facts that stay true whatever happens next."""

import msgspec

from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus


class ShipmentFact(msgspec.Struct, frozen=True, kw_only=True):
    """A shipment as it was at that moment."""

    id: int
    items: list[int]
    is_shipped: bool
    carrier: str
    tracking_number: str | None
    tracking_url: str | None


class OrderCreated(msgspec.Struct, frozen=True, tag="order-created"):
    """An order came into being."""

    status: OrderStatus
    merchant_order_id: str | None


class OrderMoved(msgspec.Struct, frozen=True, tag="order-moved"):
    """An order went from one status to another."""

    was: OrderStatus
    status: OrderStatus
    merchant_order_id: str | None
    shipments: list[ShipmentFact] = []


class OrderChanged(msgspec.Struct, frozen=True, tag="order-changed"):
    """Fields of an order got new values; which ones, but not the values: they are personal."""

    fields: list[str]


class ImagesAdded(msgspec.Struct, frozen=True, tag="images-added"):
    """Images joined an order."""

    images: list[int]


class ImageJudged(msgspec.Struct, frozen=True, tag="image-judged"):
    """An image was received, or could not be."""

    image: int
    status: ImageStatus


class ImageRendered(msgspec.Struct, frozen=True, tag="image-rendered"):
    """The print file of an image was drawn."""

    image: int
    sha256: str


class PackingSlipJudged(msgspec.Struct, frozen=True, tag="packing-slip-judged"):
    """The packing slip was received, or could not be."""

    status: ImageStatus


class ShipmentsChanged(msgspec.Struct, frozen=True, kw_only=True, tag="shipments-changed"):
    """Shipments were created, or went further."""

    status: OrderStatus
    merchant_order_id: str | None
    changed: list[int]
    shipments: list[ShipmentFact]


class OrderHeld(msgspec.Struct, frozen=True, kw_only=True, tag="order-held"):
    """An order, or one shipment of it, must wait."""

    shipment: int | None
    reason: str


class OrderReleased(msgspec.Struct, frozen=True, tag="order-released"):
    """An order need not wait any more."""


class OrderCharged(msgspec.Struct, frozen=True, kw_only=True, tag="order-charged"):
    """The merchant was charged, in minor units."""

    amount: int
    currency: str
    provider: str
    reference: str


class OrderRefunded(msgspec.Struct, frozen=True, kw_only=True, tag="order-refunded"):
    """The merchant got back what was charged."""

    amount: int
    currency: str
    provider: str
    reference: str


OrderEvent = (
    OrderCreated
    | OrderMoved
    | OrderChanged
    | ImagesAdded
    | ImageJudged
    | ImageRendered
    | PackingSlipJudged
    | ShipmentsChanged
    | OrderHeld
    | OrderReleased
    | OrderCharged
    | OrderRefunded
)
