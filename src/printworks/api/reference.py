"""The API reference: the OpenAPI documents and a page to read them."""

from collections.abc import Awaitable, Callable, Iterable, Sequence
from functools import cache, partial
from importlib import resources
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from printworks.api.endpoints import ApiFamily
from printworks.api.openapi import describe, encode
from printworks.settings import Settings

_VIEWER: Final = Path(str(resources.files("printworks.api").joinpath("viewer")))
# Everything comes from this server, and nothing is written into the page.
_POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)


def reference_routes(families: Iterable[ApiFamily], settings: Settings) -> Sequence[BaseRoute]:
    """Return the document and the page of each version."""
    page = _VIEWER.joinpath("page.html").read_text()
    routes: list[BaseRoute] = []
    for family in families:
        if family.is_off:
            continue
        prefix = f"/{family.prefix}"
        written = page.format(prefix=prefix)
        routes += [
            Route(
                f"{prefix}/openapi.json",
                _show(partial(_write_document, family, settings.header_prefix), "application/json"),
            ),
            Route(
                f"{prefix}/docs",
                _show(written.encode, "text/html", **{"Content-Security-Policy": _POLICY}),
            ),
            Mount(f"{prefix}/docs", StaticFiles(directory=_VIEWER)),
        ]
    return routes


def _write_document(family: ApiFamily, header_prefix: str) -> bytes:
    return encode(describe(family, header_prefix=header_prefix))


def _show(
    write: Callable[[], bytes], media_type: str, **headers: str
) -> Callable[[Request], Awaitable[Response]]:
    # Written on first request, so that a start does not wait for it.
    write_once = cache(write)

    async def show(_request: Request) -> Response:
        return Response(write_once(), media_type=media_type, headers=headers)

    return show
