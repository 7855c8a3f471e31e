"""Rate limits and form checks of pages that need no sign-in."""

import math
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from printworks.dashboard.site.forms import FORM_TOKEN, Form, read_form, refuse_form
from printworks.dashboard.site.limits import RateLimiter
from printworks.dashboard.site.rendering import ENGLISH, Link, Message, render_message
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.language.words import Words

Show = Callable[[Request], Response]
Take = Callable[[Request, Form], Response]
Endpoint = Callable[[Request], Awaitable[Response]]
FindWords = Callable[[Request], Words]

# A page that refreshes itself must stay below this, in several windows together.
_VIEWS: Final = 60
_VIEW_EVERY: Final = timedelta(seconds=1)
_SENDS: Final = 10
# Pages that are made at the same time.
_AT_ONCE: Final = 16
_SEND_EVERY: Final = timedelta(seconds=10)


def _in_english(_request: Request) -> Words:
    return ENGLISH


class PageLimiter:
    """Limits how often a page is viewed and its form sent, and takes only forms of the page itself."""

    def __init__(self, services: PageServices, words: FindWords = _in_english) -> None:
        """`words` finds out how to write to somebody."""
        self._services = services
        self._words = words
        self._views = RateLimiter(burst=_VIEWS, every=_VIEW_EVERY)
        self._sends = RateLimiter(burst=_SENDS, every=_SEND_EVERY)
        # Of their own: such a page may wait for a payment provider, and other pages must not wait
        # for that.
        self._threads = Threads(_AT_ONCE)

    def page(self, show: Show, take: Take | None = None) -> Endpoint:
        """Return an endpoint that shows a page, and takes its form if it has one.

        Both run in a thread, since they wait for the database.
        """

        async def answer(request: Request) -> Response:
            if request.method == "POST" and take is not None:
                form = await read_form(request)
                return await self._threads.run(self._take, take, request, form)
            return await self._threads.run(self._show, show, request)

        return answer

    def _show(self, show: Show, request: Request) -> Response:
        page = request.scope["path"]
        wait = self._views.take(page, now=self._services.clock())
        return show(request) if wait is None else refuse_too_many(page, wait, self._words(request))

    def _take(self, take: Take, request: Request, form: Form) -> Response:
        page = request.scope["path"]
        # Checked first: only the page itself can use the limiter's memory.
        if not self._services.forms.is_from(page, request, form.get(FORM_TOKEN, "")):
            return refuse_form(page, self._words(request))
        wait = self._sends.take(page, now=self._services.clock())
        if wait is not None:
            return refuse_too_many(page, wait, self._words(request))
        return take(request, form)


# From here on a wait is told in minutes.
_A_WHILE: Final = 90
# After which somebody's turn has come, unless many others keep coming.
_BUSY: Final = timedelta(seconds=5)


def refuse_busy(page: str, why: str) -> Response:
    """Return the page for what the machine has no time for at the moment."""
    message = Message(
        tone="warn",
        title="One moment, please",
        sentences=(why,),
        link=Link("Reload the page", page),
    )
    answer = render_message(message, status=503)
    answer.headers["Retry-After"] = str(int(_BUSY.total_seconds()))
    return answer


def refuse_too_many(page: str, wait: timedelta, words: Words = ENGLISH) -> Response:
    """Return the page for somebody who has to wait."""
    seconds, say = max(math.ceil(wait.total_seconds()), 1), words.say
    message = Message(
        tone="warn",
        title=say("Too many requests"),
        sentences=(
            say("There were too many requests in a short time. Nothing was changed or paid."),
            _say_when(seconds, words),
        ),
        link=Link(say("Reload the page"), page),
    )
    answer = render_message(message, status=429, words=words)
    answer.headers["Retry-After"] = str(seconds)
    return answer


def _say_when(seconds: int, words: Words) -> str:
    if seconds < _A_WHILE:
        return words.count("Try again in a second.", "Try again in {count} seconds.", seconds)
    minutes = math.ceil(seconds / 60)
    return words.count("Try again in a minute.", "Try again in {count} minutes.", minutes)
