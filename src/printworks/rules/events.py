"""What can happen to an order, as facts that stay true whatever happens next."""

import msgspec

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


OrderEvent = OrderCreated | OrderMoved | OrderChanged
