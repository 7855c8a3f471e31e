"""Rows as structs: read by id, as a list, or a page at a time."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Final, TypeVar

import msgspec
from sqlalchemy import Alias, Column, ColumnElement, Connection, Select, Table

from printworks.errors import NotFound

# The largest id on either database. PostgreSQL refuses to compare with a larger number.
LARGEST_ID: Final = 2**63 - 1
# Rows that are read at once by a caller who wants all of them.
ROWS_AT_ONCE: Final = 500

S = TypeVar("S", bound=msgspec.Struct)
T = TypeVar("T")
K = TypeVar("K")


def columns_of(
    table: Table | Alias, kind: type[msgspec.Struct], **instead: ColumnElement[Any]
) -> list[ColumnElement[Any]]:
    """Return the columns that the fields of a struct are named after, in their order.

    `instead` has the columns of fields that do not come from the table.
    """
    return [
        instead[name].label(name) if name in instead else table.c[name]
        for name in kind.__struct_fields__
    ]


def possible_id(number: int) -> int:
    """Return a number that may be an id; for any other number 0, which no row has."""
    return number if 0 < number <= LARGEST_ID else 0


def find_struct(db: Connection, kind: type[S], query: Select[Any]) -> S | None:
    """Return the only row of a query, or None."""
    row = db.execute(query).one_or_none()
    return None if row is None else kind(*row)


def get_struct(db: Connection, kind: type[S], query: Select[Any], *, missing: str) -> S:
    """Return the only row of a query; if there is none, raise NotFound with this message."""
    found = find_struct(db, kind, query)
    if found is None:
        raise NotFound(missing)
    return found


def list_structs(db: Connection, kind: type[S], query: Select[Any]) -> list[S]:
    return [kind(*row) for row in db.execute(query)]


def newest_first(
    query: Select[Any], number: Column[int], *, before: int | None, limit: int
) -> Select[Any]:
    """Sort by number, highest first, beginning below `before`."""
    page = query.order_by(number.desc()).limit(limit)
    return page if before is None else page.where(number < min(before, LARGEST_ID))


def cut_page(rows: Sequence[T], limit: int, place: Callable[[T], K]) -> tuple[list[T], K | None]:
    """Return the rows of a page, and the place of its last row if there are more.

    The caller has read one row more than the limit.
    """
    shown = list(rows[:limit])
    return shown, place(shown[-1]) if len(rows) > limit else None


def read_all(db: Connection, query: Select[Any], number: Column[int]) -> Iterator[Any]:
    """Yield all rows of a query in the order of a column that it selects, however many."""
    last, page = 0, query.order_by(number).limit(ROWS_AT_ONCE)
    while True:
        rows = db.execute(page.where(number > last)).all()
        yield from rows
        if len(rows) < ROWS_AT_ONCE:
            return
        last = rows[-1]._mapping[number]


def group_by(items: Iterable[T], key: Callable[[T], K]) -> dict[K, list[T]]:
    """Return the items by key, in their order."""
    groups: dict[K, list[T]] = {}
    for item in items:
        groups.setdefault(key(item), []).append(item)
    return groups
