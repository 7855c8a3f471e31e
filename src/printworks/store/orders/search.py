"""Finding a merchant's orders, newest first: by text, by status and by day.

Every search reads a limited number of rows, and no more in a large shop than in a small one.
The beginning of a text is found in an index; any other part of a name is searched for only
among the newest orders.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    bindparam,
    case,
    cast,
    false,
    func,
    literal_column,
    or_,
    select,
    tuple_,
)

from printworks.catalogue.products import Currency
from printworks.rules.orders import OrderStatus
from printworks.rules.reasons import StoredReasons
from printworks.rules.search import make_recipient_key, simplify
from printworks.store.engine.columns import EnumText, Timestamp
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import LARGEST_ID, columns_of, cut_page
from printworks.store.tables import merchants, orders

# A part of a name is searched for in this many of the newest orders.
NEWEST: Final = 2000
# If more orders begin with a text, only the newest of them are found.
MOST_ALIKE: Final = 1000
# More words of a name are ignored when parts of names are searched for.
MOST_WORDS: Final = 8
# Orders are numbered in the order of their creation, give or take this much: requests take
# time, and the clocks of two machines differ.
DISORDER: Final = timedelta(minutes=10)

# With a status most orders are skipped: this many are read with one statement.
_AT_ONCE: Final = 500
_FIRST_DAY: Final = date(1970, 1, 1)
_LAST_DAY: Final = date(9990, 1, 1)
# A longer text is not searched for: no name or reference is as long.
_LONGEST: Final = 500
_DIGITS_OF_AN_ID: Final = 19
_SURROGATES: Final = range(0xD800, 0xE000)
_LAST_LETTER: Final = 0x10FFFF


class OrderSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What to search for; an order must match all that is given."""

    # An order's id, the beginning of its reference, or its recipient.
    text: str = ""
    status: OrderStatus | None = None
    # Days on which it was created, both included, in UTC.
    from_day: date | None = None
    to_day: date | None = None


class OrderLine(msgspec.Struct, frozen=True):
    """What a list shows of an order."""

    id: int
    ordinal: int
    status: OrderStatus
    merchant_order_id: str | None
    recipient_name: str | None
    destination_country: str | None
    image_count: int
    currency: Currency | None
    price: int
    held_at: datetime | None
    reasons: StoredReasons
    created_at: datetime

    @property
    def is_held(self) -> bool:
        return self.held_at is not None


class FoundOrders(msgspec.Struct, frozen=True):
    """A page of orders that were found."""

    orders: list[OrderLine]
    # The ordinal before which the next page begins; None if this is the last.
    next: int | None
    # Whether so many orders begin with the text that only the newest were searched.
    is_too_common: bool = False


class Span(NamedTuple):
    """A range of ordinals that contains everything that is searched for, both ends included."""

    oldest: int
    newest: int


_IS_MERCHANTS: Final = orders.c.merchant_id == bindparam("merchant_id")
_COLUMNS: Final = columns_of(orders, OrderLine)
_IS_IN_SPAN: Final = and_(
    orders.c.ordinal >= bindparam("oldest"), orders.c.ordinal <= bindparam("newest")
)


def is_true(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Write a condition so that no index fits and most rows seem to meet it.

    It filters rows that were found in a better way, which neither database can know.
    """
    return case((condition, literal_column("1")), else_=literal_column("0")) != literal_column("0")


_HAS_STATUS: Final = is_true(orders.c.status == bindparam("status", type_=EnumText(OrderStatus)))
_IS_OF_DAYS: Final = is_true(
    and_(
        orders.c.created_at >= bindparam("since", type_=Timestamp),
        orders.c.created_at < bindparam("until", type_=Timestamp),
    )
)


def _newest_with(
    column: Column[Any], columns: Sequence[ColumnElement[Any]], *conditions: ColumnElement[bool]
) -> Select[Any]:
    """Select the orders of a span with this value in this column, newest first."""
    # Two columns at once, so that only the index with both of them gives the order: with most
    # orders in one status, PostgreSQL would read all the others to find it.
    place = tuple_(column, orders.c.ordinal)
    value = bindparam(column.name, type_=column.type)
    return (
        select(*columns)
        .where(
            _IS_MERCHANTS,
            place >= tuple_(value, bindparam("oldest", type_=orders.c.ordinal.type)),
            place <= tuple_(value, bindparam("newest", type_=orders.c.ordinal.type)),
            *conditions,
        )
        .order_by(column.desc(), orders.c.ordinal.desc())
        .limit(bindparam("limit"))
    )


_PAGE: Final = PreparedStatement(
    select(*_COLUMNS)
    .where(_IS_MERCHANTS, _IS_IN_SPAN, _IS_OF_DAYS)
    .order_by(orders.c.ordinal.desc())
    .limit(bindparam("limit"))
)
_PAGE_OF_STATUS: Final = PreparedStatement(_newest_with(orders.c.status, _COLUMNS, _IS_OF_DAYS))

# The orders next to those of a range of days.
_LAST_BEFORE: Final = PreparedStatement(
    select(orders.c.ordinal)
    .where(_IS_MERCHANTS, orders.c.created_at < bindparam("at"))
    .order_by(orders.c.created_at.desc())
    .limit(literal_column("1"))
)
_FIRST_SINCE: Final = PreparedStatement(
    select(orders.c.ordinal)
    .where(_IS_MERCHANTS, orders.c.created_at >= bindparam("at"))
    .order_by(orders.c.created_at)
    .limit(literal_column("1"))
)
_COUNT: Final = PreparedStatement(
    select(merchants.c.order_count).where(merchants.c.id == bindparam("merchant_id"))
)


class _Ordinals:
    """A statement that finds ordinals and returns them in one value.

    Fetching a row costs more than finding it.
    """

    def __init__(self, statement: Select[Any]) -> None:
        found = statement.subquery("found")
        as_text = cast(found.c.ordinal, Text)
        self._prepared = {
            "sqlite": PreparedStatement(select(func.group_concat(as_text))),
            "postgresql": PreparedStatement(
                select(func.string_agg(as_text, literal_column("','")))
            ),
        }

    def find(self, db: Connection, values: Mapping[str, Any]) -> list[int]:
        """Return the ordinals, in any order."""
        (written,) = self._prepared[db.dialect.name].one(db, values)
        return [int(ordinal) for ordinal in written.split(",")] if written else []


_BY_ID: Final = _Ordinals(
    select(orders.c.ordinal).where(_IS_MERCHANTS, orders.c.id == bindparam("id"))
)
_reference, _recipient = orders.c.merchant_order_id, orders.c.recipient_key


class _Written(NamedTuple):
    """A text column of orders, and how it is searched."""

    name: str
    beginning: _Ordinals
    equal: _Ordinals


def _written(column: Column[Any], is_there: ColumnElement[bool]) -> _Written:
    beginning = (
        select(orders.c.ordinal)
        .where(_IS_MERCHANTS, is_there, _begins(column))
        .order_by(column)
        .limit(bindparam("limit"))
    )
    equal = _newest_with(column, [orders.c.ordinal], is_there)
    return _Written(column.name, _Ordinals(beginning), _Ordinals(equal))


def _begins(column: Column[Any]) -> ColumnElement[bool]:
    return and_(column >= bindparam("text"), column < bindparam("after"))


# Spelled as in the indexes, which leave out empty values.
_BY_REFERENCE: Final = _written(_reference, _reference.is_not(None))
_BY_RECIPIENT: Final = _written(_recipient, _recipient != literal_column("''"))


@cache
def _with_parts(count: int, *, has_status: bool) -> _Ordinals:
    """Search a span for names with this many parts in them, and for a reference."""
    parts = [_recipient.like(bindparam(f"part{place}"), escape="\\") for place in range(count)]
    is_named = and_(*parts) if parts else false()
    # No limit: it would tempt PostgreSQL to read the rows in another order than they lie in.
    found = select(orders.c.ordinal).where(
        _IS_MERCHANTS, _IS_IN_SPAN, or_(is_named, _begins(_reference))
    )
    return _Ordinals(found.where(_HAS_STATUS) if has_status else found)


def search_orders(
    db: Connection, merchant_id: int, wanted: OrderSearch, *, before: int | None, limit: int
) -> FoundOrders:
    """Return a merchant's orders that match, newest first.

    `before` is the `next` of the previous page. It stays right while orders
    are added.
    """
    text = _clean(wanted.text)
    days = _read_days(wanted)
    values = {"merchant_id": merchant_id, "status": wanted.status, **days}
    span = find_span(
        db,
        merchant_id,
        since=days["since"] if wanted.from_day else None,
        until=days["until"] if wanted.to_day else None,
    )
    page = Span(span.oldest, span.newest if before is None else min(span.newest, before - 1))
    if page.oldest > page.newest or limit < 1 or len(text) > _LONGEST:
        return FoundOrders([], None)
    if not text:
        statement = _PAGE if wanted.status is None else _PAGE_OF_STATUS
        rows = statement.all(db, {**values, **page._asdict(), "limit": limit + 1})
        return _cut([OrderLine(*row) for row in rows], limit)
    found, is_too_common = _find_ordinals(db, values, text, span, page)
    lines = _read_lines(db, found, wanted, values, limit)
    return _cut(lines, limit, is_too_common=is_too_common)


def _cut(lines: list[OrderLine], limit: int, *, is_too_common: bool = False) -> FoundOrders:
    return FoundOrders(*cut_page(lines, limit, lambda line: line.ordinal), is_too_common)


def _clean(text: str) -> str:
    """Remove what neither database can store, and so no order has."""
    return "".join(
        letter for letter in text if letter != "\0" and ord(letter) not in _SURROGATES
    ).strip()


def _read_days(wanted: OrderSearch) -> dict[str, datetime]:
    first = min(max(wanted.from_day or _FIRST_DAY, _FIRST_DAY), _LAST_DAY)
    last = min(max(wanted.to_day or _LAST_DAY, _FIRST_DAY), _LAST_DAY)
    return {
        "since": datetime.combine(first, time(), UTC),
        "until": datetime.combine(last, time(), UTC) + timedelta(days=1),
    }


def find_span(
    db: Connection, merchant_id: int, *, since: datetime | None, until: datetime | None
) -> Span:
    """Return the ordinals of a merchant's orders of some days, and a few more at each end."""
    oldest, newest = 1, LARGEST_ID
    if since is not None:
        row = _LAST_BEFORE.first(db, {"merchant_id": merchant_id, "at": since - DISORDER})
        oldest = row[0] + 1 if row else 1
    if until is not None:
        row = _FIRST_SINCE.first(db, {"merchant_id": merchant_id, "at": until + DISORDER})
        newest = row[0] - 1 if row else LARGEST_ID
    return Span(oldest, newest)


def _find_ordinals(
    db: Connection, values: Mapping[str, Any], text: str, span: Span, page: Span
) -> tuple[list[int], bool]:
    """Return the ordinals of orders with this text, newest first.

    Also say whether there are more that were not searched.
    """
    found: set[int] = set()
    is_too_common = False
    merchant = {"merchant_id": values["merchant_id"]}
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS_OF_AN_ID:
        found.update(_BY_ID.find(db, {**merchant, "id": min(int(text), LARGEST_ID)}))
    recipients = {simplify(text), make_recipient_key(text)}
    lookups = [(_BY_REFERENCE, text), *((_BY_RECIPIENT, key) for key in recipients if key)]
    for written, key in lookups:
        sought = {**merchant, "limit": MOST_ALIKE + 1}
        alike = written.beginning.find(db, {**sought, "text": key, "after": find_end(key)})
        if len(alike) > MOST_ALIKE:
            is_too_common = True
            alike = written.equal.find(db, {**sought, written.name: key, **page._asdict()})
        found.update(alike)
    found.update(_search_names(db, values, text, span))
    wanted = (ordinal for ordinal in found if page.oldest <= ordinal <= page.newest)
    return sorted(wanted, reverse=True), is_too_common


def find_end(beginning: str) -> str:
    """Return the first text after all those with this beginning, in the order of bytes."""
    letters = beginning.rstrip(chr(_LAST_LETTER))
    if not letters:
        return chr(_LAST_LETTER) * _LONGEST
    last = ord(letters[-1]) + 1
    return letters[:-1] + chr(_SURROGATES.stop if last in _SURROGATES else last)


def _search_names(
    db: Connection, values: Mapping[str, Any], text: str, span: Span
) -> Iterable[int]:
    """Search for words anywhere in the names of the newest orders of some days."""
    words = simplify(text).split()
    if any(len(word) > _LONGEST for word in words):
        return []
    (count,) = _COUNT.one(db, {"merchant_id": values["merchant_id"]})
    newest = min(count, span.newest)
    searched = {"oldest": max(span.oldest, newest - NEWEST + 1), "newest": newest}
    parts = {f"part{place}": _spell(word) for place, word in enumerate(words[:MOST_WORDS])}
    sought = {**values, **searched, **parts, "text": text, "after": find_end(text)}
    statement = _with_parts(len(parts), has_status=values["status"] is not None)
    return statement.find(db, sought)


def _spell(word: str) -> str:
    """Return the pattern that matches a word anywhere."""
    escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


_LINES: Final = select(*_COLUMNS).where(
    _IS_MERCHANTS, orders.c.ordinal.in_(bindparam("ordinals", expanding=True)), _IS_OF_DAYS
)


def _read_lines(
    db: Connection,
    ordinals: Sequence[int],
    wanted: OrderSearch,
    values: Mapping[str, Any],
    limit: int,
) -> list[OrderLine]:
    """Read the first of these orders that match, up to one more than the limit."""
    statement = _LINES if wanted.status is None else _LINES.where(_HAS_STATUS)
    at_once = limit + 1 if wanted.status is None else _AT_ONCE
    lines: list[OrderLine] = []
    for first in range(0, len(ordinals), at_once):
        chosen = ordinals[first : first + at_once]
        rows = db.execute(statement, {**values, "ordinals": chosen})
        lines += sorted((OrderLine(*row) for row in rows), key=lambda line: -line.ordinal)
        if len(lines) > limit:
            break
    return lines[: limit + 1]
