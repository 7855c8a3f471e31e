"""The time zone in which the reader of a page lives."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime, tzinfo
from typing import Final
from zoneinfo import ZoneInfo

# Macros that are imported know nothing of the page; this they can ask.
_ZONE: Final[ContextVar[tzinfo]] = ContextVar("reader's time zone", default=UTC)


@contextmanager
def reading_in(time_zone: str) -> Iterator[None]:
    """Write times in this zone meanwhile."""
    before = _ZONE.set(ZoneInfo(time_zone))
    try:
        yield
    finally:
        _ZONE.reset(before)


def shift_to_reader(at: datetime) -> datetime:
    """Return the same moment as the reader's clock shows it."""
    return at.astimezone(_ZONE.get())
