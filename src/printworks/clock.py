"""Where the time comes from: only entry points ask, everybody else is told."""

from collections.abc import Callable
from datetime import UTC, datetime

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Return the present moment, in UTC."""
    return datetime.now(UTC)
