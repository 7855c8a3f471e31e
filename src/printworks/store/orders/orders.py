"""Orders. Queries for merchants take the merchant: other merchants' orders do not exist."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final, cast

import msgspec
from sqlalchemy import (
    Connection,
    Select,
    bindparam,
    false,
    func,
    insert,
    literal_column,
    select,
    update,
)

from printworks.catalogue.products import Currency, QualityLevel
from printworks.conversion import reader_of
from printworks.errors import NotFound, WrongState
from printworks.rules.orders import ORDER_CHANGED, OrderStatus, Payment, ShippingMethod
from printworks.rules.price_lists import StoredTerms
from printworks.rules.reasons import StoredReasons
from printworks.rules.search import (
    make_email_key,
    make_postal_key,
    make_recipient_key,
    make_town_key,
)
from printworks.rules.tax_terms import TaxTerms
from printworks.store.callbacks.callbacks import PLACE, FeedPosition
from printworks.store.engine.columns import spelled_out
from printworks.store.engine.prepared import PreparedStatement, given_as, is_one_of, write_list
from printworks.store.engine.rows import (
    columns_of,
    find_struct,
    get_struct,
    possible_id,
)
from printworks.store.tables import merchants, orders


class Order(msgspec.Struct, frozen=True):
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
    # Whether the merchant wants a service with tracking wherever there is one.
    is_tracked: bool
    quality_level: QualityLevel | None
    print_country: str | None
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
    # How much tax the merchant pays; None where no seller collects any.
    tax: int | None
    # Whether the price includes it.
    tax_included: bool
    # How much tax the recipient pays at the checkout.
    recipient_tax: int
    # How its prices came about.
    price_terms: StoredTerms
    # Until when it keeps its price while it is open.
    quote_expires_at: datetime | None
    held_at: datetime | None
    # The payment under way; the order cannot be changed until it has an outcome.
    payment_request_id: int | None
    # Until when the recipient may pay.
    pay_until: datetime | None
    reasons: StoredReasons
    # Whether its shipments must be planned again before they are shown.
    needs_plan: bool
    # Another one after every change of the order, its images or its shipments.
    version: int
    # The order that it prints again, free of charge.
    reprint_of: int | None
    # When the last of its shipments was delivered, if carriers say so.
    delivered_at: datetime | None
    created_at: datetime
    updated_at: datetime

    @property
    def total(self) -> int:
        """What the merchant is charged in all, with tax."""
        return self.price if self.tax_included else self.price + (self.tax or 0)

    @property
    def net(self) -> int:
        """What is left of it without tax."""
        return self.total - (self.tax or 0)


class NewOrder(msgspec.Struct, frozen=True, kw_only=True):
    """An order as a merchant creates it."""

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
    # Whether the merchant wants a service with tracking wherever there is one.
    is_tracked: bool = False
    quality_level: QualityLevel | None = None
    print_country: str | None = None
    # The format of its callbacks, unless the merchant chose one.
    callback_format: str = "3.0"


COLUMNS: Final = columns_of(orders, Order)
_THIS = select(*COLUMNS).where(
    orders.c.id == bindparam("id"), orders.c.merchant_id == bindparam("merchant_id")
)
_ONE: Final = PreparedStatement(_THIS)
_THESE: Final = PreparedStatement(
    select(*COLUMNS).where(
        is_one_of(orders.c.id, "ids"), orders.c.merchant_id == bindparam("merchant_id")
    )
)
# Without the key: a transaction that adds an event or a job need not wait.
_ONE_TO_CHANGE: Final = PreparedStatement(_THIS.with_for_update(key_share=True))
_TAKE_PLACE: Final = (
    update(merchants)
    .where(merchants.c.id == bindparam("merchant_id"))
    # The order's first event takes its position in the feed at the same time.
    .values(order_count=merchants.c.order_count + 1, event_count=merchants.c.event_count + 1)
    .returning(merchants.c.order_count, *PLACE)
)
_NEXT_ORDINAL: Final = PreparedStatement(_TAKE_PLACE)
_GIVEN: Final = [column for column in orders.c if column.name not in {"id", "ordinal"}]
# What a text is searched by, and how that is made of it.
_KEYS: Final[Mapping[str, tuple[str, Callable[[str | None], str | None]]]] = {
    "recipient_name": ("recipient_key", make_recipient_key),
    "town_or_city": ("town_key", make_town_key),
    "postal_code": ("postal_key", make_postal_key),
    "email": ("email_key", make_email_key),
}
_NOT_READ: Final = (
    "callback_format",
    "erased_at",
    "shortfall",
    "tax_terms",
    *(key for key, _ in _KEYS.values()),
)
_INSERT: Final = PreparedStatement(
    insert(orders)
    .values({column.name: bindparam(column.name) for column in (*_GIVEN, orders.c.ordinal)})
    .returning(orders.c.id)
)


def _insert_in_place() -> Select[Any]:
    """Write the statement that does both at once, for PostgreSQL.

    From its first line to the commit, the merchant's other orders wait.
    """
    place = _TAKE_PLACE.cte("place")
    added = (
        insert(orders)
        .from_select(
            [*_GIVEN, orders.c.ordinal], select(*map(given_as, _GIVEN), place.c.order_count)
        )
        .returning(orders.c.id)
        .cte("added")
    )
    taken = [column for column in place.c if column.name != "order_count"]
    return select(added.c.id, *taken).select_from(added, place)


_INSERT_IN_PLACE: Final = PreparedStatement(_insert_in_place())
_TAX_TERMS: Final = PreparedStatement(
    select(orders.c.tax_terms).where(orders.c.id == bindparam("this"))
)
_SHORTFALLS: Final = PreparedStatement(
    select(func.sum(orders.c.shortfall)).where(
        orders.c.merchant_id == bindparam("merchant_id"),
        orders.c.status == spelled_out(OrderStatus.AWAITING_PAYMENT),
        orders.c.payment == spelled_out(Payment.INVOICE_RECIPIENT),
    )
)
_read_terms: Final = reader_of(TaxTerms)
_NEXT_VERSION: Final = {"version": orders.c.version + literal_column("1")}
_PLANNED: Final = PreparedStatement(
    update(orders)
    .where(
        orders.c.id == bindparam("this"),
        orders.c.version == bindparam("expected"),
    )
    .values({"needs_plan": false(), **_NEXT_VERSION})
    .returning(orders.c.version)
)
_INCREASE_VERSION: Final = PreparedStatement(
    update(orders).where(orders.c.id == bindparam("this")).values(_NEXT_VERSION)
)


def get_order(db: Connection, merchant_id: int, order_id: int) -> Order:
    return Order(*read_of_order(_ONE, db, merchant_id, order_id))


def list_orders_by_id(db: Connection, merchant_id: int, ids: Sequence[int]) -> list[Order]:
    """Return these orders of the merchant, in this order; others are left out."""
    rows = _THESE.all(db, {"ids": write_list(ids), "merchant_id": merchant_id})
    found = {order.id: order for order in (Order(*row) for row in rows)}
    return [found[order_id] for order_id in ids if order_id in found]


def get_order_to_change(db: Connection, merchant_id: int, order_id: int) -> Order:
    """Lock an order of this merchant and return it.

    Other transactions that want to change it wait, so that none of them changes what it has not
    seen. SQLite has one writer at a time anyway.
    """
    return Order(*read_of_order(_ONE_TO_CHANGE, db, merchant_id, order_id))


def get_any_order_to_change(db: Connection, order_id: int) -> Order:
    """Lock an order by id alone and return it, for labs and operators."""
    query = select(*COLUMNS).where(orders.c.id == possible_id(order_id))
    query = query.with_for_update(key_share=True)
    return get_struct(db, Order, query, missing=f"There is no order {order_id}.")


def find_order_by_token(db: Connection, token: str) -> Order | None:
    """Return the order whose recipient pays at the address with this token, until it is erased."""
    # PostgreSQL raises an error for some text, such as a zero byte.
    if not token.isascii() or not token.isprintable():
        return None
    mine = select(*COLUMNS).where(orders.c.payment_token == token, orders.c.erased_at.is_(None))
    return find_struct(db, Order, mine)


def get_followed_order(db: Connection, order_id: int) -> Order:
    """Return an order of any merchant to whoever has its link, unless its recipient was erased."""
    this = orders.c.id == possible_id(order_id)
    query = select(*COLUMNS).where(this, orders.c.erased_at.is_(None))
    return get_struct(db, Order, query, missing="There is no such order.")


def read_of_order(
    statement: PreparedStatement, db: Connection, merchant_id: int, order_id: int
) -> tuple[Any, ...]:
    row = statement.first(db, {"id": possible_id(order_id), "merchant_id": merchant_id})
    if row is None:
        raise NotFound("The order with the specified id was not found")
    return row


def insert_order(
    db: Connection, merchant_id: int, new: NewOrder, *, payment_token: str | None, now: datetime
) -> tuple[Order, FeedPosition]:
    """Add an order as the merchant's newest; return it with the feed position of its creation."""
    values: dict[str, Any] = {
        **msgspec.structs.asdict(new),
        "recipient_key": make_recipient_key(new.recipient_name),
        "town_key": make_town_key(new.town_or_city),
        "postal_key": make_postal_key(new.postal_code),
        "email_key": make_email_key(new.email),
        "merchant_id": merchant_id,
        "status": OrderStatus.NOT_YET_SUBMITTED,
        "payment_token": payment_token,
        "image_count": 0,
        "currency": None,
        "price": 0,
        "shipping_price": 0,
        "tax": None,
        "tax_included": False,
        "tax_terms": None,
        "recipient_tax": 0,
        "shortfall": 0,
        "price_terms": None,
        "quote_expires_at": None,
        "held_at": None,
        "payment_request_id": None,
        "pay_until": None,
        "reasons": None,
        "needs_plan": False,
        "version": 1,
        "reprint_of": None,
        "delivered_at": None,
        "created_at": now,
        "updated_at": now,
        "erased_at": None,
    }
    if db.dialect.name == "sqlite":
        ordinal, *place = _NEXT_ORDINAL.one(db, {"merchant_id": merchant_id})
        (order_id,) = _INSERT.one(db, {**values, "ordinal": ordinal})
    else:
        order_id, *place = _INSERT_IN_PLACE.one(db, values)
    for name in _NOT_READ:
        del values[name]
    return Order(id=order_id, **values), FeedPosition(*place)


def update_order(db: Connection, order: Order, values: Mapping[str, object]) -> Order:
    """Change an order; raise `WrongState` if its status is not the one that was read."""
    changed = {**values, **_make_keys(order, values)}
    row = _update_of(frozenset(changed)).first(
        db, {**changed, "this": order.id, "expected": order.status}
    )
    if row is None:
        raise WrongState(ORDER_CHANGED)
    read = {name: value for name, value in values.items() if name not in _NOT_READ}
    return msgspec.structs.replace(order, **read, version=row[0])


def read_tax_terms(db: Connection, order_id: int) -> TaxTerms | None:
    """Return how an order is taxed; None where no seller collects any tax."""
    (stored,) = _TAX_TERMS.one(db, {"this": order_id})
    return None if stored is None else _read_terms(stored)


def sum_shortfalls(db: Connection, merchant_id: int) -> int:
    """Return what a merchant will owe for orders whose recipients may pay less than they cost."""
    (total,) = _SHORTFALLS.one(db, {"merchant_id": merchant_id})
    return int(total or 0)


def _make_keys(order: Order, values: Mapping[str, object]) -> dict[str, object]:
    """Return the search keys that change with these values."""
    return {
        key: make(cast("str | None", values[name]))
        for name, (key, make) in _KEYS.items()
        if name in values and values[name] != getattr(order, name)
    }


@cache
def _update_of(names: frozenset[str]) -> PreparedStatement:
    """Return the statement that changes these columns of an order."""
    return PreparedStatement(
        update(orders)
        .where(orders.c.id == bindparam("this"), orders.c.status == bindparam("expected"))
        .values({name: bindparam(name) for name in sorted(names)} | _NEXT_VERSION)
        .returning(orders.c.version)
    )


def mark_planned(db: Connection, order: Order) -> Order | None:
    """Note that the shipments of an order are planned; None if it is another version by now."""
    row = _PLANNED.first(db, {"this": order.id, "expected": order.version})
    if row is None:
        return None
    return msgspec.structs.replace(order, needs_plan=False, version=row[0])


def increase_version(db: Connection, order_id: int) -> None:
    """Note that something else than the order's own row has changed of what it shows."""
    _INCREASE_VERSION.run(db, {"this": order_id})
