"""What merchants are told of, in which words, and how long a deaf receiver is tried."""

from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final, TypeGuard

from printworks.rules.events import OrderCreated, OrderEvent, OrderMoved, ShipmentsChanged


class CallbackFormat(StrEnum):
    """The words in which a merchant wants to be told."""

    V3_0 = "3.0"
    V2_6 = "2.6"
    V2_5 = "2.5"
    V2_3 = "2.3"


# What merchants are told of; all the rest is between us and the labs.
ToldEvent = OrderCreated | OrderMoved | ShipmentsChanged

# The waits before the second and every later attempt: about 70 hours in all.
WAITS: Final = (
    *(timedelta(seconds=seconds) for seconds in (10, 30)),
    *(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 30)),
    *(timedelta(hours=hours) for hours in (1, 2, 4, 8, 12, 18, 24)),
)
MOST_FAILURES: Final = len(WAITS) + 1
MOST_JITTER: Final = 0.1

# However long a receiver asks for, we come back before the next wait of the schedule would be
# over, so that waits grow after every failure; and after the last one before this.
_BOUNDS: Final = (*WAITS[1:], timedelta(hours=36))
_MARGIN: Final = timedelta(seconds=1)
# More digits than any honest `Retry-After` has.
_MOST_DIGITS: Final = 9


def is_told(event: OrderEvent) -> TypeGuard[ToldEvent]:
    """Say whether the merchant hears of an event."""
    return isinstance(event, ToldEvent)


def choose_format(chosen: str | None, of_order: str | None) -> CallbackFormat:
    """Return the format to tell in: the merchant's, else that of the version that made the order."""
    return CallbackFormat(chosen or of_order or CallbackFormat.V3_0)


def wait_after(
    failures: int, *, jitter: float, retry_after: str | None, now: datetime
) -> timedelta | None:
    """Return the wait before the next attempt, or None when it is time to give up.

    Jitter is a number from 0 to 1, and makes the wait up to a tenth longer. What the receiver
    asks for in `Retry-After` can make it longer, never shorter. `now` is the real time: the
    receiver knows no other.
    """
    if failures >= MOST_FAILURES:
        return None
    planned = WAITS[failures - 1] * (1 + MOST_JITTER * jitter)
    asked = _read_retry_after(retry_after, now)
    return max(planned, min(asked, _BOUNDS[failures - 1] - _MARGIN))


def _read_retry_after(text: str | None, now: datetime) -> timedelta:
    """Return how long the receiver wants to be left alone; nothing if that cannot be read."""
    text = (text or "").strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=int(text) if len(text) <= _MOST_DIGITS else 0)
    try:
        timestamp = parsedate_to_datetime(text)
        # A zone of -0000 is read as none; HTTP knows only UTC.
        return timestamp.replace(tzinfo=timestamp.tzinfo or UTC) - now
    except (TypeError, ValueError, OverflowError, IndexError):
        return timedelta(0)
