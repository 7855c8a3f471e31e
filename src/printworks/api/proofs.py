"""Serves proofs and mockups at signed addresses, because browsers send no credentials."""

import hashlib
import re
from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.actions.services import Services
from printworks.api.links import LinkMaker
from printworks.files.errors import FileMissing, FilesUnavailable
from printworks.store.images.pictures import proof_key

_PATH: Final = ("image", "signature", "name")
_NAMES: Final = frozenset({"preview", "thumbnail", "mockup"})
# No image has a longer id, and Python refuses to parse thousands of digits.
_NUMBER: Final = re.compile("[0-9]{1,19}")
# The address of a proof changes with the image; browsers may cache it, proxies may not.
_CACHING: Final = "private, max-age={seconds}, immutable"
# An image that was changed may be changed again before its proofs are rendered.
_EDITED: Final = "private, max-age=60"
# Even a picture that is also something else must not run or load anything.
_POLICY: Final = "default-src 'none'; sandbox"


def proof_routes(links: LinkMaker, services: Services) -> Sequence[BaseRoute]:
    # Not a coroutine: Starlette runs it in a thread, since it waits for disk and database.
    def show_proof(request: Request) -> Response:
        number, signature, name = (request.path_params[key] for key in _PATH)
        if name not in _NAMES or not _NUMBER.fullmatch(number):
            raise HTTPException(404)
        image_id = int(number)
        with services.database.reading() as db:
            is_signed = links.make(db).is_signed(image_id, signature)
        if not is_signed:
            raise HTTPException(404)
        left = links.time_left(signature)
        if left <= timedelta(0):
            raise HTTPException(410)
        try:
            picture = services.files.read(proof_key(image_id, name))
        except FileMissing:
            raise HTTPException(404) from None
        except FilesUnavailable:
            raise HTTPException(503, headers={"Retry-After": "5"}) from None
        return _answer(request, picture, left)

    return [Route("/proofs/{image}/{signature}/{name}.jpg", show_proof)]


def _answer(request: Request, picture: bytes, left: timedelta) -> Response:
    etag = f'"{hashlib.sha256(picture).hexdigest()[:32]}"'
    caching = _CACHING.format(seconds=left // timedelta(seconds=1))
    if "v" in request.query_params:
        caching = _EDITED
    headers = {"ETag": etag, "Cache-Control": caching, "Content-Security-Policy": _POLICY}
    known = {
        tag.strip().removeprefix("W/")
        for tag in request.headers.get("if-none-match", "").split(",")
    }
    if etag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    content = b"" if request.method == "HEAD" else picture
    headers["Content-Length"] = str(len(picture))
    return Response(content, media_type="image/jpeg", headers=headers)
