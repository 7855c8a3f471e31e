"""Orders of any merchant, found by what a caller can tell: for operators only.

Each lookup reads one index, and no more of it than a limit; names and references are looked up
merchant by merchant, in the indexes of their own searches.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    bindparam,
    literal_column,
    or_,
    select,
)

from printworks.rules.search import make_email_key, make_postal_key, make_recipient_key, simplify
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import LARGEST_ID
from printworks.store.orders.lookups import find_end
from printworks.store.tables import merchants, orders, shipments
from printworks.store.views.console.orders import AnyOrder, read_any_orders

# If more orders match a text in one way, only so many of them are found.
MOST_ALIKE: Final = 1000
# Postcodes of drafts are searched for in this many of the newest.
NEWEST_DRAFTS: Final = 2000
_DIGITS_OF_AN_ID: Final = 18
_LONGEST: Final = 200


class FoundAnyOrders(msgspec.Struct, frozen=True):
    """Orders that were found, newest first."""

    orders: list[AnyOrder]
    # Whether there are more.
    is_cut: bool


class PersonSearch(msgspec.Struct, frozen=True, kw_only=True):
    """Whose orders to find: by email address, or by name and postcode."""

    email: str = ""
    name: str = ""
    postcode: str = ""
    merchant_id: int | None = None


# Not a join: SQLite would read the references or names of all orders.
_OF_ANY_MERCHANT: Final = orders.c.merchant_id.in_(select(merchants.c.id))


def _look_up(
    *conditions: ColumnElement[bool], number: ColumnElement[int] = orders.c.id
) -> PreparedStatement:
    return PreparedStatement(select(number).where(*conditions).limit(bindparam("limit")))


def _is_sought(column: Column[Any]) -> ColumnElement[bool]:
    return column == bindparam("sought", type_=column.type)


# Conditions are spelled as in the partial indexes.
_ID: Final = _look_up(_is_sought(orders.c.id))
_REFERENCE: Final = _look_up(
    _OF_ANY_MERCHANT,
    _is_sought(orders.c.merchant_order_id),
    orders.c.merchant_order_id.is_not(None),
)
_RECIPIENT: Final = _look_up(
    _OF_ANY_MERCHANT,
    orders.c.recipient_key != literal_column("''"),
    orders.c.recipient_key >= bindparam("sought"),
    orders.c.recipient_key < bindparam("after"),
)
_POSTCODE: Final = _look_up(
    orders.c.postal_key.is_not(None),
    orders.c.status != literal_column("'NotYetSubmitted'"),
    _is_sought(orders.c.postal_key),
)
_drafts = (
    select(orders.c.id, orders.c.postal_key)
    .where(orders.c.status == literal_column("'NotYetSubmitted'"))
    .order_by(orders.c.created_at.desc())
    .limit(bindparam("newest"))
    .subquery("drafts")
)
_DRAFT_POSTCODE: Final = _look_up(_drafts.c.postal_key == bindparam("sought"), number=_drafts.c.id)
_EMAIL: Final = _look_up(orders.c.email_key.is_not(None), _is_sought(orders.c.email_key))
_TRACKING: Final = _look_up(
    shipments.c.tracking_number.is_not(None),
    or_(
        _is_sought(shipments.c.tracking_number),
        shipments.c.tracking_number == bindparam("capitals"),
    ),
    number=shipments.c.order_id,
)


def search_any_orders(db: Connection, wanted: str, *, limit: int) -> FoundAnyOrders:
    """Find orders by number, reference, recipient, postcode, email address or tracking number."""
    sought = wanted.replace("\0", "").strip()[:_LONGEST]
    ids: set[int] = set()
    is_cut = False
    for lookup in _LOOKUPS if sought else ():
        found = lookup(db, sought)
        is_cut |= len(found) > MOST_ALIKE
        ids.update(found)
    newest = sorted(ids, reverse=True)
    return FoundAnyOrders(read_any_orders(db, newest[:limit]), is_cut or len(newest) > limit)


def find_orders_of_person(db: Connection, person: PersonSearch, *, limit: int) -> FoundAnyOrders:
    """Find the orders of one person, in every state."""
    candidates: list[Sequence[int]] = []
    if person.email:
        candidates.append(_by_email(db, person.email))
    if person.name and person.postcode:
        surname = (simplify(person.name).split() or [""])[-1]
        candidates.append(_by_postcode(db, person.postcode))
        candidates.append(_by_recipient_key(db, surname))
    is_cut = any(len(found) > MOST_ALIKE for found in candidates)
    ids = sorted({order_id for found in candidates for order_id in found}, reverse=True)
    fitting = _select_person(db, ids, person)
    return FoundAnyOrders(read_any_orders(db, fitting[:limit]), is_cut or len(fitting) > limit)


def _select_person(db: Connection, ids: Sequence[int], person: PersonSearch) -> list[int]:
    """Return those of some orders that are this person's."""
    words = set(simplify(person.name).split())
    postcode, email = make_postal_key(person.postcode), make_email_key(person.email)
    columns = (orders.c.id, orders.c.recipient_key, orders.c.postal_key, orders.c.email_key)
    fitting = []
    for first in range(0, len(ids), MOST_ALIKE):
        query = select(*columns).where(orders.c.id.in_(ids[first : first + MOST_ALIKE]))
        if person.merchant_id is not None:
            query = query.where(orders.c.merchant_id == person.merchant_id)
        for order_id, name, postal_key, email_key in db.execute(query):
            is_named = postal_key == postcode and bool(words) and words <= set(name.split())
            if (email is not None and email_key == email) or (is_named and postcode is not None):
                fitting.append(order_id)
    return sorted(fitting, reverse=True)


def _by_id(db: Connection, sought: str) -> Sequence[int]:
    if not (sought.isascii() and sought.isdigit()) or len(sought) > _DIGITS_OF_AN_ID:
        return []
    return _find(db, _ID, {"sought": min(int(sought), LARGEST_ID)})


def _by_reference(db: Connection, sought: str) -> Sequence[int]:
    return _find(db, _REFERENCE, {"sought": sought})


def _by_recipient(db: Connection, sought: str) -> Sequence[int]:
    """Find names that begin like this, or whose surname does."""
    keys = {simplify(sought), make_recipient_key(sought)} - {""}
    return [order_id for key in sorted(keys) for order_id in _by_recipient_key(db, key)]


def _by_recipient_key(db: Connection, key: str) -> Sequence[int]:
    return _find(db, _RECIPIENT, {"sought": key, "after": find_end(key)}) if key else []


def _by_postcode(db: Connection, sought: str) -> Sequence[int]:
    key = make_postal_key(sought)
    # Every country that has postcodes has digits in them.
    if key is None or not any(letter.isdigit() for letter in key):
        return []
    drafts = _find(db, _DRAFT_POSTCODE, {"sought": key, "newest": NEWEST_DRAFTS})
    return [*_find(db, _POSTCODE, {"sought": key}), *drafts]


def _by_email(db: Connection, sought: str) -> Sequence[int]:
    key = make_email_key(sought)
    return _find(db, _EMAIL, {"sought": key}) if key and "@" in key else []


def _by_tracking(db: Connection, sought: str) -> Sequence[int]:
    return _find(db, _TRACKING, {"sought": sought, "capitals": sought.upper()})


def _find(
    db: Connection, statement: PreparedStatement, values: Mapping[str, object]
) -> Sequence[int]:
    return [number for (number,) in statement.all(db, {**values, "limit": MOST_ALIKE + 1})]


_LOOKUPS: Final[Iterable[Callable[[Connection, str], Sequence[int]]]] = (
    _by_id,
    _by_reference,
    _by_recipient,
    _by_postcode,
    _by_email,
    _by_tracking,
)
