"""What a merchant reads of its money: the ledger by month, and payments without an end."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import BigInteger, Connection, Select, case, cast, func, select, text

from printworks.rules.ledger import ACCOUNTS, Account, EntryKind
from printworks.rules.payments import Payer, PaymentState
from printworks.store.engine.columns import beside_index
from printworks.store.tables import ledger_entries, merchants, orders, payment_requests

# Rows that are read at once, however many there are.
PAGE: Final = 1000


class StatementLine(msgspec.Struct, frozen=True):
    """Money that moved, as the merchant sees it."""

    number: int
    kind: EntryKind
    order_id: int | None
    # What the merchant calls that order.
    merchant_order_id: str | None
    currency: str
    # By how much the merchant owes more, or less.
    owed: int
    memo: str
    created_at: datetime


class PendingPayment(msgspec.Struct, frozen=True):
    """Money that somebody is asked for."""

    key: str
    order_id: int
    payer: Payer
    state: PaymentState
    amount: int
    currency: str
    expires_at: datetime
    created_at: datetime


class Span(NamedTuple):
    """From one moment on, and before another."""

    since: datetime
    until: datetime


_debit = cast(ledger_entries.c.lines[(0, 1)].as_string(), BigInteger)
_GROWS: Final = [kind for kind, (debit, _) in ACCOUNTS.items() if debit is Account.RECEIVABLE]
# Either the debit is what the merchant owes more, or the credit, which is as much below zero.
_owed = case((ledger_entries.c.kind.in_(_GROWS), _debit), else_=-_debit)
_LINE: Final = (
    ledger_entries.c.number,
    ledger_entries.c.kind,
    ledger_entries.c.order_id,
    orders.c.merchant_order_id,
    ledger_entries.c.currency,
    _owed.label("owed"),
    ledger_entries.c.memo,
    ledger_entries.c.created_at,
)
_PENDING: Final = [payment_requests.c[name] for name in PendingPayment.__struct_fields__]


def list_statement(
    db: Connection, merchant_id: int, span: Span, *, before: int | None, limit: int
) -> list[StatementLine]:
    """Return what moved in a span, newest first; `before` is the last of the page before this."""
    query = _select(merchant_id, span).order_by(ledger_entries.c.number.desc()).limit(limit)
    if before is not None:
        query = query.where(ledger_entries.c.number < before)
    return [StatementLine(*row) for row in db.execute(query)]


def list_whole_statement(db: Connection, merchant_id: int, span: Span) -> Iterator[StatementLine]:
    """Return all that moved in a span, oldest first, a page at a time."""
    last = 0
    query = _select(merchant_id, span).order_by(ledger_entries.c.number).limit(PAGE)
    while True:
        rows = db.execute(query.where(ledger_entries.c.number > last)).all()
        for row in rows:
            last = row.number
            yield StatementLine(*row)
        if len(rows) < PAGE:
            return


def _select(merchant_id: int, span: Span) -> Select[Any]:
    return (
        select(*_LINE)
        .join_from(ledger_entries, orders, ledger_entries.c.order_id == orders.c.id, isouter=True)
        .where(
            ledger_entries.c.merchant_id == merchant_id,
            ledger_entries.c.created_at >= span.since,
            ledger_entries.c.created_at < span.until,
        )
    )


def read_owed_after(db: Connection, merchant_id: int, number: int) -> int:
    """Return what a merchant owed once this entry was written."""
    of_merchant = ledger_entries.c.merchant_id == merchant_id
    total = select(func.coalesce(func.sum(_owed), 0))
    count = select(merchants.c.ledger_count).where(merchants.c.id == merchant_id)
    # From whichever end is nearer; what was written stays as it was.
    if 2 * number < db.execute(count).scalar_one():
        until = total.where(of_merchant, ledger_entries.c.number <= number)
        return int(db.execute(until).scalar_one())
    later = total.where(of_merchant, ledger_entries.c.number > number).scalar_subquery()
    # In one statement: an entry that is written just now is in both, or in neither.
    query = select(merchants.c.balance - later).where(merchants.c.id == merchant_id)
    return int(db.execute(query).scalar_one())


def add_balances(
    db: Connection, merchant_id: int, lines: Iterable[StatementLine]
) -> Iterator[tuple[StatementLine, int]]:
    """Return lines, which are in either order, with what was owed after each of them."""
    last: StatementLine | None = None
    owed = 0
    for line in lines:
        step = 0 if last is None else line.number - last.number
        if step == 1:
            owed += line.owed
        elif last is not None and step == -1:
            owed -= last.owed
        else:
            # The first; or one of another month is in between, since entries are numbered as
            # they are written, and two that are made at once may change places.
            owed = read_owed_after(db, merchant_id, line.number)
        last = line
        yield line, owed


def sum_statement(db: Connection, merchant_id: int, span: Span) -> Mapping[EntryKind, int]:
    """Return how much moved in a span, by what it was; of what did not move nothing is said."""
    query = (
        select(ledger_entries.c.kind, func.sum(_debit))
        .where(
            ledger_entries.c.merchant_id == merchant_id,
            ledger_entries.c.created_at >= span.since,
            ledger_entries.c.created_at < span.until,
        )
        .group_by(ledger_entries.c.kind)
    )
    return {kind: int(amount) for kind, amount in db.execute(query)}


def find_first_and_last(db: Connection, merchant_id: int) -> tuple[datetime, datetime] | None:
    """Return when the first and the last entry were written; None if there are none."""
    of_merchant = select(ledger_entries.c.created_at).where(
        ledger_entries.c.merchant_id == merchant_id
    )
    first = db.execute(of_merchant.order_by(ledger_entries.c.number).limit(1)).scalar()
    last = db.execute(of_merchant.order_by(ledger_entries.c.number.desc()).limit(1)).scalar()
    return None if first is None or last is None else (first, last)


def list_pending_payments(db: Connection, merchant_id: int, *, limit: int) -> list[PendingPayment]:
    """Return payments for a merchant's orders that have come to no end, oldest first."""
    query = (
        select(*_PENDING)
        # Spelled as in the index of all that are pending, which are few; and the merchant so
        # that the index of all its payments, which may be many, is of no use.
        .where(
            text("state IN ('asked', 'waiting')"),
            beside_index(payment_requests.c.merchant_id) == merchant_id,
        )
        .order_by(payment_requests.c.id)
        .limit(limit)
    )
    return [PendingPayment(*row) for row in db.execute(query)]
