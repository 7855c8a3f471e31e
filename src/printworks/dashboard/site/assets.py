"""Static files, at addresses that change with their content."""

import hashlib
from collections.abc import Mapping, Sequence
from importlib import resources
from typing import Final

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route


class _Asset(msgspec.Struct, frozen=True):
    content: bytes
    media_type: str
    address: str


def _load(name: str, ending: str, media_type: str) -> _Asset:
    file = resources.files("printworks.dashboard").joinpath("static", f"{name}.{ending}")
    content = file.read_bytes()
    digest = hashlib.sha256(content).hexdigest()[:16]
    return _Asset(content, media_type, f"/assets/{name}-{digest}.{ending}")


_ASSETS: Final[Mapping[str, _Asset]] = {
    "style.css": _load("style", "css", "text/css"),
    "htmx.js": _load("htmx", "js", "text/javascript"),
    "forms.js": _load("forms", "js", "text/javascript"),
    "reference.js": _load("reference", "js", "text/javascript"),
    "copying.js": _load("copying", "js", "text/javascript"),
    "passkeys.js": _load("passkeys", "js", "text/javascript"),
    "crop.js": _load("crop", "js", "text/javascript"),
    "order_form.js": _load("order_form", "js", "text/javascript"),
    "pictures.js": _load("pictures", "js", "text/javascript"),
    "icon.svg": _load("icon", "svg", "image/svg+xml"),
    "sample.jpg": _load("sample", "jpg", "image/jpeg"),
}
_FOREVER: Final = "public, max-age=31536000, immutable"
# Even a picture that is something else as well runs nothing and loads nothing.
_POLICY: Final = "default-src 'none'; style-src 'unsafe-inline'; sandbox"


def address_of(name: str) -> str:
    """Return the address of an asset, which changes with its content."""
    return _ASSETS[name].address


def asset_routes() -> Sequence[BaseRoute]:
    return [Route("/assets/{name}-{digest}.{ending}", _show)]


async def _show(request: Request) -> Response:
    asset = _ASSETS.get(f"{request.path_params['name']}.{request.path_params['ending']}")
    if asset is None:
        raise HTTPException(404)
    # During an update, a page of one version may ask the other. What it gets will do, and must
    # not be cached.
    caching = _FOREVER if request.scope["path"] == asset.address else "no-store"
    headers = {"Cache-Control": caching, "Content-Security-Policy": _POLICY}
    return Response(asset.content, media_type=asset.media_type, headers=headers)
