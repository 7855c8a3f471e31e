"""What a merchant ordered and was charged, by day, from the sums of its ledger."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection, func, select

from printworks.rules.ledger import EntryKind
from printworks.store.engine.columns import spelled_out
from printworks.store.tables import ledger_days

DAYS: Final = 30


class DayOfShop(msgspec.Struct, frozen=True):
    """What a merchant submitted and was charged on a day."""

    day: date
    orders: int
    # In minor units of the merchant's currency.
    spent: int


def count_days(db: Connection, merchant_id: int, *, now: datetime) -> list[DayOfShop]:
    """Return the last days of a merchant, today included, oldest first.

    `now` is the merchant's time. At most one row of sums is read for each day.
    """
    today = now.astimezone(UTC).date()
    days: Sequence[date] = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    total = ledger_days.c
    query = (
        select(total.day, func.sum(total.entries), func.sum(total.amount))
        .where(
            total.merchant_id == merchant_id,
            total.day.between(str(days[0]), str(days[-1])),
            total.kind == spelled_out(EntryKind.CHARGE),
        )
        .group_by(total.day)
    )
    found = {day: (int(entries), int(amount)) for day, entries, amount in db.execute(query)}
    return [DayOfShop(day, *found.get(str(day), (0, 0))) for day in days]
