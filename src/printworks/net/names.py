"""Resolves host names in its own threads, and rejects names with any forbidden address."""

import asyncio
import socket
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final

from aiohttp.abc import AbstractResolver, ResolveResult

from printworks.net.guard import Guard

# A name server that does not answer blocks a thread for many seconds; with the few threads of
# the event loop, all other lookups would wait. They are started when they are needed.
THREADS: Final = 128

LookUp = Callable[..., Sequence[tuple[Any, ...]]]


class Names(AbstractResolver):
    """The resolver for aiohttp.

    One forbidden address is enough to reject a name: only an attacker publishes both kinds. The
    guard checks the address that is used once more.
    """

    def __init__(self, guard: Guard, *, look_up: LookUp) -> None:
        self._guard = guard
        self._look_up = look_up
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="names")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return every address of a name; raise `OSError` without one, or with a forbidden one."""
        ask = partial(self._look_up, host, port, family=family, type=socket.SOCK_STREAM)
        answers = await asyncio.get_running_loop().run_in_executor(self._threads, ask)
        for *_, where in answers:
            self._guard.check(str(where[0]), port)
        return [
            ResolveResult(
                hostname=host,
                host=where[0],
                port=port,
                family=found,
                proto=protocol,
                flags=socket.AI_NUMERICHOST,
            )
            for found, _, protocol, _, where in answers
        ]

    async def close(self) -> None:
        """Shut down the threads; a lookup that hangs ends by itself."""
        self._threads.shutdown(wait=False, cancel_futures=True)
