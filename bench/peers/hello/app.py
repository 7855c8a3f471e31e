"""The least that Starlette can do: the baseline for the cost of our own requests."""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route


async def hello(_request: Request) -> PlainTextResponse:
    """Answer at once."""
    return PlainTextResponse("hello")


app = Starlette(routes=[Route("/", hello)])
