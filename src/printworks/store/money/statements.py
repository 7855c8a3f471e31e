"""A merchant's statements by month, and its pending payments."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final, NamedTuple

import msgspec
from sqlalchemy import (
    BigInteger,
    Connection,
    Select,
    and_,
    case,
    cast,
    func,
    not_,
    select,
    text,
)

from printworks.rules.ledger import ACCOUNTS, Account, EntryKind
from printworks.rules.payments import Payer, PaymentState
from printworks.store.engine.columns import beside_index
from printworks.store.engine.rows import columns_of, list_structs, possible_id, read_all
from printworks.store.tables import ledger_days, ledger_entries, orders, payment_requests


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
    # How much of that change is tax.
    tax: int
    # What it owed after that.
    balance: int
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


class StatementPeriod(NamedTuple):
    """A period of whole days in UTC: from `since` on, and before `until`."""

    since: datetime
    until: datetime


_debit, _credit, _tax = (
    cast(ledger_entries.c.lines[(place, 1)].as_string(), BigInteger) for place in range(3)
)
_GROWS: Final = [kind for kind, (debit, _) in ACCOUNTS.items() if debit is Account.RECEIVABLE]
# The amount that is owed grows by the debit, or shrinks by the credit, which is below zero.
_owed = case((ledger_entries.c.kind.in_(_GROWS), _debit), else_=_credit)
_LINE: Final = columns_of(
    ledger_entries,
    StatementLine,
    merchant_order_id=orders.c.merchant_order_id,
    owed=_owed,
    tax=-func.coalesce(_tax, 0),
)
_PENDING: Final = columns_of(payment_requests, PendingPayment)


def list_statement(
    db: Connection, merchant_id: int, span: StatementPeriod, *, before: int | None, limit: int
) -> list[StatementLine]:
    """Return the entries of a period, newest first; `before` is the last of the previous page."""
    entry = ledger_entries.c
    page = _select(merchant_id, span).order_by(entry.created_at.desc(), entry.number.desc())
    if before is not None:
        number = possible_id(before)
        of_last = select(entry.created_at).where(
            entry.merchant_id == merchant_id, entry.number == number
        )
        until = db.execute(of_last).scalar() or span.until
        is_later = and_(entry.created_at == until, entry.number >= number)
        page = page.where(entry.created_at <= until, not_(is_later))
    return list_structs(db, StatementLine, page.limit(limit))


def list_whole_statement(
    db: Connection, merchant_id: int, span: StatementPeriod
) -> Iterator[StatementLine]:
    """Yield all entries of a period, oldest first."""
    for row in read_all(db, _select(merchant_id, span), ledger_entries.c.number):
        yield StatementLine(*row)


def _select(merchant_id: int, span: StatementPeriod) -> Select[Any]:
    return (
        select(*_LINE)
        .join_from(ledger_entries, orders, ledger_entries.c.order_id == orders.c.id, isouter=True)
        .where(
            ledger_entries.c.merchant_id == merchant_id,
            ledger_entries.c.created_at >= span.since,
            ledger_entries.c.created_at < span.until,
        )
    )


def sum_statement(
    db: Connection, merchant_id: int, span: StatementPeriod
) -> Mapping[str, Mapping[EntryKind, int]]:
    """Return the totals of whole days by currency and kind of entry, without what does not occur."""
    day = ledger_days.c.day
    query = (
        select(ledger_days.c.currency, ledger_days.c.kind, func.sum(ledger_days.c.amount))
        .where(
            ledger_days.c.merchant_id == merchant_id,
            day >= str(span.since.date()),
            day < str(span.until.date()),
        )
        .group_by(ledger_days.c.currency, ledger_days.c.kind)
        .order_by(ledger_days.c.currency)
    )
    totals: dict[str, dict[EntryKind, int]] = {}
    for currency, kind, amount in db.execute(query):
        totals.setdefault(currency, {})[kind] = int(amount)
    return totals


def find_first_and_last(db: Connection, merchant_id: int) -> tuple[datetime, datetime] | None:
    """Return when the first and the last entry were posted; None if there are none."""
    of_merchant = select(ledger_entries.c.created_at).where(
        ledger_entries.c.merchant_id == merchant_id
    )
    first = db.execute(of_merchant.order_by(ledger_entries.c.number).limit(1)).scalar()
    last = db.execute(of_merchant.order_by(ledger_entries.c.number.desc()).limit(1)).scalar()
    return None if first is None or last is None else (first, last)


def list_pending_payments(
    db: Connection, merchant_id: int, *, payer: Payer | None = None, limit: int
) -> list[PendingPayment]:
    """Return the pending payments for a merchant's orders, of one payer or all, oldest first."""
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
    if payer is not None:
        query = query.where(payment_requests.c.payer == payer)
    return list_structs(db, PendingPayment, query)
