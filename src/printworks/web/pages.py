"""Serves the pages for people, with their security headers."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final

import structlog
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match

from printworks.api import messages
from printworks.dashboard.checkout.readers import find_reader
from printworks.dashboard.shared.labels import Tone
from printworks.dashboard.site.assets import asset_routes
from printworks.dashboard.site.branding import branded
from printworks.dashboard.site.rate_limits import refuse_too_many
from printworks.dashboard.site.rendering import ENGLISH, Link, Message, render_message
from printworks.files.errors import FilesUnavailable
from printworks.language.words import Words, mark
from printworks.store.accounts.brand_watch import BrandWatch
from printworks.store.engine.outages import is_outage
from printworks.watch.counts import PAGES, Counts
from printworks.web.clients import find_client
from printworks.web.edge import ON_EVERY_ANSWER
from printworks.web.receiving import (
    BodyBroken,
    BodyLimits,
    BodyStalled,
    BodyTooLarge,
    ClientGone,
    Receive,
    limit_body,
    read_body,
)
from printworks.web.requests import begin_request

log = structlog.get_logger(__name__)

Send = Callable[[Any], Awaitable[None]]

# For forms and webhooks.
_BODY: Final = BodyLimits(1_000_000, timedelta(seconds=10), timedelta(seconds=30))
# For responses without a policy of their own, such as CSV files and redirects.
_POLICY: Final = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
# Below these, paths are case-sensitive: they contain tokens.
_WITH_TOKENS: Final = frozenset({"pay", "payments", "bank", "track"})

# Below these, a signed-in user may upload pictures.
_WITH_FILES: Final = (
    *("orders/", "issues/", "console/orders/"),
    *("settings/shop/", "console/brand/", "console/versions/"),
)

_TITLES: Final[Mapping[int, str]] = {
    404: mark("Page not found"),
    500: mark("Something went wrong"),
    503: mark("Temporarily unavailable"),
}
_SENTENCES: Final[Mapping[int, str]] = {
    400: mark("The request cannot be read."),
    404: mark("There is nothing at this address."),
    410: mark("This link has expired. Whoever gave it to you can get a new one."),
    405: mark("This page can only be viewed."),
    408: mark("The form did not arrive in time; send it again."),
    413: mark("The form is too large."),
    503: mark(
        "Something that this page needs is temporarily unavailable; try again in a few seconds."
    ),
}
_UNREAD: Final[Mapping[type[Exception], int]] = {
    BodyBroken: 400,
    BodyStalled: 408,
    BodyTooLarge: 413,
}
# Of whatever has no sentence of its own.
_OTHER: Final = mark("Something went wrong.")
_LONGEST_LOGGED: Final = 40
_FAILED: Final = mark("Try again later. The error was logged as {request_id}.")


def normal_path(path: str) -> str:
    """Return a path in the form of the routes: in lower case, without a trailing slash."""
    path = path.rstrip("/") or "/"
    first, slash, rest = path[1:].partition("/")
    return f"/{first.lower()}{slash}{rest if first.lower() in _WITH_TOKENS else rest.lower()}"


class PageServer:
    def __init__(
        self,
        routes: Sequence[BaseRoute],
        uploads: BodyLimits = _BODY,
        *,
        is_proxied: bool = False,
        counts: Counts | None = None,
        brand: BrandWatch | None = None,
    ) -> None:
        self._counts = counts or Counts()
        self._uploads = uploads
        self._brand = brand
        self._is_proxied = is_proxied
        self._routes = [*asset_routes(), *routes]
        self._app = Starlette(
            routes=self._routes,
            middleware=[Middleware(GZipMiddleware)],
            exception_handlers={
                HTTPException: _show_refusal,
                **dict.fromkeys(_UNREAD, _refuse_unread),
                ClientGone: lambda request, _error: _refuse(400, request.scope),
                Exception: _show_failure,
            },
        )
        self._app.router.redirect_slashes = False

    async def _receive(self, request: messages.Request, receive: Receive) -> Receive:
        """Read a small body at once; stream one with pictures."""
        path = f"{request.path.strip('/')}/"
        is_form_with_files = request.headers.get("content-type", "").startswith("multipart/")
        if path.startswith(_WITH_FILES) and is_form_with_files:
            return limit_body(receive, request.headers, self._uploads)
        return _replay(await read_body(receive, request.headers, _BODY), receive)

    def owns(self, path: str) -> bool:
        scope = {"type": "http", "method": "GET", "path": normal_path(path), "root_path": ""}
        return any(route.matches(scope)[0] is not Match.NONE for route in self._routes)

    async def __call__(
        self, scope: dict[str, Any], receive: Receive, send: Send, wait: timedelta | None = None
    ) -> None:
        """Show a page, or that the client has to wait."""
        began = time.perf_counter()
        scope = {**scope, "path": normal_path(scope["path"])}
        request = begin_request(scope)
        request_id = request.request_id
        status = 0

        async def send_safely(message: dict[str, Any]) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = _complete(message["headers"])
                headers.append((b"x-request-id", request_id.encode()))
                message = {**message, "headers": headers}
            await send(message)

        client = find_client(scope, request.headers, is_proxied=self._is_proxied)
        state = {**scope.get("state", {}), "request_id": request_id}
        scope = {**scope, "state": state, "client": (client, 0) if client else None}
        with branded(self._brand):
            if wait is None:
                await self._answer(request, scope, receive, send_safely)
            else:
                await refuse_too_many(request.path, wait)(scope, receive, send_safely)  # type: ignore[arg-type]
        seconds = time.perf_counter() - began
        self._counts.note_request(PAGES, "", PAGES, status, seconds)
        log.info(
            "request",
            method=request.method,
            # The rest of it may be a secret, such as that of an invitation.
            page=scope["path"].strip("/").partition("/")[0][:_LONGEST_LOGGED],
            status=status,
            ms=round(seconds * 1000, 2),
            request_id=request_id,
            client=client,
        )

    async def _answer(
        self, request: messages.Request, scope: dict[str, Any], receive: Receive, send: Send
    ) -> None:
        try:
            if (refusal := scope.get("refusal")) is not None:
                status, sentence = refusal
                await _render_status(status, sentence, ENGLISH)(scope, receive, send)
                return
            if request.method == "POST":
                receive = await self._receive(request, receive)
            await self._app(scope, receive, send)
        except ClientGone:
            log.info("client gone", method=request.method, request_id=request.request_id)
        except tuple(_UNREAD) as error:
            await _refuse(_UNREAD[type(error)], scope)(scope, receive, send)
        except Exception:
            # The client has been answered already.
            log.exception("page failed", method=request.method, request_id=request.request_id)


def _complete(headers: Sequence[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Return the headers of a response with those that every response has."""
    has_policy = any(name == _POLICY[0] for name, _ in headers)
    return [*headers, *ON_EVERY_ANSWER, *([] if has_policy else [_POLICY])]


def _replay(body: bytes, receive: Receive) -> Receive:
    """Return a receive function that repeats a body that was already read."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Any:
        return waiting.pop() if waiting else await receive()

    return receive_again


def _show_refusal(request: Request, refusal: Exception) -> Response:
    status = refusal.status_code if isinstance(refusal, HTTPException) else 500
    response = _refuse(status, request.scope)
    if isinstance(refusal, HTTPException) and refusal.headers:
        response.headers.update(refusal.headers)
    return response


def _refuse_unread(request: Request, error: Exception) -> Response:
    return _refuse(_UNREAD[type(error)], request.scope)


def _show_failure(request: Request, failure: Exception) -> Response:
    if is_outage(failure) or isinstance(failure, FilesUnavailable):
        response = _refuse(503, request.scope)
        response.headers["Retry-After"] = "5"
        return response
    words = _find_words(request.scope)
    return _render_status(500, words.say(_FAILED, request_id=request.state.request_id), words)


def _refuse(status: int, scope: Mapping[str, Any]) -> Response:
    words = _find_words(scope)
    return _render_status(status, words.say(_SENTENCES.get(status, _OTHER)), words)


def _find_words(scope: Mapping[str, Any]) -> Words:
    """Return how to write to somebody: recipients have languages, the other pages have one."""
    first = scope["path"].strip("/").partition("/")[0].lower()
    return find_reader(Request(dict(scope))).words if first in _WITH_TOKENS else ENGLISH


def _render_status(status: int, sentence: str, words: Words) -> Response:
    tone: Tone = "error" if status >= 500 else "warn"
    title = words.say(_TITLES.get(status) or "Something went wrong")
    is_ours = words is ENGLISH
    link = Link("Go to the start page", "/") if status == 404 and is_ours else None
    message = Message(tone=tone, title=title, sentences=(sentence,), link=link)
    return render_message(message, status=status, words=words)
