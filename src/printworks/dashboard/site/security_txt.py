"""Where to report a vulnerability, as RFC 9116 asks: `/.well-known/security.txt`."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import BaseRoute, Route

from printworks.clock import Clock
from printworks.settings import Settings

PATH: Final = "/.well-known/security.txt"
# Less than the year that is allowed, and the same text all day.
_VALID_FOR: Final = timedelta(days=180)


def security_routes(settings: Settings, clock: Clock) -> Sequence[BaseRoute]:
    """Return the file; nothing without a contact, since a file without one would be no help."""
    if not settings.security_contact:
        return []

    async def show(_request: Request) -> Response:
        expires = clock().replace(hour=0, minute=0, second=0, microsecond=0) + _VALID_FOR
        lines = (
            f"Contact: {settings.security_contact}",
            f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
            "Preferred-Languages: en",
            f"Canonical: {settings.public_url}{PATH}",
        )
        return PlainTextResponse("".join(f"{line}\n" for line in lines))

    return [Route(PATH, show)]
