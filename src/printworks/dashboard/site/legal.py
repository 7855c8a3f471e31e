"""The legal notice and the terms of the operator: public pages, made of plain text."""

from collections.abc import Callable, Sequence

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.rendering import render
from printworks.rules.brand import Brand, split_text


def legal_routes() -> Sequence[BaseRoute]:
    """Return the pages; each is a 404 until the operator has written it."""
    return [
        Route("/imprint", _show("Legal notice", lambda brand: brand.imprint)),
        Route("/terms", _show("Terms", lambda brand: brand.terms)),
    ]


def _show(title: str, read: Callable[[Brand], str]) -> Callable[[Request], Response]:
    def show(_request: Request) -> Response:
        text = read(find_brand().brand)
        if not text:
            raise HTTPException(404)
        return render("legal.html", title=title, paragraphs=split_text(text))

    return show
