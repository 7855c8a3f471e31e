"""Money as whoever runs the business lists it: a page at a time, newest first, and in all."""

from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, tuple_

from printworks.catalogue.products import Currency
from printworks.rules.ledger import LedgerEntry
from printworks.store.money.ledger import read_lines
from printworks.store.orders.orders import LARGEST_ID
from printworks.store.tables import ledger_entries, merchants


class EntryLine(msgspec.Struct, frozen=True):
    """Money that moved, and whose it is."""

    entry: LedgerEntry
    merchant_code: str
    merchant: str


class EntryPlace(msgspec.Struct, frozen=True):
    """Where an entry is among those of all merchants."""

    created_at: datetime
    merchant_id: int
    number: int


class EntryPage(msgspec.Struct, frozen=True):
    """Some of what moved."""

    entries: list[EntryLine]
    # Before which place the next page begins; None if this is the last.
    next: EntryPlace | None


# Everything has a merchant; but an outer join is read from its left side, in the order of the
# page, and not merchant by merchant.
_ENTRIES: Final = select(
    merchants.c.code.label("merchant_code"),
    merchants.c.name.label("merchant"),
    *(ledger_entries.c[name] for name in LedgerEntry.__struct_fields__),
).join_from(ledger_entries, merchants, isouter=True)


def list_money(
    db: Connection, *, merchant_id: int | None = None, before: EntryPlace | None = None, limit: int
) -> EntryPage:
    """Return what moved, of one merchant or of all, newest first.

    `before` is what the page before this one named as its `next`.
    """
    table = ledger_entries.c
    if merchant_id is not None:
        last = before.number if before else LARGEST_ID
        wanted = _ENTRIES.where(table.merchant_id == merchant_id, table.number < last)
        wanted = wanted.order_by(table.number.desc())
    else:
        place = before or _END
        # The moments say no more than the place does, but an index can find them.
        moments = table.created_at.between(_find_end_of_page(db, place, limit), place.created_at)
        wanted = _ENTRIES.where(moments, _is_before(place)).order_by(
            table.created_at.desc(), table.merchant_id.desc(), table.number.desc()
        )
    rows = db.execute(wanted.limit(limit + 1)).all()
    lines = [_read_entry(dict(row._mapping)) for row in rows[:limit]]
    return EntryPage(lines, _place(lines[-1].entry) if len(rows) > limit else None)


# After everything, whatever clock a merchant has.
_END: Final = EntryPlace(datetime(9000, 1, 1, tzinfo=UTC), LARGEST_ID, LARGEST_ID)
_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _find_end_of_page(db: Connection, place: EntryPlace, limit: int) -> datetime:
    """Return a moment since which there are enough entries for a page, and hardly more."""
    created_at = ledger_entries.c.created_at
    older = select(created_at).where(created_at < place.created_at).order_by(created_at.desc())
    return db.execute(older.limit(1).offset(limit)).scalar() or _BEGINNING


def _is_before(place: EntryPlace) -> ColumnElement[bool]:
    table = ledger_entries.c
    return or_(
        table.created_at < place.created_at,
        and_(
            table.created_at == place.created_at,
            tuple_(table.merchant_id, table.number) < (place.merchant_id, place.number),
        ),
    )


def _place(entry: LedgerEntry) -> EntryPlace:
    return EntryPlace(entry.created_at, entry.merchant_id, entry.number)


def _read_entry(values: dict[str, Any]) -> EntryLine:
    code, name = values.pop("merchant_code"), values.pop("merchant")
    values["lines"] = read_lines(values["lines"])
    return EntryLine(LedgerEntry(**values), code, name)


class Owed(msgspec.Struct, frozen=True):
    """What merchants owe in one currency, and what others have paid ahead, in minor units."""

    currency: Currency
    owed: int
    paid_ahead: int


def sum_balances(db: Connection) -> list[Owed]:
    """Return what all merchants together owe, by currency."""
    owed = case((merchants.c.balance > 0, merchants.c.balance), else_=0)
    ahead = case((merchants.c.balance < 0, -merchants.c.balance), else_=0)
    rows = db.execute(
        select(merchants.c.currency, func.sum(owed), func.sum(ahead))
        .group_by(merchants.c.currency)
        .order_by(merchants.c.currency)
    )
    return [Owed(currency, int(due), int(paid)) for currency, due, paid in rows]
