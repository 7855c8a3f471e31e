"""The page at the root: where a newcomer's browser lands."""

from collections.abc import Sequence
from typing import Final

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from printworks import __version__
from printworks.dashboard.rendering import render
from printworks.settings import Settings

_GREETINGS: Final = {
    "sandbox": "The service is running. This is the sandbox: nothing is printed and nothing is charged.",
    "live": "The service is running. Orders that are submitted here are printed and charged.",
}


def start_routes(settings: Settings) -> Sequence[BaseRoute]:
    """Return the page for the root."""

    async def show_start(_request: Request) -> Response:
        return render(
            "start.html",
            environment=settings.environment,
            greeting=_GREETINGS[settings.environment],
            public_url=settings.public_url,
            prefix=settings.header_prefix,
            version=__version__,
        )

    return [Route("/", show_start)]
