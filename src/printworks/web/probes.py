"""`/livez` and `/readyz`: for load balancers and whoever starts processes again.

They need no credentials, count for nobody, and are answered in the event loop: neither full queues
nor a database that hangs delays them. What failed is named, and nothing more; the log has the rest.
"""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import msgspec

from printworks.watch.readiness import Readiness
from printworks.web.receiving import Scope, Send

LIVEZ: Final = "/livez"
READYZ: Final = "/readyz"
PROBES: Final = frozenset({LIVEZ, READYZ})
# A check that takes longer has failed: balancers wait for a few seconds at most.
SECONDS_TO_CHECK: Final = 3.0
_HEADERS: Final = (
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
)


class ProbeAnswer(msgspec.Struct, omit_defaults=True):
    """The body of an answer."""

    status: str
    # The checks that failed.
    failed: tuple[str, ...] = ()


class Probes:
    """Answers whether this process is alive and ready; use it from one event loop."""

    def __init__(self, readiness: Readiness) -> None:
        self._readiness = readiness
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="readiness")
        self._checking: asyncio.Future[tuple[str, ...]] | None = None
        self._is_draining = False

    def begin_draining(self) -> None:
        """Say from now on that this process is not ready: it is about to stop."""
        self._is_draining = True

    def close(self) -> None:
        # A check that hangs is not waited for.
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def answer(self, scope: Scope, send: Send) -> None:
        """Answer a probe."""
        if scope["method"] not in {"GET", "HEAD"}:
            await _send(send, 405, ProbeAnswer("refused"), ((b"allow", b"GET, HEAD"),))
        elif scope["path"] == LIVEZ:
            await _send(send, 200, ProbeAnswer("ok"))
        elif failed := await self._find_failed():
            await _send(send, 503, ProbeAnswer("unavailable", failed), ((b"retry-after", b"1"),))
        else:
            await _send(send, 200, ProbeAnswer("ok"))

    async def _find_failed(self) -> tuple[str, ...]:
        if self._is_draining:
            return ("stopping",)
        if self._checking is None or self._checking.done():
            loop = asyncio.get_running_loop()
            self._checking = loop.run_in_executor(self._thread, self._readiness.find_failed)
        try:
            # All who ask meanwhile wait for the same check.
            async with asyncio.timeout(SECONDS_TO_CHECK):
                return await asyncio.shield(self._checking)
        except TimeoutError:
            return ("time",)


async def _send(
    send: Send, status: int, answer: ProbeAnswer, more: tuple[tuple[bytes, bytes], ...] = ()
) -> None:
    body = msgspec.json.encode(answer)
    length = (b"content-length", b"%d" % len(body))
    await send(
        {
            "type": "http.response.start",
            "status": status,
            "headers": [*_HEADERS, length, *more],
        }
    )
    await send({"type": "http.response.body", "body": body})
