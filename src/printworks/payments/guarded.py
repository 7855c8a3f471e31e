"""Lets the `stripe` package ask through our own outbound client, and one server only.

The package would bring its own connections, proxies and certificates. This way its requests
keep what all of ours promise: the guard sees every address, certificates are checked, no
redirect is followed, nothing of the environment is used.
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
    """Asks one server, in the calling thread, with a connection for each request.

    The thread must have no event loop of its own: it gets one for as long as the request takes.
    Charges are too rare for connections to be worth keeping, and a new one is never found closed
    by the other side while a charge is on its way.
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
        """Ask, and return body, status and headers; these are left out, nobody reads them."""
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
        raise _fail(f"Nothing here asks with {method}.")

    def close(self) -> None:
        """Do nothing: no connection is kept."""

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
    # The package takes every answer for an object of JSON, and stumbles over another one.
    text = body.decode(errors="replace")
    if not text.lstrip().startswith("{"):
        raise _fail(f"status {status} and an answer that cannot be read")
    return text, status, {}


def _fail(message: str) -> stripe.APIConnectionError:
    return stripe.APIConnectionError(message)  # type: ignore[no-untyped-call]
