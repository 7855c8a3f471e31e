"""Orders as they are remembered. Every query takes the merchant: others' orders do not exist."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import Column, Connection, Select, bindparam, insert, select, update

from printworks.catalogue.products import Currency
from printworks.errors import NotFound
from printworks.rules.orders import OrderStatus, Payment, ShippingMethod
from printworks.store.prepared import Prepared
from printworks.store.tables import merchants, orders

# SQLite's and PostgreSQL's largest row number; a larger id is nobody's.
LARGEST_ID: Final = 2**63 - 1


class Order(msgspec.Struct, frozen=True):
    """An order, in the words of the core."""

    id: int
    merchant_id: int
    status: OrderStatus
    merchant_order_id: str | None
    recipient_name: str | None
    address1: str | None
    address2: str | None
    town_or_city: str | None
    state_or_county: str | None
    postal_code: str | None
    destination_country: str | None
    mobile_telephone: str | None
    telephone: str | None
    email: str | None
    shipping_method: ShippingMethod
    payment: Payment
    payment_token: str | None
    packing_slip_url: str | None
    invoice_amount_net: int
    invoice_tax: int
    invoice_currency: str | None
    image_count: int
    currency: Currency | None
    price: int
    shipping_price: int
    held_at: datetime | None
    error_message: str | None
    created_at: datetime
    updated_at: datetime


class NewOrder(msgspec.Struct, frozen=True, kw_only=True):
    """What a merchant says of an order when making it."""

    recipient_name: str | None
    destination_country: str | None
    shipping_method: ShippingMethod
    payment: Payment = Payment.INVOICE_ME
    merchant_order_id: str | None = None
    address1: str | None = None
    address2: str | None = None
    town_or_city: str | None = None
    state_or_county: str | None = None
    postal_code: str | None = None
    mobile_telephone: str | None = None
    telephone: str | None = None
    email: str | None = None
    packing_slip_url: str | None = None
    invoice_amount_net: int = 0
    invoice_tax: int = 0
    invoice_currency: str | None = None


class OrderPage(NamedTuple):
    """Some of a merchant's orders, and how many there are in all."""

    orders: list[Order]
    total: int

    @property
    def has_images(self) -> bool:
        """Whether any of the orders has an image."""
        return any(order.image_count for order in self.orders)


_COLUMNS: Final = [orders.c[name] for name in Order.__struct_fields__]
_THIS = select(*_COLUMNS).where(
    orders.c.id == bindparam("id"), orders.c.merchant_id == bindparam("merchant_id")
)
_ONE: Final = Prepared(_THIS)
# Without the key: whoever adds an event or a job meanwhile need not wait.
_ONE_TO_CHANGE: Final = Prepared(_THIS.with_for_update(key_share=True))
_TOTAL: Final = Prepared(
    select(merchants.c.order_count).where(merchants.c.id == bindparam("merchant_id"))
)


def _of_page(*columns: Column[Any]) -> Select[Any]:
    return (
        select(*columns)
        .where(
            orders.c.merchant_id == bindparam("merchant_id"),
            orders.c.ordinal <= bindparam("newest"),
        )
        .order_by(orders.c.ordinal.desc())
        .limit(bindparam("limit"))
    )


_PAGE: Final = Prepared(_of_page(*_COLUMNS))
# For whoever wants what belongs to the orders of a page.
IDS_OF_PAGE: Final = _of_page(orders.c.id)
_NEXT_ORDINAL: Final = Prepared(
    update(merchants)
    .where(merchants.c.id == bindparam("merchant"))
    .values(order_count=merchants.c.order_count + 1)
    .returning(merchants.c.order_count)
)
_INSERT: Final = Prepared(
    insert(orders)
    .values({name: bindparam(name) for name in orders.c.keys() if name != "id"})  # noqa: SIM118
    .returning(orders.c.id)
)


def get_order(db: Connection, merchant_id: int, order_id: int) -> Order:
    """Return an order of this merchant."""
    return _find(_ONE, db, merchant_id, order_id)


def get_order_to_change(db: Connection, merchant_id: int, order_id: int) -> Order:
    """Return an order of this merchant as it stays until the transaction ends.

    Others who want to change it wait, so that nobody changes what somebody else has just
    changed without having seen it. SQLite has one writer at a time anyway.
    """
    return _find(_ONE_TO_CHANGE, db, merchant_id, order_id)


def get_any_order_to_change(db: Connection, order_id: int) -> Order:
    """Return an order by its number alone, for labs and operators, as it stays for now."""
    row = None
    if 0 < order_id <= LARGEST_ID:
        row = db.execute(
            select(*_COLUMNS).where(orders.c.id == order_id).with_for_update(key_share=True)
        ).one_or_none()
    if row is None:
        raise NotFound(f"There is no order {order_id}.")
    return Order(*row)


def _find(statement: Prepared, db: Connection, merchant_id: int, order_id: int) -> Order:
    row = None
    if 0 < order_id <= LARGEST_ID:
        row = statement.first(db, {"id": order_id, "merchant_id": merchant_id})
    if row is None:
        raise NotFound("The order with the specified id was not found")
    return Order(*row)


def list_orders(db: Connection, merchant_id: int, *, limit: int, start: int) -> OrderPage:
    """Return the merchant's orders, newest first, after skipping `start` of them."""
    (total,) = _TOTAL.one(db, {"merchant_id": merchant_id})
    newest = total - start
    if limit == 0 or newest <= 0:
        return OrderPage([], total)
    rows = _PAGE.all(db, {"merchant_id": merchant_id, "newest": newest, "limit": limit})
    return OrderPage([Order(*row) for row in rows], total)


def insert_order(
    db: Connection,
    merchant_id: int,
    new: NewOrder,
    *,
    status: OrderStatus,
    payment_token: str | None,
    now: datetime,
) -> Order:
    """Add an order as the merchant's newest."""
    (ordinal,) = _NEXT_ORDINAL.one(db, {"merchant": merchant_id})
    values: dict[str, Any] = {
        **msgspec.structs.asdict(new),
        "merchant_id": merchant_id,
        "status": status,
        "payment_token": payment_token,
        "image_count": 0,
        "currency": None,
        "price": 0,
        "shipping_price": 0,
        "held_at": None,
        "error_message": None,
        "created_at": now,
        "updated_at": now,
    }
    (order_id,) = _INSERT.one(db, {**values, "ordinal": ordinal})
    return Order(id=order_id, **values)


def update_order(db: Connection, order: Order, values: Mapping[str, object]) -> Order | None:
    """Change an order if it is still in the status in which it was read; else return None."""
    changed = db.execute(
        update(orders)
        .where(orders.c.id == order.id, orders.c.status == order.status)
        .values(**values)
    )
    if changed.rowcount == 0:
        return None
    return msgspec.structs.replace(order, **values)
