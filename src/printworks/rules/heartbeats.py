"""When a worker counts as alive, by what it wrote last."""

from datetime import datetime, timedelta
from typing import Final

import msgspec

# How often a worker says that it is alive.
BEATS_EVERY: Final = timedelta(seconds=5)
# Six beats: a database that is busy for a moment is no reason to be called.
SILENT_AFTER: Final = timedelta(seconds=30)
# A worker that stops takes its row with it; what a killed one leaves is shown for so long.
FORGOTTEN_AFTER: Final = timedelta(hours=1)


class Heartbeat(msgspec.Struct, frozen=True):
    """What a worker last said of itself."""

    worker: str
    host: str
    process: int
    version: str
    started_at: datetime
    beat_at: datetime
    # Jobs that it was running, and those that it has run since its start.
    running: int
    finished: int


def is_alive(beat: Heartbeat, *, now: datetime) -> bool:
    """Say whether a worker was heard of lately; one whose clock is ahead is alive, too."""
    return now - beat.beat_at <= SILENT_AFTER
