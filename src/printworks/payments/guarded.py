"""Makes the `stripe` package use our own outbound client, and one server only.

The package would use its own connections, proxies and certificates. This way its requests are
like all of ours: the guard checks every address, certificates are verified, redirects are not
followed, and the environment is ignored.
"""

import asyncio
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

import stripe

from printworks.net.client import FetchLimits, Outbound
from printworks.net.errors import NotThere, OutboundError
from printworks.net.guard import Guard

LARGEST_ANSWER: Final = 10_000_000

# The others describe this machine.
_SENT: Final = frozenset({"authorization", "content-type", "idempotency-key", "stripe-version"})
_MISSING: Final = '{"error": {"type": "invalid_request_error", "code": "resource_missing"}}'

Answer = tuple[str, int, Mapping[str, str]]


class GuardedClient(stripe.HTTPClient):
    """Sends requests to one server, in the calling thread, each with a new connection.

    The thread must not have an event loop: it gets one for the request. Charges are too rare to
    keep connections open, and the server cannot close a new one while a charge is in flight.
    """

    name = "printworks"

    def __init__(self, guard: Guard, *, base: str, timeout: timedelta) -> None:
        super().__init__()
        self._guard = guard
        self._base = base
        self._timeout = timeout

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None,
        post_data: Any = None,
        *,
        _usage: list[str] | None = None,
    ) -> Answer:
        """Send a request; return body, status and headers, which are empty: they are not used."""
        sent = {name: text for name, text in (headers or {}).items() if name.lower() in _SENT}
        if not url.startswith(f"{self._base}/v1/"):
            raise _fail("The address is not one of the payment provider.")
        try:
            if method == "get":
                return asyncio.run(self._get(url, sent))
            if method == "post":
                return asyncio.run(self._post(url, (post_data or "").encode(), sent))
        except OutboundError as error:
            raise _fail(f"{type(error).__name__}: {error.detail or error.message}") from error
        raise _fail(f"The method {method} is not supported.")

    def close(self) -> None:
        """Do nothing: no connection stays open."""

    async def _get(self, url: str, headers: Mapping[str, str]) -> Answer:
        body = bytearray()
        limits = FetchLimits(
            size=LARGEST_ANSWER, total=self._timeout, stall=self._timeout, redirects=0
        )
        try:
            async with Outbound(self._guard) as outbound:
                await outbound.fetch(url, into=body.extend, limits=limits, headers=headers)
        except NotThere:
            return _MISSING, 404, {}
        return _read(body, 200)

    async def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> Answer:
        async with Outbound(self._guard) as outbound:
            posted = await outbound.post(
                url, body, headers, timeout=self._timeout, keep=LARGEST_ANSWER
            )
        return _read(posted.answer, posted.status)


def _read(body: bytes | bytearray, status: int) -> Answer:
    # The package fails on responses that are not a JSON object.
    text = body.decode(errors="replace")
    if not text.lstrip().startswith("{"):
        raise _fail(f"status {status} and an answer that cannot be read")
    return text, status, {}


def _fail(message: str) -> stripe.APIConnectionError:
    return stripe.APIConnectionError(message)  # type: ignore[no-untyped-call]
