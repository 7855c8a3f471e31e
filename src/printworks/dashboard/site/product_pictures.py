"""Photographs of products, at addresses that say their content."""

import re
from collections.abc import Sequence
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.dashboard.site.file_response import StoredPicture
from printworks.dashboard.site.logos import HEADERS
from printworks.dashboard.site.services import PageServices
from printworks.dashboard.site.threads import Threads
from printworks.store.catalogue.pictures import find_file

_HASH: Final = re.compile(r"[0-9a-f]{32}")
# A page of the catalogue asks for many together.
_AT_ONCE: Final = 8


def product_picture_routes(services: PageServices) -> Sequence[BaseRoute]:
    """Return the photographs, which everybody may see who knows their address."""
    threads = Threads(_AT_ONCE)

    def find(request: Request) -> Response:
        picture = request.path_params["hash"]
        if not _HASH.fullmatch(picture):
            raise HTTPException(404)
        with services.database.reading() as db:
            file = find_file(db, picture)
        if file is None:
            raise HTTPException(404)
        return StoredPicture(services, file, HEADERS)

    async def show(request: Request) -> Response:
        return await threads.run(find, request)

    return [Route("/product-pictures/{hash}.jpg", show)]
