"""Says every few seconds that a worker is alive, for whoever watches over the installation."""

import asyncio
import os
import socket
from collections.abc import Callable
from typing import NamedTuple

import structlog

from printworks import __version__
from printworks.rules.heartbeats import BEATS_EVERY, Heartbeat
from printworks.store.engine.database import find_outages
from printworks.store.queue.heartbeats import end_heartbeat, write_heartbeat
from printworks.worker.context import Context

log = structlog.get_logger()


class Pulse(NamedTuple):
    """Jobs that a worker is running, and those that it has run since its start."""

    running: int
    finished: int


class Heart:
    """The heartbeat of one worker.

    It uses the threads that jobs use, too: a worker all of whose threads hang is silent.
    """

    def __init__(self, context: Context, worker: str) -> None:
        self._context = context
        self._worker = worker
        self._started_at = context.clock()

    async def keep_beating(self, feel: Callable[[], Pulse]) -> None:
        """Say what the worker is doing, until cancelled."""
        while True:
            try:
                await self._context.in_thread(self.beat, feel())
            except find_outages():
                pass  # The claims, which fail too, say so.
            except Exception:
                log.exception("heartbeat failed", worker=self._worker)
            await asyncio.sleep(BEATS_EVERY.total_seconds())

    def beat(self, pulse: Pulse) -> None:
        """Say once what the worker is doing."""
        beat = Heartbeat(
            worker=self._worker,
            host=socket.gethostname(),
            process=os.getpid(),
            version=__version__,
            started_at=self._started_at,
            beat_at=self._context.clock(),
            running=pulse.running,
            finished=pulse.finished,
        )
        with self._context.database.writing() as db:
            write_heartbeat(db, beat)

    async def stop(self) -> None:
        """Take leave, so that nobody looks for the worker."""
        try:
            await self._context.in_thread(self._end)
        except Exception as error:  # noqa: BLE001  (the worker stops all the same)
            log.warning("heartbeat left behind", worker=self._worker, error=type(error).__name__)

    def _end(self) -> None:
        with self._context.database.writing() as db:
            end_heartbeat(db, self._worker)
