"""A bad line to Stripe: it loses questions and answers, and repeats and shuffles notifications.

A process of its own, for tests that kill others. What is asked is passed on to the test server,
mostly; each fault happens before or after that. Notifications are passed on to the service, each
twice, late, and in any order; one that the service does not take is lost.
"""

import asyncio
import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Final
from urllib.request import urlopen

import aiohttp
from aiohttp import web

# Of each request: how likely something goes wrong, and what.
FAULT_RATE: Final = 0.08
FAULTS: Final = (
    "hang before",
    "hang after",
    # Passed on when whoever asked has given up.
    "late",
    "500 before",
    "500 after",
    "drop before",
    "drop after",
)
LATEST_NOTICE: Final = 3.0
COPIES: Final = 2
PASSED_ON: Final = ("Authorization", "Content-Type", "Idempotency-Key", "Stripe-Version")


class Proxy:
    """Passes on, or does not."""

    def __init__(self, stripe: str, *, seed: int, patience: float) -> None:
        self._stripe = stripe
        # Who hears of payments; nobody at first.
        self._hearer = ""
        self._chance = random.Random(seed)
        # Longer than anybody waits.
        self._patience = patience
        self._fault_rate = FAULT_RATE
        self._counts: Counter[str] = Counter()
        self._notices = 0
        self._newest_told = 0
        self._pending: set[asyncio.Task[Any]] = set()
        self._session: aiohttp.ClientSession | None = None

    def make_app(self) -> web.Application:
        """Return what listens."""
        app = web.Application()
        app.router.add_route("*", "/v1/{path:.*}", self.ask)
        app.router.add_post("/notices", self.hear)
        app.router.add_post("/_hearer", self.set_hearer)
        app.router.add_post("/_calm", self.calm_down)
        app.cleanup_ctx.append(self._keep_session)
        return app

    async def ask(self, request: web.Request) -> web.StreamResponse:
        """Answer a question to Stripe; what was begun goes on when whoever asked is gone."""
        body = await request.read()
        answer: web.StreamResponse = await self._let(self._answer(request, body))
        return answer

    async def hear(self, request: web.Request) -> web.Response:
        """Take a notification, and pass it on when nobody expects it."""
        self._notices += 1
        body, signature = await request.read(), request.headers["Stripe-Signature"]
        for _ in range(COPIES):
            wait = self._chance.uniform(0, LATEST_NOTICE)
            _telling = self._let(self._tell(self._notices, body, signature, wait))
        return web.Response()

    async def set_hearer(self, request: web.Request) -> web.Response:
        """Take the address to which notifications are passed on."""
        self._hearer = await request.text()
        return web.Response()

    async def calm_down(self, _request: web.Request) -> web.Response:
        """Stop failing, wait for what is under way, and say what was done."""
        self._fault_rate = 0
        while self._pending:
            await asyncio.wait(self._pending)
        return web.json_response(self._counts)

    def _let(self, doing: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(doing)
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)
        return task

    async def _answer(self, request: web.Request, body: bytes) -> web.StreamResponse:
        fault = ""
        if self._chance.random() < self._fault_rate:
            fault = self._chance.choice(FAULTS)
            self._counts[fault] += 1
        kind, _, timestamp = fault.partition(" ")
        if kind == "late":
            await asyncio.sleep(self._patience)
        response = None if timestamp == "before" else await self._pass_on(request, body)
        if kind == "hang":
            await asyncio.sleep(self._patience)
        if kind == "drop" and request.transport is not None:
            request.transport.abort()
        if kind == "500" or response is None:
            return web.json_response({"error": {"type": "api_error"}}, status=500)
        return response

    async def _pass_on(self, request: web.Request, body: bytes) -> web.Response:
        assert self._session is not None
        headers = {name: request.headers[name] for name in PASSED_ON if name in request.headers}
        url = f"{self._stripe}{request.path_qs}"
        async with self._session.request(
            request.method, url, data=body, headers=headers
        ) as response:
            return web.Response(
                status=response.status,
                body=await response.read(),
                content_type="application/json",
            )

    async def _tell(self, number: int, body: bytes, signature: str, wait: float) -> None:
        assert self._session is not None
        await asyncio.sleep(wait)
        if number < self._newest_told:
            self._counts["notice overtaken"] += 1
        self._newest_told = max(self._newest_told, number)
        headers = {"Content-Type": "application/json", "Stripe-Signature": signature}
        try:
            async with self._session.post(self._hearer, data=body, headers=headers) as response:
                heard = response.status == 200
        except (aiohttp.ClientError, OSError):
            heard = False
        self._counts["notice heard" if heard else "notice lost"] += 1

    async def _keep_session(self, _app: web.Application) -> Any:
        # The service's certificate is its own.
        connector = aiohttp.TCPConnector(limit=0, limit_per_host=32, ssl=False)
        async with aiohttp.ClientSession(connector=connector) as self._session:
            yield


async def serve(stripe: str, seed: str, patience: str) -> None:
    """Serve on a free port, say which, and end with the standard input."""
    proxy = Proxy(stripe, seed=int(seed), patience=float(patience))
    runner = web.AppRunner(proxy.make_app(), access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    sys.stdout.write(json.dumps(runner.addresses[0][1]) + "\n")
    sys.stdout.flush()
    await asyncio.to_thread(sys.stdin.read)
    await runner.cleanup()


class BadLine:
    """The proxy, seen from outside."""

    def __init__(self, port: int) -> None:
        self.base = f"http://127.0.0.1:{port}"

    @property
    def notices(self) -> str:
        """The address for Stripe's notifications."""
        return f"{self.base}/notices"

    def pass_notices_to(self, url: str) -> None:
        """Say who hears of payments."""
        urlopen(f"{self.base}/_hearer", url.encode(), timeout=60).close()

    def calm_down(self) -> Counter[str]:
        """End all faults, wait for what is under way, and return what happened how often."""
        with urlopen(f"{self.base}/_calm", b"", timeout=60) as response:
            return Counter(json.load(response))


@contextmanager
def run_bad_line(stripe: str, *, seed: int, patience: float) -> Iterator[BadLine]:
    """Run the proxy to the test server for Stripe in the block.

    After `patience`, in seconds, everybody who asks must have given up.
    """
    command = [sys.executable, "-W", "ignore", "-m", "tests.payments.faulty_proxy"]
    process = subprocess.Popen(
        [*command, stripe, str(seed), str(patience)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield BadLine(json.loads(process.stdout.readline()))
        process.stdin.close()


if __name__ == "__main__":
    asyncio.run(serve(*sys.argv[1:]))
