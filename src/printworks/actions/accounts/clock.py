"""Moving the clock of a sandbox merchant forward."""

from datetime import datetime, timedelta
from typing import Final

from printworks.actions.work import Work
from printworks.errors import BadInput
from printworks.store.accounts.merchants import add_clock_offset
from printworks.store.queue.advancing import bring_forward

# A hundred years: no job is due later.
FURTHEST: Final = timedelta(days=36_525)


def audit_clock_move(work: Work, by: timedelta) -> None:
    """Write to the audit log that the actor has moved a merchant's clock."""
    work.audit("advance-clock", str(by), now=f"{work.now:%Y-%m-%d %H:%M}")


def advance_clock(work: Work, by: timedelta) -> datetime:
    """Move a merchant's clock and its scheduled jobs forward; return its new time."""
    if by < timedelta(0):
        raise BadInput("A clock can only be moved forward.")
    if work.merchant.clock_offset + by > FURTHEST:
        raise BadInput(f"A clock can be at most {FURTHEST.days} days ahead.")
    # The column stores whole milliseconds, and clock and jobs must move by the same amount.
    by -= by % timedelta(milliseconds=1)
    offset = add_clock_offset(work.db, work.merchant.id, by)
    bring_forward(work.db, work.merchant.id, by)
    return work.real_now + offset
