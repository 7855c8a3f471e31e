"""Tells a service outside that all is well, so that it can call somebody when that stops.

What watches from inside falls silent together with the machine; a watchdog outside does not.
"""

import asyncio
from datetime import timedelta
from typing import Final

import structlog

from printworks.net.errors import OutboundError
from printworks.rules.heartbeats import is_alive
from printworks.store.queue.heartbeats import list_heartbeats
from printworks.watch.readiness import Readiness
from printworks.worker.context import Context

log = structlog.get_logger()

EVERY: Final = timedelta(minutes=1)
WITHIN: Final = timedelta(seconds=10)


class Watchdog:
    """Posts to `watchdog_url` for all workers: the one that has been alive for longest does."""

    def __init__(self, context: Context, worker: str) -> None:
        self._context = context
        self._worker = worker
        self._readiness = Readiness(context.services)

    async def keep_telling(self) -> None:
        """Tell the watchdog every minute that all is well, while it is; until cancelled."""
        while True:
            try:
                await self.tell()
            except Exception as error:  # noqa: BLE001  (a minute later it is tried again)
                log.warning("watchdog not told", error=type(error).__name__)
            await asyncio.sleep(EVERY.total_seconds())

    async def tell(self) -> bool:
        """Tell it once, if this worker has to and all is well; return whether it was told."""
        if not await self._context.in_thread(self._is_first):
            return False
        if failed := await self._context.in_thread(self._readiness.find_failed):
            log.warning("watchdog not told", failed=failed)
            return False
        try:
            answer = await self._context.resources.outbound.post(
                self._context.settings.watchdog_url, b"", {}, timeout=WITHIN
            )
        except OutboundError as error:
            log.warning("watchdog not reached", error=error.message)
            return False
        if answer.status >= 300:
            log.warning("watchdog refused", status=answer.status)
        return answer.status < 300

    def _is_first(self) -> bool:
        with self._context.database.reading() as db:
            beats = list_heartbeats(db)
        now = self._context.clock()
        alive = [beat.worker for beat in beats if is_alive(beat, now=now)]
        # Before its first beat, a worker that is alone is nobody yet.
        return not alive or alive[0] == self._worker
