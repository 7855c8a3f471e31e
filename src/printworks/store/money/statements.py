"""A merchant's statements by month, and its pending payments."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import BigInteger, Connection, Select, case, cast, func, select, text

from printworks.rules.ledger import ACCOUNTS, Account, EntryKind
from printworks.rules.payments import Payer, PaymentState
from printworks.store.engine.columns import beside_index
from printworks.store.engine.rows import columns_of, list_structs, newest_first, read_all
from printworks.store.tables import ledger_entries, merchants, orders, payment_requests


class StatementLine(msgspec.Struct, frozen=True):
    """A ledger entry as the merchant sees it."""

    number: int
    kind: EntryKind
    order_id: int | None
    # The merchant's reference of that order.
    merchant_order_id: str | None
    currency: str
    # The change in what the merchant owes.
    owed: int
    memo: str
    created_at: datetime


class PendingPayment(msgspec.Struct, frozen=True):
    """A payment without an outcome yet."""

    key: str
    order_id: int
    payer: Payer
    state: PaymentState
    amount: int
    currency: str
    expires_at: datetime
    created_at: datetime


class Span(NamedTuple):
    """A period: from `since` on, and before `until`."""

    since: datetime
    until: datetime


_debit = cast(ledger_entries.c.lines[(0, 1)].as_string(), BigInteger)
_GROWS: Final = [kind for kind, (debit, _) in ACCOUNTS.items() if debit is Account.RECEIVABLE]
# The amount that is owed grows by the debit, or shrinks by the credit, which is its negative.
_owed = case((ledger_entries.c.kind.in_(_GROWS), _debit), else_=-_debit)
_LINE: Final = columns_of(
    ledger_entries, StatementLine, merchant_order_id=orders.c.merchant_order_id, owed=_owed
)
_PENDING: Final = columns_of(payment_requests, PendingPayment)


def list_statement(
    db: Connection, merchant_id: int, span: Span, *, before: int | None, limit: int
) -> list[StatementLine]:
    """Return the entries of a period, newest first; `before` is the last of the previous page."""
    query = _select(merchant_id, span)
    page = newest_first(query, ledger_entries.c.number, before=before, limit=limit)
    return list_structs(db, StatementLine, page)


def list_whole_statement(db: Connection, merchant_id: int, span: Span) -> Iterator[StatementLine]:
    """Yield all entries of a period, oldest first."""
    for row in read_all(db, _select(merchant_id, span), ledger_entries.c.number):
        yield StatementLine(*row)


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
    """Return what a merchant owed after this entry."""
    of_merchant = ledger_entries.c.merchant_id == merchant_id
    total = select(func.coalesce(func.sum(_owed), 0))
    count = select(merchants.c.ledger_count).where(merchants.c.id == merchant_id)
    # From whichever end is nearer: entries never change.
    if 2 * number < db.execute(count).scalar_one():
        until = total.where(of_merchant, ledger_entries.c.number <= number)
        return int(db.execute(until).scalar_one())
    later = total.where(of_merchant, ledger_entries.c.number > number).scalar_subquery()
    # In one statement: an entry that is posted now is in both sums or in neither.
    query = select(merchants.c.balance - later).where(merchants.c.id == merchant_id)
    return int(db.execute(query).scalar_one())


def add_balances(
    db: Connection, merchant_id: int, lines: Iterable[StatementLine]
) -> Iterator[tuple[StatementLine, int]]:
    """Yield lines, in either order, with what was owed after each of them."""
    last: StatementLine | None = None
    owed = 0
    for line in lines:
        step = 0 if last is None else line.number - last.number
        if step == 1:
            owed += line.owed
        elif last is not None and step == -1:
            owed -= last.owed
        else:
            # The first line; or an entry of another month is in between, since two transactions at
            # the same time may number their entries against the order of their timestamps.
            owed = read_owed_after(db, merchant_id, line.number)
        last = line
        yield line, owed


def sum_statement(db: Connection, merchant_id: int, span: Span) -> Mapping[EntryKind, int]:
    """Return the totals of a period by kind of entry, without kinds that do not occur."""
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
    """Return when the first and the last entry were posted; None if there are none."""
    of_merchant = select(ledger_entries.c.created_at).where(
        ledger_entries.c.merchant_id == merchant_id
    )
    first = db.execute(of_merchant.order_by(ledger_entries.c.number).limit(1)).scalar()
    last = db.execute(of_merchant.order_by(ledger_entries.c.number.desc()).limit(1)).scalar()
    return None if first is None or last is None else (first, last)


def list_pending_payments(db: Connection, merchant_id: int, *, limit: int) -> list[PendingPayment]:
    """Return the pending payments for a merchant's orders, oldest first."""
    query = (
        select(*_PENDING)
        # Spelled as in the index of all pending payments, which are few; and the merchant so that
        # the index of all its payments, which may be many, is not used.
        .where(
            text("state IN ('asked', 'waiting')"),
            beside_index(payment_requests.c.merchant_id) == merchant_id,
        )
        .order_by(payment_requests.c.id)
        .limit(limit)
    )
    return list_structs(db, PendingPayment, query)
