"""The events of an order, as they are stored."""

from enum import StrEnum

import msgspec

from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueState
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState


# Its docstring is in the OpenAPI document.
class CallbackState(StrEnum):
    """How far the telling of an event has come."""

    # The merchant had no callback address.
    QUIET = "quiet"
    # It would have told nothing new.
    SKIPPED = "skipped"
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "given-up"


class ShipmentFact(msgspec.Struct, frozen=True, kw_only=True):
    """A shipment at the time of the event."""

    id: int
    items: list[int]
    is_shipped: bool
    # Who carries it, once it is dispatched.
    carrier: str | None
    tracking_number: str | None
    tracking_url: str | None


class OrderCreated(msgspec.Struct, frozen=True, tag="order-created"):
    status: OrderStatus
    merchant_order_id: str | None


class OrderMoved(msgspec.Struct, frozen=True, tag="order-moved"):
    """An order moved from one status to another."""

    was: OrderStatus
    status: OrderStatus
    merchant_order_id: str | None
    shipments: list[ShipmentFact] = []
    # Whether some of its images had not arrived yet.
    lacks_images: bool = False


class OrderChanged(msgspec.Struct, frozen=True, tag="order-changed"):
    """Fields of an order were changed; without the values, which are personal data."""

    fields: list[str]


class RecipientErased(msgspec.Struct, frozen=True, tag="recipient-erased"):
    """What was known of the recipient was removed."""


class ImagesAdded(msgspec.Struct, frozen=True, tag="images-added"):
    """Images were added to an order."""

    images: list[int]


class ImageRemoved(msgspec.Struct, frozen=True, tag="image-removed"):
    """An image was removed from an order."""

    image: int


class ImageChanged(msgspec.Struct, frozen=True, tag="image-changed"):
    """An image is printed in another way: on another product, or another part of it, for example."""

    image: int
    fields: list[str]


class ImageJudged(msgspec.Struct, frozen=True, tag="image-judged"):
    """An image was received, or could not be."""

    image: int
    status: ImageStatus


class ImageRendered(msgspec.Struct, frozen=True, tag="image-rendered"):
    """The print file of an image was rendered."""

    image: int
    sha256: str


class PackingSlipJudged(msgspec.Struct, frozen=True, tag="packing-slip-judged"):
    """The packing slip was received, or could not be."""

    status: ImageStatus


class ShipmentsChanged(msgspec.Struct, frozen=True, kw_only=True, tag="shipments-changed"):
    """Shipments were created, or changed their state."""

    status: OrderStatus
    merchant_order_id: str | None
    changed: list[int]
    shipments: list[ShipmentFact]
    # What those that changed have become; None if labs have just been offered them.
    state: LabState | None = None
    # Whether some of its images have not arrived yet.
    lacks_images: bool = False


class ShipmentsDelivered(msgspec.Struct, frozen=True, tag="shipments-delivered"):
    """Shipments reached the recipient, as their carrier says.

    Merchants' programs are not told: the contract has no word for it.
    """

    shipments: list[int]


class PrintedElsewhere(msgspec.Struct, frozen=True, kw_only=True, tag="printed-elsewhere"):
    """Images are not printed in the country that the order asks for, but in others."""

    wanted: str
    images: list[int]
    countries: list[str]


class OrderHeld(msgspec.Struct, frozen=True, kw_only=True, tag="order-held"):
    """An order, or one shipment of it, was put on hold."""

    shipment: int | None
    # None if the merchant asked for it.
    reason: str | None


class OrderReleased(msgspec.Struct, frozen=True, tag="order-released"):
    """An order was released from hold."""


class OrderCharged(msgspec.Struct, frozen=True, kw_only=True, tag="order-charged"):
    """The merchant was charged, in minor units."""

    amount: int
    currency: str
    provider: str
    reference: str
    # How much of the amount is tax.
    tax: int = 0


class OrderRefunded(msgspec.Struct, frozen=True, kw_only=True, tag="order-refunded"):
    amount: int
    currency: str
    provider: str
    reference: str
    # How much of the amount is tax.
    tax: int = 0


class IssueMoved(msgspec.Struct, frozen=True, kw_only=True, tag="issue-moved"):
    """An issue of the order was opened, or changed its state."""

    issue: int
    was: IssueState | None
    state: IssueState


class OrderCompensated(msgspec.Struct, frozen=True, kw_only=True, tag="order-compensated"):
    """The merchant was compensated for an issue: a refund in minor units, or a reprint."""

    issue: int
    refund: int | None
    currency: str | None
    reprint: int | None


class OrderReprints(msgspec.Struct, frozen=True, kw_only=True, tag="order-reprints"):
    """The order is a free reprint of another one."""

    order: int
    issue: int


OrderEvent = (
    OrderCreated
    | OrderMoved
    | OrderChanged
    | RecipientErased
    | ImagesAdded
    | ImageRemoved
    | ImageChanged
    | ImageJudged
    | ImageRendered
    | PackingSlipJudged
    | ShipmentsChanged
    | ShipmentsDelivered
    | PrintedElsewhere
    | OrderHeld
    | OrderReleased
    | OrderCharged
    | OrderRefunded
    | IssueMoved
    | OrderCompensated
    | OrderReprints
)
