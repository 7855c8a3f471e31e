"""Single lookups of a merchant's orders: by number, by shipment and by product."""

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Connection,
    Select,
    Text,
    and_,
    bindparam,
    case,
    cast,
    func,
    literal_column,
    select,
)

from printworks.store.engine.prepared import PreparedStatement, is_one_of, write_list
from printworks.store.engine.rows import LARGEST_ID
from printworks.store.tables import images, orders, shipments

# A product is searched for in the newest orders, as long as they have this many images together.
MOST_IMAGES: Final = 5000
_DIGITS_OF_AN_ID: Final = 19
# A longer text is not searched for: no name or reference is as long.
LONGEST: Final = 500
SURROGATES: Final = range(0xD800, 0xE000)
_LAST_LETTER: Final = 0x10FFFF
# One number rarely belongs to more shipments than these.
_MOST_SHIPMENTS: Final = 1000

IS_MERCHANTS: Final = orders.c.merchant_id == bindparam("merchant_id")
IS_IN_SPAN: Final = and_(
    orders.c.ordinal >= bindparam("oldest"), orders.c.ordinal <= bindparam("newest")
)


def is_true(condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Write a condition so that no index fits and most rows seem to meet it.

    It filters rows that were found in a better way, which neither database can know.
    """
    return case((condition, literal_column("1")), else_=literal_column("0")) != literal_column("0")


class OrderCount(NamedTuple):
    """How many orders match, or how many at least."""

    number: int
    is_least: bool = False


class Ordinals:
    """Searches for ordinals, run as one statement; each returns what it finds in one value.

    Fetching a row costs more than finding it, and asking for it much more.
    """

    def __init__(self, *searches: Select[Any]) -> None:
        self._prepared = {
            dialect: PreparedStatement(
                select(*(_join(search, write) for search in searches)), keeps_plan=True
            )
            for dialect, write in _WRITE_AS_LIST.items()
        }

    def find(self, db: Connection, values: Mapping[str, Any]) -> list[list[int]]:
        """Return the ordinals that each of the searches finds, in any order."""
        row = self._prepared[db.dialect.name].one(db, values)
        return [[int(ordinal) for ordinal in found.split(",")] if found else [] for found in row]


_WRITE_AS_LIST: Final[Mapping[str, Callable[[ColumnElement[str]], ColumnElement[str]]]] = {
    "sqlite": func.group_concat,
    "postgresql": lambda ordinal: func.string_agg(ordinal, literal_column("','")),
}


def _join(
    search: Select[Any], write: Callable[[ColumnElement[str]], ColumnElement[str]]
) -> ColumnElement[str]:
    found = search.subquery("found")
    return select(write(cast(found.c.ordinal, Text))).scalar_subquery()


# What is not sought is NULL, which no row has.
BY_ID: Final = select(orders.c.ordinal).where(IS_MERCHANTS, orders.c.id == bindparam("id"))
_shipments = (
    select(shipments.c.order_id)
    .where(
        shipments.c.tracking_number.is_not(None),
        shipments.c.tracking_number.in_(
            [bindparam("typed"), bindparam("capitals"), bindparam("unspaced")]
        ),
    )
    .limit(bindparam("most_shipments"))
    .subquery("sent")
)
# By the shipment alone: a merchant has many orders, and a number few shipments. One by one, or PostgreSQL
# may read all orders at once: it does not know how few shipments are found.
BY_TRACKING: Final = select(
    select(orders.c.ordinal)
    .where(orders.c.id == _shipments.c.order_id, is_true(IS_MERCHANTS))
    .scalar_subquery()
    .label("ordinal")
).select_from(_shipments)
_SIZED: Final = PreparedStatement(
    select(orders.c.id, orders.c.ordinal, orders.c.image_count)
    .where(IS_MERCHANTS, IS_IN_SPAN)
    .order_by(orders.c.ordinal.desc())
)
_WITH_PRODUCT: Final = PreparedStatement(
    select(images.c.order_id)
    .where(is_one_of(images.c.order_id, "ids"), is_true(images.c.sku == bindparam("sku")))
    .distinct()
)


def name_numbers(text: str) -> dict[str, Any]:
    """Return the values for orders with this number, and for a shipment of this tracking number."""
    is_id = text.isascii() and text.isdigit() and len(text) <= _DIGITS_OF_AN_ID
    has_number = any(letter.isdigit() for letter in text)
    capitals = text.upper()
    forms = {"typed": text, "capitals": capitals, "unspaced": "".join(capitals.split())}
    return {
        "id": min(int(text), LARGEST_ID) if is_id else None,
        **(forms if has_number else dict.fromkeys(forms)),
        "most_shipments": _MOST_SHIPMENTS,
    }


def find_with_product(
    db: Connection, merchant_id: int, sku: str, *, oldest: int, newest: int
) -> set[int]:
    """Return the ordinals of orders of a span with this product, of as many as can be read."""
    span = {"merchant_id": merchant_id, "oldest": oldest, "newest": newest}
    ordinals, room = {}, MOST_IMAGES
    for order_id, ordinal, image_count in _SIZED.all(db, span):
        room -= image_count
        if room < 0:
            break
        if image_count:
            ordinals[order_id] = ordinal
    rows = _WITH_PRODUCT.all(db, {"ids": write_list(ordinals), "sku": sku})
    return {ordinals[order_id] for (order_id,) in rows}


def find_end(beginning: str) -> str:
    """Return the first text after all those with this beginning, in the order of bytes."""
    letters = beginning.rstrip(chr(_LAST_LETTER))
    if not letters:
        return chr(_LAST_LETTER) * LONGEST
    last = ord(letters[-1]) + 1
    return letters[:-1] + chr(SURROGATES.stop if last in SURROGATES else last)
