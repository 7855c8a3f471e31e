"""Single lookups of a merchant's orders: by number, by parcel and by product."""

from collections.abc import Mapping
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
# One number rarely belongs to more parcels than these.
_MOST_PARCELS: Final = 1000

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


_BY_ID: Final = Ordinals(
    select(orders.c.ordinal).where(IS_MERCHANTS, orders.c.id == bindparam("id"))
)
_BY_TRACKING: Final = Ordinals(
    select(orders.c.ordinal).where(
        # By the parcel alone: a merchant has many orders, and a number few parcels.
        is_true(IS_MERCHANTS),
        orders.c.id.in_(
            select(shipments.c.order_id)
            .where(
                shipments.c.tracking_number.is_not(None),
                shipments.c.tracking_number.in_(
                    [bindparam("typed"), bindparam("capitals"), bindparam("unspaced")]
                ),
            )
            .limit(bindparam("limit"))
        ),
    )
)
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


def find_exactly(db: Connection, merchant_id: int, text: str) -> set[int]:
    """Return the ordinals of orders with this number, or with a parcel of this tracking number."""
    found: set[int] = set()
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS_OF_AN_ID:
        sought = {"merchant_id": merchant_id, "id": min(int(text), LARGEST_ID)}
        found.update(_BY_ID.find(db, sought))
    if any(letter.isdigit() for letter in text):
        capitals = text.upper()
        forms = {"typed": text, "capitals": capitals, "unspaced": "".join(capitals.split())}
        limits = {"merchant_id": merchant_id, "limit": _MOST_PARCELS}
        found.update(_BY_TRACKING.find(db, {**forms, **limits}))
    return found


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
