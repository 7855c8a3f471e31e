"""A request of somebody who is not signed in yet."""

import msgspec
from starlette.requests import Request

from printworks.dashboard.shared.labels import Tone
from printworks.dashboard.site.forms import Sent


class SignInAttempt(msgspec.Struct, frozen=True):
    """An attempt to sign in: what was sent, and what was wrong with it."""

    request: Request
    sent: Sent = Sent()
    problem: str = ""
    tone: Tone = "error"
    status: int = 200
    # Whether there were too many tries, so that the page names other ways in.
    is_blocked: bool = False

    @property
    def address(self) -> str:
        """The network address of the browser."""
        return self.request.client.host if self.request.client else ""
