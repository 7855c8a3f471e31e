"""The page at the root."""

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks import __version__
from printworks.dashboard.auth.sessions import COOKIES
from printworks.dashboard.site.rendering import render
from printworks.rules.people import Realm
from printworks.settings import Settings

_GREETINGS: Final = {
    "sandbox": "This is the sandbox: nothing is printed and nothing is charged.",
    "live": "Orders that are submitted here are printed and charged.",
}


def start_routes(settings: Settings) -> Sequence[BaseRoute]:
    async def show_start(request: Request) -> Response:
        return render(
            "start.html",
            environment=settings.environment,
            greeting=_GREETINGS[settings.environment],
            # The next page checks the cookie: this one needs no database.
            is_known=COOKIES[Realm.MERCHANT] in request.cookies,
            is_operator=COOKIES[Realm.OPERATOR] in request.cookies,
            may_sign_up=settings.environment == "sandbox",
            public_url=settings.public_url,
            prefix=settings.header_prefix,
            version=__version__,
        )

    return [Route("/", show_start)]
