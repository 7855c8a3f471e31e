"""Merchants that pay on account: what they owe, and since when."""

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import msgspec
from sqlalchemy import Connection, func, select, update

from printworks.catalogue.products import Currency
from printworks.rules.ledger import DEBITS
from printworks.rules.payments import Billing
from printworks.store.engine.rows import columns_of, read_all
from printworks.store.tables import ledger_days, merchants


class CreditAccount(msgspec.Struct, frozen=True):
    """A merchant that pays on account."""

    id: int
    code: str
    name: str
    currency: Currency
    balance: int
    credit_limit: int | None
    clock_offset: timedelta
    low_credit_told_at: datetime | None
    overdue_told_at: datetime | None
    overdue_since: datetime | None
    # Why it is not reminded; empty if it is.
    reminders_paused: str


def list_credit_accounts(db: Connection, *, of_all: bool) -> Iterator[CreditAccount]:
    """Yield the merchants that owe something on account, or have been told so.

    Where no cards are charged, all merchants pay on account.
    """
    accounts = select(*columns_of(merchants, CreditAccount)).where(
        (merchants.c.balance > 0)
        | merchants.c.low_credit_told_at.is_not(None)
        | merchants.c.overdue_since.is_not(None),
    )
    if not of_all:
        accounts = accounts.where(merchants.c.billing == Billing.ACCOUNT)
    for row in read_all(db, accounts, merchants.c.id):
        yield CreditAccount(*row)


def sum_charged_since(db: Connection, merchant_id: int, day: str) -> int:
    """Return what a merchant was charged on this day, in ISO 8601, and on later ones."""
    wanted = select(func.coalesce(func.sum(ledger_days.c.amount), 0)).where(
        ledger_days.c.merchant_id == merchant_id,
        ledger_days.c.day >= day,
        ledger_days.c.kind.in_(DEBITS),
    )
    return int(db.execute(wanted).scalar_one())


def find_oldest_unpaid(db: Connection, merchant_id: int, balance: int) -> date:
    """Return the day of the oldest charge of which something is owed.

    Payments settle the oldest charges first: what is owed are the newest.
    """
    newer = func.sum(func.sum(ledger_days.c.amount)).over(order_by=ledger_days.c.day.desc())
    totals = (
        select(ledger_days.c.day, newer.label("total"))
        .where(ledger_days.c.merchant_id == merchant_id, ledger_days.c.kind.in_(DEBITS))
        .group_by(ledger_days.c.day)
        .subquery()
    )
    wanted = select(func.max(totals.c.day)).where(totals.c.total >= balance)
    return date.fromisoformat(db.execute(wanted).scalar_one())


def set_told(db: Connection, merchant_id: int, **told: Any) -> None:
    """Store when a merchant's people were told of its account; None if there is nothing to tell."""
    db.execute(update(merchants).where(merchants.c.id == merchant_id).values(**told))
