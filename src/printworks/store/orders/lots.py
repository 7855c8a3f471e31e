"""Work in lots: files of orders, and the same done to many orders, line by line."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, delete, func, insert, select, update

from printworks.conversion import reader_of
from printworks.rules.lots import (
    UNFINISHED,
    LineProblem,
    LineState,
    LotKind,
    LotProgress,
    LotState,
    LotTotals,
)
from printworks.rules.orders import OrderStatus
from printworks.store.engine.rows import (
    ROWS_AT_ONCE,
    columns_of,
    cut_page,
    find_struct,
    get_struct,
    list_structs,
    possible_id,
)
from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import lot_lines, lots, orders

# Of each kind, for each merchant: whoever only checks files does not fill the disk.
MOST_UNSTARTED: Final = 10
# Lots that are deleted together, with all their lines.
_PURGED_AT_ONCE: Final = 10

_read_totals: Final = reader_of(LotTotals)
_read_problems: Final = reader_of(list[LineProblem])


class NewLot(msgspec.Struct, frozen=True, kw_only=True):
    """A lot as somebody asks for it."""

    kind: LotKind
    state: LotState
    key: str
    name: str = ""
    submits: bool = False
    prints_blurred: bool = False
    who: str = ""
    heads: list[str] = []
    totals: Mapping[str, Any] = {}


class Lot(msgspec.Struct, frozen=True):
    """Many orders that are made from a file, or to which the same is done."""

    id: int
    merchant_id: int
    kind: LotKind
    state: LotState
    name: str
    submits: bool
    prints_blurred: bool
    who: str
    heads: list[str]
    totals: dict[str, Any]
    created_at: datetime
    finished_at: datetime | None

    @property
    def sums(self) -> LotTotals:
        """What its good orders come to."""
        return _read_totals(self.totals)


class NewLine(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a lot: an order to be created, or one that exists."""

    state: LineState
    reference: str | None = None
    rows: Sequence[int] = ()
    order_id: int | None = None
    content: Mapping[str, Any] | None = None
    cells: Sequence[Sequence[str]] | None = None
    problems: Sequence[LineProblem] = ()


class LotLine(msgspec.Struct, frozen=True):
    """A line that is stored."""

    lot_id: int
    number: int
    state: LineState
    reference: str | None
    rows: list[int]
    order_id: int | None
    payment_id: int | None
    content: dict[str, Any] | None
    cells: list[list[str]] | None
    problems: list[Any]

    @property
    def complaints(self) -> list[LineProblem]:
        """What is wrong with it, or why it was refused."""
        found: list[LineProblem] = _read_problems(self.problems)
        return found


_LOT: Final = columns_of(lots, Lot)
_LINE: Final = columns_of(lot_lines, LotLine)


def insert_lot(
    db: Connection, merchant_id: int, new: NewLot, lines: Sequence[NewLine], *, now: datetime
) -> int:
    """Add a lot with its lines, unless the same one has just come; return its id."""
    values = {**msgspec.structs.asdict(new), "merchant_id": merchant_id, "created_at": now}
    is_new = insert_unless_there(db, lots, **values)
    query = select(lots.c.id).where(lots.c.merchant_id == merchant_id, lots.c.key == new.key)
    lot_id = int(db.execute(query).scalar_one())
    if not is_new:
        return lot_id
    _insert_lines(db, lot_id, lines)
    _drop_unstarted(db, merchant_id, new.kind)
    return lot_id


def _drop_unstarted(db: Connection, merchant_id: int, kind: LotKind) -> None:
    """Delete the oldest lots that nobody has started, if there are too many."""
    older = (
        select(lots.c.id)
        .where(
            lots.c.merchant_id == merchant_id,
            lots.c.kind == kind,
            lots.c.state == LotState.CHECKED,
        )
        .order_by(lots.c.id.desc())
        .offset(MOST_UNSTARTED)
        .with_for_update(skip_locked=True)
    )
    _delete(db, list(db.execute(older).scalars()))


def replace_lines(
    db: Connection, lot: Lot, totals: Mapping[str, Any], lines: Sequence[NewLine]
) -> None:
    """Write down what the same file comes to now, if nothing was made of it yet."""
    db.execute(delete(lot_lines).where(lot_lines.c.lot_id == lot.id))
    _insert_lines(db, lot.id, lines)
    db.execute(update(lots).where(lots.c.id == lot.id).values(totals=totals))


def _insert_lines(db: Connection, lot_id: int, lines: Sequence[NewLine]) -> None:
    for first in range(0, len(lines), ROWS_AT_ONCE):
        rows = [
            {
                **msgspec.to_builtins(line),
                "state": line.state,
                "lot_id": lot_id,
                "number": number,
            }
            for number, line in enumerate(lines[first : first + ROWS_AT_ONCE], start=first + 1)
        ]
        db.execute(insert(lot_lines), rows)


def find_lot_by_key(db: Connection, merchant_id: int, key: str) -> Lot | None:
    """Lock the lot that the same file or form made before, and return it."""
    query = select(*_LOT).where(lots.c.merchant_id == merchant_id, lots.c.key == key)
    return find_struct(db, Lot, query.with_for_update())


def get_lot(db: Connection, merchant_id: int, lot_id: int, *, to_change: bool = False) -> Lot:
    """Return a lot of this merchant; lock it if it is to be changed."""
    query = select(*_LOT).where(lots.c.id == possible_id(lot_id), lots.c.merchant_id == merchant_id)
    query = query.with_for_update() if to_change else query
    return get_struct(db, Lot, query, missing="There is no such import or list.")


def list_lots(db: Connection, merchant_id: int, kind: LotKind, *, limit: int) -> list[Lot]:
    """Return the newest lots of a merchant."""
    query = select(*_LOT).where(lots.c.merchant_id == merchant_id, lots.c.kind == kind)
    return list_structs(db, Lot, query.order_by(lots.c.id.desc()).limit(limit))


def update_lot(db: Connection, lot: Lot, **values: object) -> Lot:
    """Change a lot that is locked."""
    db.execute(update(lots).where(lots.c.id == lot.id).values(**values))
    return msgspec.structs.replace(lot, **values)


def measure_progress(db: Connection, lot_id: int) -> LotProgress:
    """Count the lines of a lot by what became of them."""
    return measure_each(db, [lot_id])[lot_id]


def measure_each(db: Connection, lot_ids: Sequence[int]) -> dict[int, LotProgress]:
    """Count the lines of some lots by what became of them, by lot."""
    counted = (
        select(lot_lines.c.lot_id, lot_lines.c.state, func.count())
        .where(lot_lines.c.lot_id.in_(lot_ids))
        .group_by(lot_lines.c.lot_id, lot_lines.c.state)
    )
    counts: dict[int, dict[LineState, int]] = {lot_id: {} for lot_id in lot_ids}
    for lot_id, state, number in db.execute(counted):
        counts[lot_id][state] = number
    return {lot_id: LotProgress(found) for lot_id, found in counts.items()}


def list_unfinished(db: Connection, lot_id: int, *, after: int, limit: int) -> list[int]:
    """Return the numbers of the next lines with which something is to be done."""
    query = (
        select(lot_lines.c.number)
        .where(
            lot_lines.c.lot_id == lot_id,
            lot_lines.c.number > after,
            lot_lines.c.state.in_(UNFINISHED),
        )
        .order_by(lot_lines.c.number)
        .limit(limit)
    )
    return list(db.execute(query).scalars())


def find_order_of_line(db: Connection, lot_id: int, number: int) -> int | None:
    """Return the order of a line, if it exists."""
    query = select(lot_lines.c.order_id).where(
        lot_lines.c.lot_id == lot_id, lot_lines.c.number == number
    )
    order_id: int | None = db.execute(query).scalar_one()
    return order_id


def get_line_to_change(db: Connection, lot_id: int, number: int) -> LotLine:
    """Lock a line, so that nobody else does the same with it."""
    query = select(*_LINE).where(lot_lines.c.lot_id == lot_id, lot_lines.c.number == number)
    return LotLine(*db.execute(query.with_for_update()).one())


def update_line(
    db: Connection,
    line: LotLine,
    *,
    state: LineState,
    problems: Sequence[LineProblem] = (),
    **values: object,
) -> None:
    """Change a line that is locked."""
    changed = {**values, "state": state, "problems": msgspec.to_builtins(list(problems))}
    db.execute(
        update(lot_lines)
        .where(lot_lines.c.lot_id == line.lot_id, lot_lines.c.number == line.number)
        .values(**changed)
    )


def list_lines(
    db: Connection, lot_id: int, states: Collection[LineState], *, after: int, limit: int
) -> tuple[list[LotLine], int | None]:
    """Return a page of lines, and the number after which the next page begins."""
    query = (
        select(*_LINE)
        .where(
            lot_lines.c.lot_id == lot_id,
            lot_lines.c.number > min(after, 2**31 - 1),
            lot_lines.c.state.in_(states),
        )
        .order_by(lot_lines.c.number)
        .limit(limit + 1)
    )
    return cut_page(list_structs(db, LotLine, query), limit, lambda line: line.number)


def read_lines(db: Connection, lot_id: int, states: Collection[LineState]) -> Iterator[LotLine]:
    """Yield all lines in these states, a page at a time."""
    after: int | None = 0
    while after is not None:
        lines, after = list_lines(db, lot_id, states, after=after, limit=ROWS_AT_ONCE)
        yield from lines


def find_references(db: Connection, merchant_id: int, references: Sequence[str]) -> dict[str, int]:
    """Return which of these references orders have that are not cancelled, with the newest order."""
    found: dict[str, int] = {}
    for first in range(0, len(references), ROWS_AT_ONCE):
        query = select(orders.c.merchant_order_id, func.max(orders.c.id)).where(
            orders.c.merchant_id == merchant_id,
            orders.c.merchant_order_id.is_not(None),
            orders.c.merchant_order_id.in_(references[first : first + ROWS_AT_ONCE]),
            orders.c.status != OrderStatus.CANCELLED,
        )
        found.update(map(tuple, db.execute(query.group_by(orders.c.merchant_order_id))))
    return found


def purge_lots(db: Connection, *, before: datetime, limit: int) -> int:
    """Delete the oldest lots with all their lines; return how many lots."""
    query = select(lots.c.id).where(lots.c.created_at < before).order_by(lots.c.created_at)
    ids = list(db.execute(query.limit(min(limit, _PURGED_AT_ONCE))).scalars())
    _delete(db, ids)
    return len(ids)


def _delete(db: Connection, ids: Sequence[int]) -> None:
    db.execute(delete(lot_lines).where(lot_lines.c.lot_id.in_(ids)))
    db.execute(delete(lots).where(lots.c.id.in_(ids)))
