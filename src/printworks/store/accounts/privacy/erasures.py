"""Receipts: what was erased, for whom and by whom, and what is left to do."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, insert, select, update

from printworks.rules.orders import ENDED
from printworks.rules.privacy import ErasureState
from printworks.store.engine.rows import (
    columns_of,
    find_struct,
    get_struct,
    list_structs,
    newest_first,
    possible_id,
)
from printworks.store.tables import erasures, orders


class Erasure(msgspec.Struct, frozen=True):
    """The receipt of an erasure, or one that has not happened yet."""

    id: int
    merchant_id: int
    order_id: int
    state: ErasureState
    asked_by: str
    done_by: str
    removed: dict[str, int] | None
    left_elsewhere: list[str] | None
    created_at: datetime
    erased_at: datetime | None
    finished_at: datetime | None


_COLUMNS: Final = columns_of(erasures, Erasure)
_IS_UNFINISHED: Final = erasures.c.finished_at.is_(None)


def insert_erasure(db: Connection, values: Mapping[str, object]) -> Erasure:
    """Note that the recipient of an order is to be erased."""
    row = db.execute(insert(erasures).values(**values).returning(*_COLUMNS)).one()
    return Erasure(*row)


def update_erasure(db: Connection, erasure: Erasure, **values: object) -> Erasure:
    """Change a receipt; the caller has locked its order."""
    db.execute(update(erasures).where(erasures.c.id == erasure.id).values(**values))
    return msgspec.structs.replace(erasure, **values)


def get_erasure(db: Connection, erasure_id: int) -> Erasure:
    query = select(*_COLUMNS).where(erasures.c.id == possible_id(erasure_id))
    return get_struct(db, Erasure, query, missing=f"There is no receipt {erasure_id}.")


def find_unfinished(db: Connection, order_id: int) -> Erasure | None:
    """Return the erasure of an order that has not ended."""
    query = select(*_COLUMNS).where(erasures.c.order_id == order_id, _IS_UNFINISHED)
    return find_struct(db, Erasure, query)


def list_erasures(
    db: Connection, *, order_id: int | None = None, before: int | None = None, limit: int
) -> list[Erasure]:
    """Return receipts, newest first: of one order, or all of them."""
    query = newest_first(select(*_COLUMNS), erasures.c.id, before=before, limit=limit)
    if order_id is not None:
        query = query.where(erasures.c.order_id == possible_id(order_id))
    return list_structs(db, Erasure, query)


def list_waiting(db: Connection, *, limit: int) -> Sequence[Erasure]:
    """Return erasures that wait for an order which has ended by now, oldest first."""
    query = (
        select(*_COLUMNS)
        .join_from(erasures, orders, erasures.c.order_id == orders.c.id)
        .where(
            _IS_UNFINISHED,
            erasures.c.state == ErasureState.WAITING,
            orders.c.status.in_(ENDED),
        )
        .order_by(erasures.c.id)
        .limit(limit)
    )
    return list_structs(db, Erasure, query)
