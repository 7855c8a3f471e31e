"""The connections of a test's server, of which none outlives it."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]

# What a client does that leaves in the middle of a sentence.
_LEFT = (ConnectionError, asyncio.IncompleteReadError)


class Connections:
    """Serves each connection in a task: `asyncio.start_server(connections.take, ...)`.

    A connection counts from the moment it is there: one that comes while the server is being
    closed has a task that is cancelled before its first line, and would stay open.
    """

    def __init__(self, serve: Serve) -> None:
        self._serve = serve
        self._writers: dict[asyncio.Task[None], asyncio.StreamWriter] = {}

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve a connection, and close it when that is done."""
        task = asyncio.get_running_loop().create_task(self._run(reader, writer))
        self._writers[task] = writer
        task.add_done_callback(self._close)

    async def end(self, server: asyncio.Server) -> None:
        """Close the server with all of its connections, whatever was still to be sent."""
        # A connection that was accepted is handed over in the next rounds of the loop. If its server
        # is closed by then, nobody ever closes it.
        for listening in server.sockets:
            server.get_loop().remove_reader(listening.fileno())
        for _ in range(3):
            await asyncio.sleep(0)
        server.close()
        left = dict(self._writers)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        for writer in left.values():
            writer.transport.abort()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _run(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(*_LEFT):
            await self._serve(reader, writer)

    def _close(self, task: asyncio.Task[None]) -> None:
        self._writers.pop(task).close()
