"""A clock for tests: nothing waits, time is moved."""

from datetime import datetime, timedelta

from tests.factories import NOON


class MovableClock:
    """A clock that stands still until somebody moves it."""

    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> datetime:
        """Tell the time."""
        return self.now

    def advance(self, **by: float) -> None:
        """Let time pass."""
        self.now += timedelta(**by)
