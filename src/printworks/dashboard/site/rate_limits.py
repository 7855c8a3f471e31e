"""What stands before pages that anybody with their address may use."""

import math
from collections.abc import Awaitable, Callable
from datetime import timedelta
from functools import partial
from typing import Final

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import Response

from printworks.clock import Clock
from printworks.dashboard.site.forms import FORM_TOKEN, Form, FormKey, read_form, refuse_form
from printworks.dashboard.site.limits import RateLimiter, describe_wait
from printworks.dashboard.site.rendering import Link, Message, render_message

Show = Callable[[Request], Response]
Take = Callable[[Request, Form], Response]
Endpoint = Callable[[Request], Awaitable[Response]]

# A page that looks again by itself must stay below this, in several windows at once.
_LOOKS: Final = 60
_LOOK_EVERY: Final = timedelta(seconds=1)
_SENDS: Final = 10
# Pages that are made at the same time.
_AT_ONCE: Final = 16
_SEND_EVERY: Final = timedelta(seconds=10)


class PageLimiter:
    """Lets each page be looked at and its forms be sent only so often, and only from itself."""

    def __init__(self, forms: FormKey, clock: Clock) -> None:
        self._forms = forms
        self._clock = clock
        self._looks = RateLimiter(burst=_LOOKS, every=_LOOK_EVERY)
        self._sends = RateLimiter(burst=_SENDS, every=_SEND_EVERY)
        self._threads: anyio.CapacityLimiter | None = None

    def page(self, show: Show, take: Take | None = None) -> Endpoint:
        """Return an endpoint that shows a page, and takes its form if it has one.

        Both run in a thread, since they wait for the database.
        """

        async def answer(request: Request) -> Response:
            if request.method == "POST" and take is not None:
                form = await read_form(request)
                return await self._run(self._take, take, request, form)
            return await self._run(self._show, show, request)

        return answer

    async def _run(self, call: Callable[..., Response], *args: object) -> Response:
        # In threads of their own: such a page may wait for a payment provider, and other pages
        # must not wait for that.
        if self._threads is None:
            self._threads = anyio.CapacityLimiter(_AT_ONCE)
        return await anyio.to_thread.run_sync(partial(call, *args), limiter=self._threads)

    def _show(self, show: Show, request: Request) -> Response:
        page = request.scope["path"]
        wait = self._looks.take(page, now=self._clock())
        return show(request) if wait is None else refuse_haste(page, wait)

    def _take(self, take: Take, request: Request, form: Form) -> Response:
        page = request.scope["path"]
        # Asked first: nobody without the page can fill the limiter's memory.
        if not self._forms.is_from(page, request, form.get(FORM_TOKEN, "")):
            return refuse_form(page)
        wait = self._sends.take(page, now=self._clock())
        return take(request, form) if wait is None else refuse_haste(page, wait)


def refuse_haste(page: str, wait: timedelta) -> Response:
    """Return the page for somebody who asks too often."""
    seconds = max(math.ceil(wait.total_seconds()), 1)
    message = Message(
        tone="warn",
        title="Too many requests",
        sentences=(
            "This page was asked for too often in a short time. Nothing was changed and nothing "
            "was paid by this request.",
            f"Wait for {describe_wait(wait)}, then try again.",
        ),
        link=Link("Open the page again", page),
    )
    answer = render_message(message, status=429)
    answer.headers["Retry-After"] = str(seconds)
    return answer
