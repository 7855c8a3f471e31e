"""Lets an application write in this process what it lets another one write, or ends that one."""

import asyncio
import os
import signal
from typing import Any

from printworks.api.long_lists import LargeOrder, PieceWriter
from printworks.web.families import FAMILIES
from printworks.web.long_answers import LongAnswers
from tests.api.client import Server


class WrittenHere(LongAnswers):
    """Writes as the other process does, without the second that it takes to start it."""

    def __init__(self, server: Server) -> None:
        app: Any = server.app
        super().__init__(app._settings)
        self._writer = PieceWriter(app._services, app._links, FAMILIES)
        self.orders_written = 0

    def is_ready(self) -> bool:
        return True

    async def _run(self, _write: Any, what: Any) -> bytes | None:
        if not isinstance(what, LargeOrder):
            return await asyncio.to_thread(self._writer.write, what)
        self.orders_written += 1
        return await asyncio.to_thread(self._writer.write_order, what)


def write_here(server: Server) -> WrittenHere:
    """Let everything be written in this process from now on."""
    edge: Any = server.app._edge
    edge._long = written_here = WrittenHere(server)
    return written_here


def kill_the_writer(server: Server) -> None:
    """Kill the process that writes, and wait until it is gone."""
    edge: Any = server.app._edge
    for process in edge._long._pool._processes.values():
        os.kill(process.pid, signal.SIGKILL)
        process.join()
