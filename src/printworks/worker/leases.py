"""Watches the leases of all workers by elapsed time, so that a clock that is set stops nothing.

A lease is renewed after a third of its length. One that a worker has seen unchanged for all of its
length has ended, whatever the clock says. See docs/decisions/0032-nothing-waits-for-ever.md.
"""

import asyncio
import time
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Final

import structlog

from printworks.rules.jobs import MOST_SKEW, has_lease_ended
from printworks.store.engine.database import find_outages
from printworks.store.queue.jobs import Claim
from printworks.store.queue.leases import (
    AT_ONCE,
    Lease,
    end_reservations,
    is_clock_set_back,
    list_leases,
    restart_waits,
    take_back,
)
from printworks.worker.context import Context

# How often waits are compared with the clock.
SECONDS_BETWEEN_CLOCK_CHECKS: Final = 30.0

log = structlog.get_logger()


class SeenLeases:
    """Since when each lease has been seen unchanged, by a clock that nobody sets."""

    def __init__(self) -> None:
        self._since: dict[Lease, float] = {}

    def find_ended(self, leases: Iterable[Lease], *, now: datetime, elapsed: float) -> list[Lease]:
        """Return those of the current leases that have ended; `elapsed` is in seconds."""
        self._since = {lease: self._since.get(lease, elapsed) for lease in leases}
        return [
            lease
            for lease, since in self._since.items()
            if has_lease_ended(
                timedelta(seconds=elapsed - since),
                timedelta(seconds=lease.seconds),
                is_past=lease.until <= now,
            )
        ]


class LeaseWatch:
    """Returns the jobs of dead workers to the queue."""

    def __init__(
        self,
        context: Context,
        *,
        lease: timedelta,
        steady_clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._context = context
        self._pause = lease.total_seconds() / 6
        self._steady_clock = steady_clock
        self._seen = SeenLeases()
        self._clock_checked_at: float | None = None

    async def keep_watching(self, own: Callable[[], Collection[Claim]]) -> None:
        """Watch the leases of all but this worker's own jobs, until cancelled."""
        while True:
            try:
                await self._context.in_thread(self.look, frozenset(own()))
            except find_outages() as error:
                log.error("leases cannot be watched", error=type(error).__name__)
            except Exception:
                log.exception("leases cannot be watched")
            await asyncio.sleep(self._pause)

    def look(self, own: Collection[Claim] = ()) -> int:
        """Look at all leases once; return how many jobs were taken back."""
        now, elapsed = self._context.clock(), self._steady_clock()
        database = self._context.database
        with database.reading() as db:
            leases = [lease for lease in list_leases(db) if lease.claim not in own]
        ended = self._seen.find_ended(leases, now=now, elapsed=elapsed)
        taken = 0
        if ended:
            with database.writing() as db:
                taken = take_back(db, ended)
            log.warning("jobs taken back", jobs=taken)
        checked_at = self._clock_checked_at
        if checked_at is None or elapsed - checked_at >= SECONDS_BETWEEN_CLOCK_CHECKS:
            self._clock_checked_at = elapsed
            self._check_clock(now)
        return taken

    def _check_clock(self, now: datetime) -> None:
        """Mend what waits for a time that is far off only because the clock was set back."""
        database = self._context.database
        with database.reading() as db:
            if not is_clock_set_back(db, now=now, skew=MOST_SKEW):
                return
        with database.writing() as db:
            end_reservations(db, now=now)
        restarted = AT_ONCE
        while restarted == AT_ONCE:
            with database.writing() as db:
                restarted = restart_waits(db, now=now, skew=MOST_SKEW)
            log.warning("the clock was set back", waits=restarted)
