"""Callbacks: which events are sent, in which format, and when a failed one is retried."""

import hmac
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final, TypeGuard

import msgspec

from printworks.errors import BadInput
from printworks.rules.events import OrderCreated, OrderEvent, OrderMoved, ShipmentsChanged


class CallbackFormat(StrEnum):
    """The API version in whose format a merchant receives callbacks."""

    V3_0 = "3.0"
    V2_6 = "2.6"
    V2_5 = "2.5"
    V2_3 = "2.3"


# Events that are sent to merchants; all others are internal.
CallbackEvent = OrderCreated | OrderMoved | ShipmentsChanged

# The waits before the second and every later attempt: about 70 hours in all.
WAITS: Final = (
    *(timedelta(seconds=seconds) for seconds in (10, 30)),
    *(timedelta(minutes=minutes) for minutes in (1, 2, 5, 10, 30)),
    *(timedelta(hours=hours) for hours in (1, 2, 4, 8, 12, 18, 24)),
)
MOST_FAILURES: Final = len(WAITS) + 1
MOST_JITTER: Final = 0.1

# Upper bounds for a `Retry-After`: the next wait of the schedule, so that waits grow after every
# failure.
_BOUNDS: Final = (*WAITS[1:], timedelta(hours=36))
_MARGIN: Final = timedelta(seconds=1)
# A plausible `Retry-After` has no more digits.
_MOST_DIGITS: Final = 9


# The waits before the second and every later challenge of a new address.
CHALLENGE_WAITS: Final = (
    timedelta(seconds=10),
    timedelta(minutes=1),
    timedelta(minutes=5),
    timedelta(minutes=30),
)


class AddressRules(msgspec.Struct, frozen=True):
    """What a deployment asks of a new callback address."""

    needs_https: bool = False
    needs_challenge: bool = False


def check_scheme(url: str, rules: AddressRules) -> None:
    """Refuse an address without encryption where that is asked for."""
    if rules.needs_https and not url.lower().startswith("https://"):
        raise BadInput(
            "The callback address must begin with https://: callbacks tell of people's orders. "
            "The operator can allow http with the setting `callbacks_allow_http`."
        )


def wait_after_challenge(failures: int) -> timedelta | None:
    """Return the wait before the next challenge, or None after the last one."""
    return CHALLENGE_WAITS[failures - 1] if failures <= len(CHALLENGE_WAITS) else None


def is_echo(answer: bytes, token: str) -> bool:
    """Return whether a receiver answered a challenge: with its token alone, or as JSON.

    A server that sends back whatever it is sent does not answer it: what it was sent has more
    members.
    """
    text = answer.strip()
    if hmac.compare_digest(text, token.encode()):
        return True
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return bool(found in (token, {"challenge": token}))


def is_told(event: OrderEvent) -> TypeGuard[CallbackEvent]:
    """Return whether an event is sent to the merchant."""
    return isinstance(event, CallbackEvent)


def choose_format(chosen: str | None, of_order: str | None) -> CallbackFormat:
    """Return the merchant's format, else that of the version that created the order."""
    return CallbackFormat(chosen or of_order or CallbackFormat.V3_0)


def wait_after(
    failures: int, *, jitter: float, retry_after: str | None, now: datetime
) -> timedelta | None:
    """Return the wait before the next attempt, or None after the last one.

    Jitter is a number from 0 to 1, and makes the wait up to a tenth longer. `Retry-After`
    can make it longer, never shorter. `now` is the real time, not that of a sandbox clock.
    """
    if failures >= MOST_FAILURES:
        return None
    planned = WAITS[failures - 1] * (1 + MOST_JITTER * jitter)
    asked = _read_retry_after(retry_after, now)
    return max(planned, min(asked, _BOUNDS[failures - 1] - _MARGIN))


def _read_retry_after(text: str | None, now: datetime) -> timedelta:
    """Return the wait that the receiver asks for; 0 if it cannot be read."""
    text = (text or "").strip()
    if text.isascii() and text.isdigit():
        return timedelta(seconds=int(text) if len(text) <= _MOST_DIGITS else 0)
    try:
        timestamp = parsedate_to_datetime(text)
        # The zone -0000 is read as none; HTTP always uses UTC.
        return timestamp.replace(tzinfo=timestamp.tzinfo or UTC) - now
    except (TypeError, ValueError, OverflowError, IndexError):
        return timedelta(0)
