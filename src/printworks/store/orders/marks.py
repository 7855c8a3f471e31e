"""Marks of orders: another one whenever an order shows something else."""

from collections.abc import Collection, Iterable
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, select

from printworks.rules.orders import PLANNED, OrderStatus
from printworks.store.engine.prepared import PreparedStatement, is_one_of, write_list
from printworks.store.engine.rows import possible_id
from printworks.store.orders.orders import Order
from printworks.store.tables import orders


class OrderOf(NamedTuple):
    """An order, and the merchant who asks for it."""

    merchant_id: int
    order_id: int


class OrderState(NamedTuple):
    """What the marks of an order depend on."""

    version: int
    status: OrderStatus
    image_count: int


OrderStates = dict[OrderOf, OrderState]

_STATES: Final = PreparedStatement(
    select(
        *(orders.c.merchant_id, orders.c.id),
        *(orders.c.version, orders.c.status, orders.c.image_count),
    ).where(is_one_of(orders.c.id, "ids"), is_one_of(orders.c.merchant_id, "merchants"))
)


def find_order_states(db: Connection, wanted: Collection[OrderOf]) -> OrderStates:
    """Return the states of orders by merchant and id; those of no such order are left out."""
    return _by_order(_STATES.all(db, _write_wanted(wanted)))


def ask_for_order_states(db: Connection, wanted: Collection[OrderOf]) -> None:
    """Ask PostgreSQL for the states of orders, which `receive_order_states` returns."""
    _STATES.send(db, _write_wanted(wanted))


def receive_order_states(db: Connection) -> OrderStates | None:
    """Return the states that were asked for; None if they are not there yet."""
    rows = _STATES.receive(db)
    return None if rows is None else _by_order(rows)


def _write_wanted(wanted: Collection[OrderOf]) -> dict[str, str]:
    merchant_ids, ids = {one.merchant_id for one in wanted}, {one.order_id for one in wanted}
    return {"ids": write_list(map(possible_id, ids)), "merchants": write_list(merchant_ids)}


def _by_order(rows: Iterable[tuple[Any, ...]]) -> OrderStates:
    # Whoever asks for another one's order does not find it: both are part of the key.
    return {OrderOf(*row[:2]): OrderState(*row[2:]) for row in rows}


def mark_order(order: Order | OrderState) -> str | None:
    """Return a mark that is another one whenever the order shows something else.

    There is none while its shipments are only planned: then it also depends on the time.
    """
    return _mark(order.version, order.status, order.image_count)


def mark_settled(order: Order | OrderState) -> str | None:
    """Return a mark if nothing matters to the order any more but what is stored of it."""
    return _mark(order.version, order.status)


def _mark(version: int, status: OrderStatus, image_count: int | None = None) -> str | None:
    return str(version) if image_count == 0 or status not in PLANNED else None
