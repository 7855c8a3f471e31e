"""The ledger: entries are added and read, never changed."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, bindparam, insert, select, text, update

from printworks.conversion import reader_of
from printworks.errors import NotFound
from printworks.rules.ledger import (
    Booked,
    Books,
    EntryKind,
    LedgerDay,
    LedgerEntry,
    LedgerLine,
    hash_entry,
    write_lines,
)
from printworks.rules.ledger_audit import AuditedOrder
from printworks.rules.sales import figures_of_entry
from printworks.store.engine.prepared import PreparedStatement
from printworks.store.engine.rows import columns_of, list_structs, possible_id, read_all
from printworks.store.money.sales import add_to_days
from printworks.store.orders.amounts import TAX, TOTAL
from printworks.store.tables import ledger_days, ledger_entries, merchants, orders

# Reads the lines of an entry as they are stored.
read_lines: Final = reader_of(tuple[LedgerLine, ...])
COLUMNS: Final = columns_of(ledger_entries, LedgerEntry)
_BOOKS = (merchants.c.ledger_count, merchants.c.ledger_head, merchants.c.balance)
_OF_MERCHANT = merchants.c.id == bindparam("merchant")
_READ: Final = PreparedStatement(select(*_BOOKS).where(_OF_MERCHANT))
# Without the key: other transactions can go on adding orders and jobs of this merchant, and do
# not deadlock with this one.
_LOCK: Final = PreparedStatement(
    select(*_BOOKS).where(_OF_MERCHANT).with_for_update(key_share=True)
)
_CREDIT_LIMIT: Final = PreparedStatement(select(merchants.c.credit_limit).where(_OF_MERCHANT))
_WITH_KEY: Final = PreparedStatement(
    select(ledger_entries.c.number).where(
        ledger_entries.c.merchant_id == bindparam("merchant"),
        ledger_entries.c.key == bindparam("key"),
    )
)
_INSERT: Final = PreparedStatement(
    insert(ledger_entries)
    .values({name: bindparam(name) for name in (*LedgerEntry.__struct_fields__, "hash", "balance")})
    .inline()
)
_WRITE_BOOKS: Final = PreparedStatement(
    update(merchants)
    .where(_OF_MERCHANT)
    .values({column.name: bindparam(column.name) for column in _BOOKS})
)
_ADD_TO_DAY: Final = PreparedStatement(
    text("""
    INSERT INTO ledger_days (merchant_id, day, kind, currency, entries, amount)
    VALUES (:merchant_id, :day, :kind, :currency, 1, :amount)
    ON CONFLICT (merchant_id, day, kind, currency) DO UPDATE
    SET entries = ledger_days.entries + 1, amount = ledger_days.amount + excluded.amount
""")
)


class NewLedgerEntry(msgspec.Struct, frozen=True, kw_only=True):
    """Money that moved, before it is in the ledger."""

    # An entry with the same key is posted once.
    key: str
    kind: EntryKind
    amount: int
    currency: str
    # How much of the amount is tax.
    tax: int = 0
    order_id: int | None = None
    memo: str = ""


def post_entry(
    db: Connection, merchant_id: int, new: NewLedgerEntry, *, now: datetime
) -> LedgerEntry | None:
    """Post that money moved; return None if an entry with this key was posted before."""
    books = lock_books(db, merchant_id)
    if _WITH_KEY.first(db, {"merchant": merchant_id, "key": new.key}) is not None:
        return None
    entry = LedgerEntry(
        merchant_id=merchant_id,
        number=books.count + 1,
        key=new.key,
        kind=new.kind,
        order_id=new.order_id,
        currency=new.currency,
        lines=write_lines(new.kind, new.amount, new.tax),
        memo=new.memo,
        created_at=now,
        previous=books.head,
    )
    head, balance = hash_entry(entry), books.balance + entry.owed
    values: dict[str, Any] = msgspec.structs.asdict(entry)
    values["lines"] = msgspec.to_builtins(entry.lines)
    _INSERT.run(db, {**values, "hash": head, "balance": balance})
    place = {"merchant_id": merchant_id, "day": entry.day, "kind": new.kind}
    _ADD_TO_DAY.run(db, {**place, "currency": new.currency, "amount": new.amount})
    add_to_days(db, merchant_id, figures_of_entry(entry))
    written = {"ledger_count": entry.number, "ledger_head": head, "balance": balance}
    _WRITE_BOOKS.run(db, {"merchant": merchant_id, **written})
    return entry


def lock_books(db: Connection, merchant_id: int) -> Books:
    """Lock a merchant's books and return them.

    The next transaction that posts sees the entries of this one.
    """
    return Books(*_LOCK.one(db, {"merchant": merchant_id}))


def read_books(db: Connection, merchant_id: int) -> Books:
    return Books(*_READ.one(db, {"merchant": merchant_id}))


def read_credit_limit(db: Connection, merchant_id: int) -> int | None:
    """Return the most that a merchant may owe; None is no limit."""
    limit: int | None = _CREDIT_LIMIT.one(db, {"merchant": merchant_id})[0]
    return limit


def set_credit_limit(db: Connection, merchant_id: int, limit: int | None) -> None:
    """Set the most that a merchant may owe."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(credit_limit=limit))


def read_entry(values: Any) -> LedgerEntry:
    """Convert the columns of a row to an entry."""
    return LedgerEntry(**{**values, "lines": read_lines(values["lines"])})


def list_entries(db: Connection, merchant_id: int, *, after: int = 0) -> Iterator[Booked]:
    """Yield a merchant's entries after that number, oldest first."""
    query = select(*COLUMNS, ledger_entries.c.hash, ledger_entries.c.balance).where(
        ledger_entries.c.merchant_id == merchant_id, ledger_entries.c.number > after
    )
    for row in read_all(db, query, ledger_entries.c.number):
        values = dict(row._mapping)
        stored, balance = values.pop("hash"), values.pop("balance")
        yield Booked(read_entry(values), stored, balance)


def get_entry(db: Connection, merchant_id: int, number: int) -> LedgerEntry:
    query = select(*COLUMNS).where(
        ledger_entries.c.merchant_id == merchant_id, ledger_entries.c.number == possible_id(number)
    )
    row = db.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"There is no entry {number}.")
    return read_entry(row._mapping)


def list_days(db: Connection, merchant_id: int) -> list[LedgerDay]:
    """Return the totals of all days on which a merchant's money moved."""
    query = select(*columns_of(ledger_days, LedgerDay))
    return list_structs(db, LedgerDay, query.where(ledger_days.c.merchant_id == merchant_id))


def list_order_money(db: Connection, merchant_id: int) -> Iterator[AuditedOrder]:
    """Yield the amounts of a merchant's orders, which the ledger must agree with."""
    money = (orders.c.id, orders.c.status, TOTAL, TAX, orders.c.currency)
    query = select(*money, orders.c.ordinal).where(orders.c.merchant_id == merchant_id)
    for row in read_all(db, query, orders.c.ordinal):
        yield AuditedOrder(*row[:-1])
