"""Reminders of what is overdue: when the next one is due, and how firm its words are."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from printworks.errors import BadInput

LONGEST_PAUSE_REASON: Final = 200


class ReminderTone(StrEnum):
    """How a reminder is worded."""

    FRIENDLY = "friendly"
    FIRM = "firm"
    # It names what may follow: that the account is suspended.
    LAST = "last"


def find_tone(step: int, steps: int) -> ReminderTone:
    """Return the words of one of so many reminders; the only one is a friendly one."""
    if step == 1:
        return ReminderTone.FRIENDLY
    return ReminderTone.LAST if step >= steps else ReminderTone.FIRM


def find_due_step(
    days: Sequence[int], *, overdue_days: int, sent: int, days_since: int
) -> int | None:
    """Return the number of the reminder to send now, from 1; None if none is due.

    `days` says how many days after the due date each one is sent, `sent` how many were, and
    `days_since` how long ago the last one was. They come in turn and as far apart as that, so that
    somebody who is long overdue when they begin is reminded gently first, too.
    """
    if sent >= len(days) or overdue_days < days[sent]:
        return None
    if sent and days_since < days[sent] - days[sent - 1]:
        return None
    return sent + 1


def read_pause_reason(text: str) -> str:
    """Return why a merchant is not reminded, for other operators."""
    reason = " ".join(text.split())
    if not 1 <= len(reason) <= LONGEST_PAUSE_REASON or not reason.isprintable():
        message = f"Write the reason, in 1 to {LONGEST_PAUSE_REASON} printable characters."
        raise BadInput(message, field="reason")
    return reason
