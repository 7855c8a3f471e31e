"""What is printed on paper: job sheets and packing slips, with styles of their own."""

import base64
import hashlib
from typing import Final

import anyio.to_thread
from starlette.responses import HTMLResponse, Response
from starlette.types import Receive, Scope, Send

from printworks.actions.production.shop_slips import render_slip
from printworks.dashboard.site.services import PageServices
from printworks.labs.slip import SlipText, write_slip

_PRIVATE: Final = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


def make_paper_policy(page: str) -> str:
    """Return the policy of a page that has its style in itself, and nothing else."""
    style = page.partition("<style>")[2].partition("</style>")[0]
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    return (
        f"default-src 'none'; img-src data:; style-src 'sha256-{digest}'; "
        "form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
    )


class SlipResponse(Response):
    """A packing slip, whose logo is fetched when the response is sent, after the transaction."""

    def __init__(self, services: PageServices, slip: SlipText) -> None:
        super().__init__()
        self._services = services
        self._slip = slip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the slip."""
        page = await anyio.to_thread.run_sync(render_slip, self._services.files, self._slip)
        policy = make_paper_policy(write_slip(self._slip, None))
        headers = {**_PRIVATE, "Content-Security-Policy": policy}
        await HTMLResponse(page, headers=headers)(scope, receive, send)
