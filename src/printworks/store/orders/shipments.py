"""Shipments: planned, then at their labs, then on their way."""

import secrets
from base64 import b32encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from sqlalchemy import (
    Connection,
    bindparam,
    case,
    delete,
    func,
    insert,
    literal_column,
    select,
    text,
    update,
)

from printworks.catalogue.services import Carrier
from printworks.conversion import reader_of
from printworks.errors import WrongState
from printworks.rules.orders import ORDER_CHANGED
from printworks.rules.production import DROPPED, TOKEN_LENGTH, LabState, name_job
from printworks.rules.routing.model import Routing
from printworks.store.engine.prepared import PreparedStatement, is_one_of, structs_of, write_list
from printworks.store.engine.rows import columns_of, get_struct, group_by, list_structs, possible_id
from printworks.store.images.images import IMAGES_OF_ORDER, Image
from printworks.store.orders.orders import Order, increase_version, mark_planned, read_of_order
from printworks.store.orders.pages import IDS_OF_PAGE
from printworks.store.tables import orders, plans, shipments

_read_routing: Final = reader_of(Routing)


class Shipment(msgspec.Struct, frozen=True):
    """What one lab prints and sends together."""

    id: int
    order_id: int
    state: LabState | None
    lab: str
    band: str
    service: str
    carrier: Carrier
    is_tracked: bool
    items_cost: int
    shipping_cost: int
    image_ids: list[int]
    copies: int
    earliest_arrival: str
    latest_arrival: str
    sent_at: datetime | None
    held_because: str | None
    reason: str | None
    tracking_number: str | None
    tracking_url: str | None
    shipped_at: datetime | None
    delivered_at: datetime | None
    lab_token: str
    created_at: datetime
    updated_at: datetime

    @property
    def job_name(self) -> str:
        """What the lab calls it: its number, and what nobody can guess."""
        return name_job(self.id, self.lab_token)


class NewShipment(msgspec.Struct, frozen=True, kw_only=True):
    """A shipment to be added; without a state it is only planned."""

    state: LabState | None
    lab: str
    band: str
    service: str
    carrier: Carrier
    is_tracked: bool
    items_cost: int
    shipping_cost: int
    image_ids: list[int]
    copies: int
    earliest_arrival: str
    latest_arrival: str


class WholeOrder(NamedTuple):
    """An order with its images and shipments, all from the same snapshot."""

    order: Order
    # Without their manifests, which are long.
    images: list[Image]
    # Without those that were replaced.
    shipments: list[Shipment]


class Decision(msgspec.Struct, frozen=True):
    """Why the labs of an order were chosen, and which have rejected it."""

    routing: Routing
    without: list[str]
    created_at: datetime


Shipments: TypeAlias = Sequence[Shipment]

COLUMNS: Final = columns_of(shipments, Shipment)
_OF_ORDER: Final = PreparedStatement(
    select(*COLUMNS).where(shipments.c.order_id == bindparam("order_id")).order_by(shipments.c.id)
)
_OF_PAGE: Final = PreparedStatement(
    select(*COLUMNS).where(shipments.c.order_id.in_(IDS_OF_PAGE)).order_by(shipments.c.id)
)
_SHIPMENTS_OF_ORDER: Final = (
    select(structs_of(Shipment, COLUMNS))
    .where(shipments.c.order_id == orders.c.id)
    .scalar_subquery()
)
_HAS_IMAGES: Final = orders.c.image_count > literal_column("0")
_WHOLE: Final = PreparedStatement(
    select(
        case((_HAS_IMAGES, IMAGES_OF_ORDER)),
        # What has no images has no shipments either.
        case((_HAS_IMAGES, _SHIPMENTS_OF_ORDER)),
        *columns_of(orders, Order),
    ).where(orders.c.id == bindparam("id"), orders.c.merchant_id == bindparam("merchant_id"))
)
# Spelled as in the index, without which all shipments would be read.
IS_OPEN: Final = text("shipments.state IN ('offered', 'accepted', 'in-production', 'failed')")


_BACKLOG: Final = PreparedStatement(
    select(shipments.c.lab, func.sum(shipments.c.copies))
    .where(IS_OPEN, shipments.c.state != LabState.FAILED)
    .group_by(shipments.c.lab)
)
_INSERT: Final = PreparedStatement(
    insert(shipments)
    .values({name: bindparam(name) for name in Shipment.__struct_fields__ if name != "id"})
    .returning(shipments.c.id)
)
# What only a lab can say.
_NOT_YET_KNOWN: Final[Mapping[str, None]] = dict.fromkeys(
    (
        *("sent_at", "held_because", "reason"),
        *("tracking_number", "tracking_url", "shipped_at", "delivered_at"),
    )
)
_INSERT_PLAN: Final = PreparedStatement(
    insert(plans)
    .values({name: bindparam(name) for name in ("order_id", "routing", "without", "created_at")})
    .inline()
)
_DROP_PLANNED: Final = PreparedStatement(
    delete(shipments).where(
        shipments.c.order_id == bindparam("order_id"), shipments.c.state.is_(None)
    )
)


def get_whole_order(db: Connection, merchant_id: int, order_id: int) -> WholeOrder:
    """Return an order of this merchant with its images and shipments, in one statement."""
    images, found, *columns = read_of_order(_WHOLE, db, merchant_id, order_id)
    kept = [shipment for shipment in found if shipment.state not in DROPPED]
    return WholeOrder(Order(*columns), images, kept)


def list_shipments(db: Connection, order_id: int) -> list[Shipment]:
    """Return the shipments of an order without those that were replaced."""
    rows = _OF_ORDER.all(db, {"order_id": order_id})
    return [one for row in rows if (one := Shipment(*row)).state not in DROPPED]


def list_every_shipment(db: Connection, order_id: int) -> list[Shipment]:
    """Return all shipments of an order, including those that were replaced."""
    return [Shipment(*row) for row in _OF_ORDER.all(db, {"order_id": order_id})]


def list_shipments_of_page(
    db: Connection, merchant_id: int, *, newest: int, limit: int
) -> dict[int, list[Shipment]]:
    """Return the shipments of a page of orders, by order."""
    page = {"merchant_id": merchant_id, "newest": newest, "limit": limit}
    found = (Shipment(*row) for row in _OF_PAGE.all(db, page))
    kept = (shipment for shipment in found if shipment.state not in DROPPED)
    return group_by(kept, lambda shipment: shipment.order_id)


def list_shipments_of_orders(db: Connection, order_ids: Sequence[int]) -> dict[int, list[Shipment]]:
    """Return the shipments of some orders, by order."""
    wanted = select(*columns_of(shipments, Shipment)).where(shipments.c.order_id.in_(order_ids))
    found = (Shipment(*row) for row in db.execute(wanted.order_by(shipments.c.id)))
    kept = (shipment for shipment in found if shipment.state not in DROPPED)
    return group_by(kept, lambda shipment: shipment.order_id)


def sum_costs(shipments: Shipments) -> tuple[int, int]:
    """Return what labs and carriers charge us for shipments, as planned."""
    return sum(one.items_cost for one in shipments), sum(one.shipping_cost for one in shipments)


def get_shipment(db: Connection, shipment_id: int) -> Shipment:
    """Return a shipment by id, as labs and jobs know it."""
    query = select(*COLUMNS).where(shipments.c.id == possible_id(shipment_id))
    return get_struct(db, Shipment, query, missing=f"There is no shipment {shipment_id}.")


def find_job_names(db: Connection, numbers: Iterable[int]) -> set[str]:
    """Return the names at labs of the shipments with these numbers, as far as they exist."""
    query = select(shipments.c.id, shipments.c.lab_token).where(
        is_one_of(shipments.c.id, "numbers")
    )
    rows = db.execute(query, {"numbers": write_list(numbers)})
    return {name_job(number, token) for number, token in rows}


def list_open_shipments(db: Connection, *, lab: str | None = None, limit: int) -> list[Shipment]:
    """Return shipments that labs still have to make or failed to make, oldest first."""
    wanted = select(*COLUMNS).where(IS_OPEN).order_by(shipments.c.id).limit(limit)
    if lab is not None:
        wanted = wanted.where(shipments.c.lab == lab)
    return list_structs(db, Shipment, wanted)


def count_backlog(db: Connection) -> dict[str, int]:
    """Return how many copies each lab still has to make."""
    return {lab: int(copies) for lab, copies in _BACKLOG.all(db, {})}


def offer_shipments(
    db: Connection, order_id: int, new: Iterable[NewShipment], why: Decision
) -> list[Shipment]:
    """Add shipments that are offered to labs, with the decision for these labs."""
    values = {
        "order_id": order_id,
        "routing": msgspec.to_builtins(why.routing),
        "without": sorted(why.without),
        "created_at": why.created_at,
    }
    _INSERT_PLAN.run(db, values)
    return insert_shipments(db, order_id, new, now=why.created_at)


def insert_shipments(
    db: Connection, order_id: int, new: Iterable[NewShipment], *, now: datetime
) -> list[Shipment]:
    rows = [_write_row(order_id, shipment, now) for shipment in new]
    ids = _INSERT.one_each(db, rows)
    return [Shipment(id=shipment_id, **row) for (shipment_id,), row in zip(ids, rows, strict=True)]


def _write_row(order_id: int, new: NewShipment, now: datetime) -> dict[str, Any]:
    given = msgspec.structs.asdict(new)
    times = {"created_at": now, "updated_at": now}
    return {**_NOT_YET_KNOWN, **given, "order_id": order_id, "lab_token": _make_token(), **times}


def _make_token() -> str:
    return b32encode(secrets.token_bytes(TOKEN_LENGTH)).decode().lower()[:TOKEN_LENGTH]


def replace_plan(
    db: Connection, order: Order, planned: Sequence[NewShipment], *, now: datetime
) -> tuple[Order, list[Shipment]]:
    """Store the planned shipments of an order, unless it is another version by now.

    Return the order as it is with them; those that were not stored have no id.
    """
    marked = mark_planned(db, order)
    if marked is None:
        return order, [Shipment(id=0, **_write_row(order.id, new, now)) for new in planned]
    drop_planned(db, order.id)
    return marked, insert_shipments(db, order.id, planned, now=now)


def drop_planned(db: Connection, order_id: int) -> None:
    """Delete the shipments that were only planned."""
    _DROP_PLANNED.run(db, {"order_id": order_id})


def update_shipment(db: Connection, shipment: Shipment, values: Mapping[str, object]) -> Shipment:
    """Change a shipment; raise `WrongState` if its state is not the one that was read."""
    changed = db.execute(
        update(shipments)
        .where(shipments.c.id == shipment.id, shipments.c.state == shipment.state)
        .values(**values)
    )
    if not changed.rowcount:
        raise WrongState(ORDER_CHANGED)
    increase_version(db, shipment.order_id)
    return msgspec.structs.replace(shipment, **values)


def list_decisions(db: Connection, order_id: int) -> list[Decision]:
    """Return why labs were chosen for an order and, later, for parts of it."""
    rows = db.execute(
        select(plans.c.routing, plans.c.without, plans.c.created_at)
        .where(plans.c.order_id == order_id)
        .order_by(plans.c.id)
    )
    return [Decision(_read_routing(row.routing), list(row.without), row.created_at) for row in rows]
