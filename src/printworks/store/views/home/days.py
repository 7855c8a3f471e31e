"""What a merchant ordered and was charged, by day, from the sums of its ledger."""

from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Final

import msgspec
from sqlalchemy import Connection, case, func, select

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


def count_days(
    db: Connection, merchant_id: int, currency: str, *, now: datetime
) -> list[DayOfShop]:
    """Return the last days of a merchant, today included, oldest first.

    `now` is the merchant's time. What was charged in another currency, before it was changed, is not
    part of what was spent. At most a row of sums is read for each day and currency.
    """
    today = now.astimezone(UTC).date()
    days: Sequence[date] = [today - timedelta(days=back) for back in range(DAYS - 1, -1, -1)]
    total = ledger_days.c
    spent = case((total.currency == currency, total.amount), else_=0)
    query = (
        select(total.day, func.sum(total.entries), func.sum(spent))
        .where(
            total.merchant_id == merchant_id,
            total.day.between(str(days[0]), str(days[-1])),
            total.kind == spelled_out(EntryKind.CHARGE),
        )
        .group_by(total.day)
    )
    found = {day: (int(entries), int(amount)) for day, entries, amount in db.execute(query)}
    return [DayOfShop(day, *found.get(str(day), (0, 0))) for day in days]
