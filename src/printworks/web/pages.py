"""Everything that is not the API: pages for people, with their security headers."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Match

from printworks.web.edge import ON_EVERY_ANSWER, begin_request

_REFUSAL = "<!doctype html><title>{status}</title><p>{sentence}</p>"
_SENTENCES = {404: "There is nothing at this address.", 405: "This page can only be looked at."}


def normal_path(path: str) -> str:
    """Return a path as the pages have theirs: in small letters, without a slash at the end."""
    return path.lower().rstrip("/") or "/"


class Pages:
    """An ASGI application for pages."""

    def __init__(self, routes: Sequence[BaseRoute]) -> None:
        self._routes = routes
        self._app = Starlette(
            routes=routes,
            middleware=[Middleware(GZipMiddleware)],
            exception_handlers={HTTPException: _show_refusal},
        )
        self._app.router.redirect_slashes = False

    def owns(self, path: str) -> bool:
        """Say whether one of the pages is at this path."""
        scope = {"type": "http", "method": "GET", "path": path, "root_path": ""}
        return any(route.matches(scope)[0] is not Match.NONE for route in self._routes)

    async def __call__(
        self,
        scope: dict[str, Any],
        receive: Callable[[], Awaitable[Any]],
        send: Callable[[Any], Awaitable[None]],
    ) -> None:
        """Show a page."""
        request_id = begin_request(scope).request_id.encode()

        async def send_safely(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.start":
                added = [(b"x-request-id", request_id), *ON_EVERY_ANSWER]
                message = {**message, "headers": [*message["headers"], *added]}
            await send(message)

        await self._app(scope, receive, send_safely)  # type: ignore[arg-type]


def _show_refusal(_request: Request, refusal: Exception) -> Response:
    status = refusal.status_code if isinstance(refusal, HTTPException) else 500
    headers = refusal.headers if isinstance(refusal, HTTPException) else None
    sentence = _SENTENCES.get(status, "Something went wrong here.")
    page = _REFUSAL.format(status=status, sentence=sentence)
    return HTMLResponse(page, status_code=status, headers=headers)
