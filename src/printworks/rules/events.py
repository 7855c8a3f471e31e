"""What can happen to an order, as facts that stay true whatever happens next."""

import msgspec

from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus


class OrderCreated(msgspec.Struct, frozen=True, tag="order-created"):
    """An order came into being."""

    status: OrderStatus
    merchant_order_id: str | None


class OrderMoved(msgspec.Struct, frozen=True, tag="order-moved"):
    """An order went from one status to another."""

    was: OrderStatus
    status: OrderStatus
    merchant_order_id: str | None


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


OrderEvent = (
    OrderCreated
    | OrderMoved
    | OrderChanged
    | ImagesAdded
    | ImageJudged
    | ImageRendered
    | PackingSlipJudged
)
