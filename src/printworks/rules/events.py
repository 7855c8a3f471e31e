"""What can happen to an order, as facts that stay true whatever happens next."""

from enum import StrEnum

import msgspec

from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueState
from printworks.rules.orders import OrderStatus


class CallbackState(StrEnum):
    """How far the telling of an event has come."""

    # There was no address to tell.
    QUIET = "quiet"
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "given-up"


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
    # Whether it went there before all its pictures had arrived.
    lacks_images: bool = False


class OrderChanged(msgspec.Struct, frozen=True, tag="order-changed"):
    """Fields of an order got new values; which ones, but not the values: they are personal."""

    fields: list[str]


class ImagesAdded(msgspec.Struct, frozen=True, tag="images-added"):
    """Images joined an order."""

    images: list[int]


class ImageRemoved(msgspec.Struct, frozen=True, tag="image-removed"):
    """An image left an order."""

    image: int


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


class IssueMoved(msgspec.Struct, frozen=True, kw_only=True, tag="issue-moved"):
    """An issue of the order was opened, or went further."""

    issue: int
    was: IssueState | None
    state: IssueState


class OrderCompensated(msgspec.Struct, frozen=True, kw_only=True, tag="order-compensated"):
    """Because of an issue the merchant got money back, in minor units, or another order."""

    issue: int
    refund: int | None
    currency: str | None
    reprint: int | None


class OrderReprints(msgspec.Struct, frozen=True, kw_only=True, tag="order-reprints"):
    """The order prints again what another one did not get right, at no charge."""

    order: int
    issue: int


OrderEvent = (
    OrderCreated
    | OrderMoved
    | OrderChanged
    | ImagesAdded
    | ImageRemoved
    | ImageJudged
    | ImageRendered
    | PackingSlipJudged
    | ShipmentsChanged
    | OrderHeld
    | OrderReleased
    | OrderCharged
    | OrderRefunded
    | IssueMoved
    | OrderCompensated
    | OrderReprints
)
