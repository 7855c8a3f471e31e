"""What the operator calls the service and how it looks, on every page."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.dashboard.shared.logos import address_of_logo
from printworks.rules.colours import find_dark_tones, find_light_tones
from printworks.store.accounts.brand import StoredBrand
from printworks.store.accounts.brand_watch import BrandWatch
from printworks.store.accounts.shops import Logo

# Every page is written for some request, and this is known from its beginning.
_WATCH: Final[ContextVar[BrandWatch | None]] = ContextVar("brand", default=None)
_FOREVER: Final = "public, max-age=31536000, immutable"


@contextmanager
def branded(watch: BrandWatch | None) -> Iterator[None]:
    """Write pages with the brand of this service meanwhile."""
    before = _WATCH.set(watch)
    try:
        yield
    finally:
        _WATCH.reset(before)


def find_brand() -> StoredBrand:
    """Return the brand of the page that is being written."""
    watch = _WATCH.get()
    return StoredBrand() if watch is None else watch.current


class ShownBrand:
    """The brand as templates see it."""

    @property
    def name(self) -> str:
        return find_brand().name

    @property
    def logo(self) -> Logo | None:
        return find_brand().logo

    @property
    def logo_address(self) -> str:
        """Where the logo is; empty without one."""
        logo = find_brand().logo
        return address_of_logo(logo) if logo else ""

    @property
    def style(self) -> str:
        """Where the colours are; empty for the usual ones."""
        accent = find_brand().brand.accent
        return address_of_colours(accent) if accent else ""

    @property
    def has_imprint(self) -> bool:
        return bool(find_brand().brand.imprint)

    @property
    def has_terms(self) -> bool:
        return bool(find_brand().brand.terms)


@lru_cache(maxsize=8)
def write_colours(accent: str) -> str:
    """Return the style sheet that gives pages an accent colour, by day and by night."""
    light, dark = find_light_tones(accent), find_dark_tones(accent)

    def rule(accent: str, strong: str, on: str) -> str:
        return f":root{{--accent:{accent};--accent-strong:{strong};--on-accent:{on}}}"

    return f"{rule(*light)}\n@media (prefers-color-scheme:dark){{{rule(*dark)}}}\n"


@lru_cache(maxsize=8)
def address_of_colours(accent: str) -> str:
    """Return where these colours are, at an address that changes with what is there."""
    digest = hashlib.sha256(write_colours(accent).encode()).hexdigest()[:16]
    return f"/brand-{accent[1:]}-{digest}.css"


def brand_routes() -> Sequence[BaseRoute]:
    """Return the style sheet of the colours."""

    async def show(request: Request) -> Response:
        accent = find_brand().brand.accent
        if not accent:
            raise HTTPException(404)
        # While the colour is being changed, a page of one process may ask another.
        is_this = request.scope["path"] == address_of_colours(accent)
        headers = {"Cache-Control": _FOREVER if is_this else "no-store"}
        return Response(write_colours(accent), media_type="text/css", headers=headers)

    return [Route("/brand-{colours}.css", show)]
