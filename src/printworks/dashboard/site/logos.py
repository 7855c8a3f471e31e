"""The logos of shops, at addresses that change with the picture."""

import re
from collections.abc import Sequence
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.dashboard.site.file_response import StoredPicture
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.store.accounts.shops import is_logo

_TOKEN: Final = re.compile(r"[0-9a-f]{32}")
_AT_ONCE: Final = 4
HEADERS: Final = {
    # Another picture has another address.
    "Cache-Control": "public, max-age=31536000, immutable",
    # Even a picture that is something else as well runs nothing and loads nothing.
    "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
}


def logo_routes(services: PageServices) -> Sequence[BaseRoute]:
    """Return the logos, which everybody may see who knows their address."""
    threads = Threads(_AT_ONCE)

    def find(request: Request) -> Response:
        token = request.path_params["token"]
        file = f"logos/{token}.jpg"
        with services.database.reading() as db:
            if not _TOKEN.fullmatch(token) or not is_logo(db, file):
                raise HTTPException(404)
        return StoredPicture(services, file, HEADERS)

    async def show(request: Request) -> Response:
        return await threads.run(find, request)

    return [Route("/logos/{token}.jpg", show)]
