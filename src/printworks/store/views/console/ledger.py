"""The ledger for operators: entries, a page at a time, newest first, and totals."""

from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from sqlalchemy import ColumnElement, Connection, and_, case, func, or_, select, tuple_

from printworks.catalogue.products import Currency
from printworks.rules.ledger import LedgerEntry
from printworks.store.engine.rows import LARGEST_ID, cut_page
from printworks.store.money.ledger import COLUMNS, read_entry
from printworks.store.tables import ledger_entries, merchants


class EntryLine(msgspec.Struct, frozen=True):
    entry: LedgerEntry
    merchant_code: str
    merchant: str


class EntryPlace(msgspec.Struct, frozen=True):
    """The position of an entry among those of all merchants."""

    created_at: datetime
    merchant_id: int
    number: int


class EntryPage(msgspec.Struct, frozen=True):
    entries: list[EntryLine]
    # The position before which the next page begins; None if this is the last.
    next: EntryPlace | None


# Every entry has a merchant, but an outer join is read from its left side, in the order of the
# page, instead of merchant by merchant.
_ENTRIES: Final = select(
    merchants.c.code.label("merchant_code"), merchants.c.name.label("merchant"), *COLUMNS
).join_from(ledger_entries, merchants, isouter=True)


def list_money(
    db: Connection, *, merchant_id: int | None = None, before: EntryPlace | None = None, limit: int
) -> EntryPage:
    """Return the entries of one merchant, or of all, newest first.

    `before` is the `next` of the previous page.
    """
    table = ledger_entries.c
    if merchant_id is not None:
        last = before.number if before else LARGEST_ID
        wanted = _ENTRIES.where(table.merchant_id == merchant_id, table.number < last)
        wanted = wanted.order_by(table.number.desc())
    else:
        place = before or _END
        # The timestamps say no more than the position does, but they have an index.
        period = table.created_at.between(_find_end_of_page(db, place, limit), place.created_at)
        wanted = _ENTRIES.where(period, _is_before(place)).order_by(
            table.created_at.desc(), table.merchant_id.desc(), table.number.desc()
        )
    rows = db.execute(wanted.limit(limit + 1)).all()
    lines = [_read_line(dict(row._mapping)) for row in rows]
    return EntryPage(*cut_page(lines, limit, lambda line: _place(line.entry)))


# After every entry, also those of merchants whose clocks are ahead.
_END: Final = EntryPlace(datetime(9000, 1, 1, tzinfo=UTC), LARGEST_ID, LARGEST_ID)
_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _find_end_of_page(db: Connection, place: EntryPlace, limit: int) -> datetime:
    """Return a time since which there are just enough entries for a page."""
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


def _read_line(values: dict[str, Any]) -> EntryLine:
    code, name = values.pop("merchant_code"), values.pop("merchant")
    return EntryLine(read_entry(values), code, name)


class Owed(msgspec.Struct, frozen=True):
    """What merchants owe in one currency, and what they have paid ahead, in minor units."""

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
