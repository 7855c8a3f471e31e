"""The OpenAPI documents, as they are served."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache, partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.api.endpoints import ApiFamily
from printworks.api.openapi import describe, encode
from printworks.settings import Settings


def document_routes(families: Iterable[ApiFamily], settings: Settings) -> Sequence[BaseRoute]:
    """Return the document of each version."""
    return [
        Route(
            f"/{family.prefix}/openapi.json",
            _show(partial(_write_document, family, settings.header_prefix)),
        )
        for family in families
        if not family.is_off
    ]


def _write_document(family: ApiFamily, header_prefix: str) -> bytes:
    return encode(describe(family, header_prefix=header_prefix))


def _show(write: Callable[[], bytes]) -> Callable[[Request], Awaitable[Response]]:
    # Written on first request, so that a start does not wait for it.
    write_once = cache(write)

    async def show(_request: Request) -> Response:
        return Response(write_once(), media_type="application/json")

    return show
