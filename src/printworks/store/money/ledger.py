"""The ledger: entries are added and read, never changed."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, insert, select, update

from printworks.conversion import reader_of
from printworks.rules.ledger import (
    Booked,
    Books,
    EntryKind,
    LedgerEntry,
    LedgerLine,
    OrderMoney,
    hash_entry,
    write_lines,
)
from printworks.store.tables import ledger_entries, merchants, orders

# Rows that are read at once, however many there are.
PAGE: Final = 1000

# The lines of an entry, as they are kept.
read_lines: Final = reader_of(tuple[LedgerLine, ...])
_COLUMNS: Final = [ledger_entries.c[name] for name in LedgerEntry.__struct_fields__]
_BOOKS: Final = (merchants.c.ledger_count, merchants.c.ledger_head, merchants.c.balance)


def post_entry(
    db: Connection,
    merchant_id: int,
    *,
    key: str,
    kind: EntryKind,
    amount: int,
    currency: str,
    order_id: int | None = None,
    memo: str = "",
    now: datetime,
) -> LedgerEntry | None:
    """Write down that money moved; None, and nothing is written, if that was done before."""
    books = lock_books(db, merchant_id)
    is_known = select(ledger_entries.c.number).where(
        ledger_entries.c.merchant_id == merchant_id, ledger_entries.c.key == key
    )
    if db.execute(is_known).first() is not None:
        return None
    entry = LedgerEntry(
        merchant_id=merchant_id,
        number=books.count + 1,
        key=key,
        kind=kind,
        order_id=order_id,
        currency=currency,
        lines=write_lines(kind, amount),
        memo=memo,
        created_at=now,
        previous=books.head,
    )
    head = hash_entry(entry)
    values: dict[str, Any] = msgspec.structs.asdict(entry)
    values["lines"] = msgspec.to_builtins(entry.lines)
    db.execute(insert(ledger_entries).values(**values, hash=head))
    db.execute(
        update(merchants)
        .where(merchants.c.id == merchant_id)
        .values(ledger_count=entry.number, ledger_head=head, balance=books.balance + entry.owed)
    )
    return entry


def lock_books(db: Connection, merchant_id: int) -> Books:
    """Return what a merchant's ledger comes to, as it stays until the transaction ends.

    Whoever posts next sees what this transaction posts as the entry before.
    """
    # Without the key: others may go on adding orders and jobs of this merchant, or two who wait
    # for each other's rows would never end.
    locked = select(*_BOOKS).where(merchants.c.id == merchant_id).with_for_update(key_share=True)
    return Books(*db.execute(locked).one())


def read_books(db: Connection, merchant_id: int) -> Books:
    """Return what a merchant's ledger comes to."""
    return Books(*db.execute(select(*_BOOKS).where(merchants.c.id == merchant_id)).one())


def read_credit_limit(db: Connection, merchant_id: int) -> int | None:
    """Return the most that a merchant may owe; None is without a limit."""
    query = select(merchants.c.credit_limit).where(merchants.c.id == merchant_id)
    limit: int | None = db.execute(query).scalar_one()
    return limit


def set_credit_limit(db: Connection, merchant_id: int, limit: int | None) -> None:
    """Say how much a merchant may owe."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(credit_limit=limit))


def list_entries(db: Connection, merchant_id: int) -> Iterator[Booked]:
    """Return a merchant's entries, oldest first, a page at a time."""
    last = 0
    while True:
        rows = db.execute(
            select(*_COLUMNS, ledger_entries.c.hash)
            .where(ledger_entries.c.merchant_id == merchant_id, ledger_entries.c.number > last)
            .order_by(ledger_entries.c.number)
            .limit(PAGE)
        ).all()
        for row in rows:
            values = {**row._mapping, "lines": read_lines(row.lines)}
            stored = values.pop("hash")
            last = row.number
            yield Booked(LedgerEntry(**values), stored)
        if len(rows) < PAGE:
            return


def list_order_money(db: Connection, merchant_id: int) -> Iterator[OrderMoney]:
    """Return what the ledger must say of each of a merchant's orders, a page at a time."""
    last = 0
    while True:
        rows = db.execute(
            select(
                orders.c.ordinal, orders.c.id, orders.c.status, orders.c.price, orders.c.currency
            )
            .where(orders.c.merchant_id == merchant_id, orders.c.ordinal > last)
            .order_by(orders.c.ordinal)
            .limit(PAGE)
        ).all()
        for ordinal, *money in rows:
            last = ordinal
            yield OrderMoney(*money)
        if len(rows) < PAGE:
            return
