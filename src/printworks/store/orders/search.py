"""Finding a merchant's orders, newest first: by text, by status and by day.

Every search reads a limited number of rows, and no more in a large shop than in a small one.
The beginning of a text is found in an index; any other part of a name is searched for only
among the newest orders.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Select,
    and_,
    bindparam,
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
from printworks.store.engine.prepared import PreparedStatement, is_one_of, write_list
from printworks.store.engine.rows import columns_of, cut_page
from printworks.store.orders.amounts import TOTAL
from printworks.store.orders.lookups import (
    BY_ID,
    BY_TRACKING,
    IS_IN_SPAN,
    IS_MERCHANTS,
    LONGEST,
    SURROGATES,
    OrderCount,
    Ordinals,
    find_end,
    find_with_product,
    is_true,
    name_numbers,
)
from printworks.store.orders.spans import Span, find_span
from printworks.store.tables import merchants, orders

# A part of a name is searched for in this many of the newest orders.
NEWEST: Final = 2000
# If more orders begin with a text, only the newest of them are found.
MOST_ALIKE: Final = 1000
# More words of a name are ignored when parts of names are searched for.
MOST_WORDS: Final = 8
# With a status most orders are skipped: this many are read with one statement.
_AT_ONCE: Final = 500
_FIRST_DAY: Final = date(1970, 1, 1)
_LAST_DAY: Final = date(9990, 1, 1)


class OrderSearch(msgspec.Struct, frozen=True, kw_only=True):
    """What to search for; an order must match all that is given."""

    # An order's id, the beginning of its reference or of its town, its recipient, or the tracking
    # number of a shipment.
    text: str = ""
    # The product that the text names, if it does.
    sku: str | None = None
    status: OrderStatus | None = None
    # Days on which it was created, both included, where the merchant lives.
    from_day: date | None = None
    to_day: date | None = None
    zone: tzinfo = UTC


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
    # What is charged in all, with tax.
    price: int
    held_at: datetime | None
    reasons: StoredReasons
    reprint_of: int | None
    delivered_at: datetime | None
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


_COLUMNS: Final = columns_of(orders, OrderLine, price=TOTAL)


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
            IS_MERCHANTS,
            place >= tuple_(value, bindparam("oldest", type_=orders.c.ordinal.type)),
            place <= tuple_(value, bindparam("newest", type_=orders.c.ordinal.type)),
            *conditions,
        )
        .order_by(column.desc(), orders.c.ordinal.desc())
        .limit(bindparam("limit"))
    )


_PAGE: Final = PreparedStatement(
    select(*_COLUMNS)
    .where(IS_MERCHANTS, IS_IN_SPAN, _IS_OF_DAYS)
    .order_by(orders.c.ordinal.desc())
    .limit(bindparam("limit")),
    keeps_plan=True,
)
_PAGE_OF_STATUS: Final = PreparedStatement(
    _newest_with(orders.c.status, _COLUMNS, _IS_OF_DAYS), keeps_plan=True
)

_COUNT: Final = PreparedStatement(
    select(merchants.c.order_count).where(merchants.c.id == bindparam("merchant_id"))
)


_reference, _recipient = orders.c.merchant_order_id, orders.c.recipient_key
_town = orders.c.town_key


class _Beginning(NamedTuple):
    """A search for the beginning of a text in a column of orders."""

    # What the text is called among the values; the end of its range is called the same and "_end".
    name: str
    column: Column[Any]
    search: Select[Any]
    # For the whole text, if too much begins with it.
    equal: Ordinals


def _beginning(name: str, column: Column[Any], is_there: ColumnElement[bool]) -> _Beginning:
    search = (
        select(orders.c.ordinal)
        .where(IS_MERCHANTS, is_there, _begins(column, name))
        .order_by(column)
        .limit(bindparam("limit"))
    )
    equal = _newest_with(column, [orders.c.ordinal], is_there)
    return _Beginning(name, column, search, Ordinals(equal))


def _begins(column: Column[Any], name: str) -> ColumnElement[bool]:
    return and_(column >= bindparam(name), column < bindparam(f"{name}_end"))


# Spelled as in the indexes, which leave out empty values.
_HAS_RECIPIENT: Final = _recipient != literal_column("''")
_HAS_TOWN: Final = and_(_town.is_not(None), orders.c.status != literal_column("'NotYetSubmitted'"))
_BEGINNINGS: Final = (
    _beginning("reference", _reference, _reference.is_not(None)),
    # A name as it is typed, and as it is stored.
    _beginning("name", _recipient, _HAS_RECIPIENT),
    _beginning("recipient", _recipient, _HAS_RECIPIENT),
    _beginning("town", _town, _HAS_TOWN),
)
_INDEXED: Final = Ordinals(BY_ID, BY_TRACKING, *(each.search for each in _BEGINNINGS))


@cache
def _with_parts(count: int, *, has_status: bool) -> Ordinals:
    """Search a span for names and towns with this many parts in them, and for a reference."""
    words: list[Any] = [bindparam(f"part{place}") for place in range(count)]
    is_named, is_there = (
        and_(*(column.like(word, escape="\\") for word in words)) if words else false()
        for column in (_recipient, _town)
    )
    # No limit: it would tempt PostgreSQL to read the rows in another order than they lie in.
    found = select(orders.c.ordinal).where(
        IS_MERCHANTS, IS_IN_SPAN, or_(is_named, is_there, _begins(_reference, "reference"))
    )
    return Ordinals(found.where(_HAS_STATUS) if has_status else found)


def search_orders(
    db: Connection, merchant_id: int, wanted: OrderSearch, *, before: int | None, limit: int
) -> FoundOrders:
    """Return a merchant's orders that match, newest first.

    `before` is the `next` of the previous page. It stays right while orders
    are added.
    """
    text = _clean(wanted.text)
    values = _read_values(merchant_id, wanted)
    span = _find_days(db, merchant_id, wanted)
    page = Span(span.oldest, span.newest if before is None else min(span.newest, before - 1))
    if page.oldest > page.newest or limit < 1 or len(text) > LONGEST:
        return FoundOrders([], None)
    if not text:
        statement = _PAGE if wanted.status is None else _PAGE_OF_STATUS
        rows = statement.all(db, {**values, **page._asdict(), "limit": limit + 1})
        return _cut([OrderLine(*row) for row in rows], limit)
    found, is_too_common = _find_ordinals(db, values, text, span, page)
    lines = _read_lines(db, found, wanted, values, limit)
    return _cut(lines, limit, is_too_common=is_too_common)


def count_found_orders(db: Connection, merchant_id: int, wanted: OrderSearch) -> OrderCount:
    """Count the orders of a merchant that a search for a text finds on all its pages."""
    text = _clean(wanted.text)
    if len(text) > LONGEST:
        return OrderCount(0)
    values = _read_values(merchant_id, wanted)
    span = _find_days(db, merchant_id, wanted)
    found, is_too_common = _find_ordinals(db, values, text, span, span)
    has_days = wanted.from_day is not None or wanted.to_day is not None
    if wanted.status is None and not has_days:
        return OrderCount(len(found), is_too_common)
    counting = (_OF_ANY_STATUS if wanted.status is None else _OF_STATUS).counting
    (counted,) = counting.one(db, {**values, "ordinals": write_list(found)})
    return OrderCount(counted, is_too_common)


def _read_values(merchant_id: int, wanted: OrderSearch) -> dict[str, Any]:
    known = {"merchant_id": merchant_id, "status": wanted.status, "sku": wanted.sku}
    return {**known, **read_days(wanted)}


def _find_days(db: Connection, merchant_id: int, wanted: OrderSearch) -> Span:
    days = read_days(wanted)
    since = days["since"] if wanted.from_day else None
    until = days["until"] if wanted.to_day else None
    return find_span(db, merchant_id, since=since, until=until)


def _cut(lines: list[OrderLine], limit: int, *, is_too_common: bool = False) -> FoundOrders:
    return FoundOrders(*cut_page(lines, limit, lambda line: line.ordinal), is_too_common)


def _clean(text: str) -> str:
    """Remove what neither database can store, and so no order has."""
    return "".join(
        letter for letter in text if letter != "\0" and ord(letter) not in SURROGATES
    ).strip()


def read_days(wanted: OrderSearch) -> dict[str, datetime]:
    """Return when the days of a search begin and end."""
    first = min(max(wanted.from_day or _FIRST_DAY, _FIRST_DAY), _LAST_DAY)
    last = min(max(wanted.to_day or _LAST_DAY, _FIRST_DAY), _LAST_DAY)
    return {
        "since": datetime.combine(first, time(), wanted.zone),
        "until": datetime.combine(last + timedelta(days=1), time(), wanted.zone),
    }


def _find_ordinals(
    db: Connection, values: Mapping[str, Any], text: str, span: Span, page: Span
) -> tuple[list[int], bool]:
    """Return the ordinals of orders with this text, newest first.

    Also say whether there are more that were not searched.
    """
    merchant = {"merchant_id": values["merchant_id"], "limit": MOST_ALIKE + 1}
    plain, recipient = simplify(text), make_recipient_key(text)
    keys = {"reference": text, "name": plain, "recipient": recipient, "town": plain}
    if recipient == plain:
        del keys["recipient"]
    sought = {**merchant, **name_numbers(text)}
    for beginning in _BEGINNINGS:
        sought |= _name_range(beginning.name, keys.get(beginning.name))
    by_id, by_tracking, *by_beginning = _INDEXED.find(db, sought)
    found, is_too_common = {*by_id, *by_tracking}, False
    for beginning, alike in zip(_BEGINNINGS, by_beginning, strict=True):
        if len(alike) > MOST_ALIKE:
            is_too_common = True
            key = {beginning.column.name: keys[beginning.name]}
            (alike,) = beginning.equal.find(db, {**merchant, **key, **page._asdict()})
        found.update(alike)
    newest = _find_newest(db, values["merchant_id"], span)
    found.update(_search_names(db, values, text, newest))
    if values["sku"] is not None:
        merchant_id, sku = values["merchant_id"], values["sku"]
        found.update(find_with_product(db, merchant_id, sku, **newest._asdict()))
    wanted = (ordinal for ordinal in found if page.oldest <= ordinal <= page.newest)
    return sorted(wanted, reverse=True), is_too_common


def _name_range(name: str, text: str | None) -> dict[str, str | None]:
    """Return the first and the last text with this beginning; nothing if there is no beginning."""
    return {name: text or None, f"{name}_end": find_end(text) if text else None}


def _find_newest(db: Connection, merchant_id: int, span: Span) -> Span:
    """Return the part of a span in which everything is searched that no index has."""
    (count,) = _COUNT.one(db, {"merchant_id": merchant_id})
    newest = min(count, span.newest)
    return Span(max(span.oldest, newest - NEWEST + 1), newest)


def _search_names(
    db: Connection, values: Mapping[str, Any], text: str, searched: Span
) -> Iterable[int]:
    """Search for words anywhere in the names and towns of the newest orders of some days."""
    words = simplify(text).split()
    if any(len(word) > LONGEST for word in words):
        return []
    parts = {f"part{place}": _spell(word) for place, word in enumerate(words[:MOST_WORDS])}
    sought = {**values, **searched._asdict(), **parts, **_name_range("reference", text)}
    statement = _with_parts(len(parts), has_status=values["status"] is not None)
    return statement.find(db, sought)[0]


def _spell(word: str) -> str:
    """Return the pattern that matches a word anywhere."""
    escaped = word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


_IS_FOUND: Final = and_(IS_MERCHANTS, is_one_of(orders.c.ordinal, "ordinals"), _IS_OF_DAYS)
_LINES: Final = select(*_COLUMNS).where(_IS_FOUND).order_by(orders.c.ordinal.desc())
# Of a column that no index has: SQLite would read all of an index that has the others.
_COUNTED: Final = select(func.count(orders.c.version)).where(_IS_FOUND)


class _SearchStatements(NamedTuple):
    """What is asked about orders that a text has found."""

    lines: PreparedStatement
    counting: PreparedStatement


_OF_ANY_STATUS: Final = _SearchStatements(PreparedStatement(_LINES), PreparedStatement(_COUNTED))
_OF_STATUS: Final = _SearchStatements(
    PreparedStatement(_LINES.where(_HAS_STATUS)), PreparedStatement(_COUNTED.where(_HAS_STATUS))
)


def _read_lines(
    db: Connection,
    ordinals: Sequence[int],
    wanted: OrderSearch,
    values: Mapping[str, Any],
    limit: int,
) -> list[OrderLine]:
    """Read the first of these orders that match, up to one more than the limit."""
    found = _OF_ANY_STATUS if wanted.status is None else _OF_STATUS
    at_once = limit + 1 if wanted.status is None else _AT_ONCE
    lines: list[OrderLine] = []
    for first in range(0, len(ordinals), at_once):
        chosen = ordinals[first : first + at_once]
        rows = found.lines.all(db, {**values, "ordinals": write_list(chosen)})
        lines += [OrderLine(*row) for row in rows]
        if len(lines) > limit:
            break
    return lines[: limit + 1]
