"""Orders of any merchant, found by what a caller can tell: for operators only.

Each lookup reads one index, and no more of it than a limit; names and references are looked up
merchant by merchant, in the indexes of their own searches.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, Select, select, text

from printworks.rules.search import make_email_key, make_postal_key, make_recipient_key, simplify
from printworks.store.console.orders import AnyOrder, read_any_orders
from printworks.store.engine.rows import LARGEST_ID
from printworks.store.orders.search import find_end
from printworks.store.tables import merchants, orders, shipments

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
    """Whose orders to find: by e-mail address, or by name and postcode."""

    email: str = ""
    name: str = ""
    postcode: str = ""
    merchant_id: int | None = None


# Not a join: SQLite would read the references or names of all orders.
_OF_ANY_MERCHANT: Final = orders.c.merchant_id.in_(select(merchants.c.id))
_IS_SUBMITTED: Final = text("postal_key IS NOT NULL AND status != 'NotYetSubmitted'")


def search_any_orders(db: Connection, wanted: str, *, limit: int) -> FoundAnyOrders:
    """Find orders by number, reference, recipient, postcode, e-mail address or tracking number."""
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
    return _find(db, select(orders.c.id).where(orders.c.id == min(int(sought), LARGEST_ID)))


def _by_reference(db: Connection, sought: str) -> Sequence[int]:
    return _find(
        db,
        select(orders.c.id).where(
            _OF_ANY_MERCHANT,
            orders.c.merchant_order_id == sought,
            orders.c.merchant_order_id.is_not(None),
        ),
    )


def _by_recipient(db: Connection, sought: str) -> Sequence[int]:
    """Find names that begin like this, or whose surname does."""
    keys = {simplify(sought), make_recipient_key(sought)} - {""}
    return [order_id for key in sorted(keys) for order_id in _by_recipient_key(db, key)]


def _by_recipient_key(db: Connection, key: str) -> Sequence[int]:
    if not key:
        return []
    column: ColumnElement[Any] = orders.c.recipient_key
    return _find(
        db,
        select(orders.c.id).where(
            _OF_ANY_MERCHANT, text("recipient_key != ''"), column >= key, column < find_end(key)
        ),
    )


def _by_postcode(db: Connection, sought: str) -> Sequence[int]:
    key = make_postal_key(sought)
    # Every country that has postcodes has digits in them.
    if key is None or not any(letter.isdigit() for letter in key):
        return []
    submitted = select(orders.c.id).where(_IS_SUBMITTED, orders.c.postal_key == key)
    drafts = (
        select(orders.c.id, orders.c.postal_key)
        # Spelled as in their index.
        .where(text("status = 'NotYetSubmitted'"))
        .order_by(orders.c.created_at.desc())
        .limit(NEWEST_DRAFTS)
        .subquery("drafts")
    )
    return [
        *_find(db, submitted),
        *_find(db, select(drafts.c.id).where(drafts.c.postal_key == key)),
    ]


def _by_email(db: Connection, sought: str) -> Sequence[int]:
    key = make_email_key(sought)
    query = select(orders.c.id).where(text("email_key IS NOT NULL"), orders.c.email_key == key)
    return _find(db, query) if key and "@" in key else []


def _by_tracking(db: Connection, sought: str) -> Sequence[int]:
    return _find(
        db,
        select(shipments.c.order_id)
        .where(
            text("tracking_number IS NOT NULL"),
            shipments.c.tracking_number.in_(sorted({sought, sought.upper()})),
        )
        .distinct(),
    )


def _find(db: Connection, query: Select[Any]) -> Sequence[int]:
    return db.execute(query.limit(MOST_ALIKE + 1)).scalars().all()


_LOOKUPS: Final[Iterable[Callable[[Connection, str], Sequence[int]]]] = (
    _by_id,
    _by_reference,
    _by_recipient,
    _by_postcode,
    _by_email,
    _by_tracking,
)
