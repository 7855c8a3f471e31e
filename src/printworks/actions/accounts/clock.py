"""Moving the clock of a sandbox merchant: days of waiting in a second."""

from datetime import datetime, timedelta
from typing import Final

from sqlalchemy import Connection, update

from printworks.errors import BadInput
from printworks.store.accounts.merchants import Merchant
from printworks.store.queue.jobs import bring_forward
from printworks.store.tables import merchants

# A hundred years: nothing that is promised lies further ahead.
FURTHEST: Final = timedelta(days=36_525)


def advance_clock(db: Connection, merchant: Merchant, by: timedelta, *, now: datetime) -> datetime:
    """Move a merchant's clock, and whatever waits for it, ahead; return its new time.

    `now` is the merchant's time before the move.
    """
    if by < timedelta(0):
        message = "A clock can only be moved forward."
        raise BadInput(message)
    if merchant.clock_offset + by > FURTHEST:
        message = f"A clock can be at most {FURTHEST.days} days ahead."
        raise BadInput(message)
    # The column keeps whole milliseconds, and clock and jobs must move by the same amount.
    by -= by % timedelta(milliseconds=1)
    # Added, not set: two moves at the same time are two moves.
    offset: timedelta = db.execute(
        update(merchants)
        .where(merchants.c.id == merchant.id)
        .values(clock_offset=merchants.c.clock_offset + by)
        .returning(merchants.c.clock_offset)
    ).scalar_one()
    bring_forward(db, merchant.id, by)
    return now - merchant.clock_offset + offset
