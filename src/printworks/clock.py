"""The clock: only entry points read it, and pass the time on to everything else."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Final

Clock = Callable[[], datetime]

# The furthest that the clock of a sandbox merchant can be moved at once.
LONGEST_ADVANCE: Final = timedelta(days=366)


def system_clock() -> datetime:
    """Return the current time, in UTC."""
    return datetime.now(UTC)
