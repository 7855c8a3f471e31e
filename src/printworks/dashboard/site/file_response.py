"""Stored pictures as responses."""

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path

import anyio.to_thread
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.types import Receive, Scope, Send

from printworks.dashboard.site.services import PageServices
from printworks.files.errors import FileMissing, FilesUnavailable


class StoredPicture(Response):
    """A picture that is fetched when the response is sent, after the transaction."""

    media_type = "image/jpeg"

    def __init__(self, services: PageServices, key: str, headers: Mapping[str, str]) -> None:
        super().__init__(headers=headers)
        self._services = services
        self._key = key
        self._said = headers

    def find_key(self) -> str:
        """Return where it is stored; in a thread, so it may take its time."""
        return self._key

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the picture, or an error if it is missing or unavailable."""
        with ExitStack() as stack:
            path = await anyio.to_thread.run_sync(self._fetch, stack)
            answer = FileResponse(path, media_type=self.media_type, headers=self._said)
            await answer(scope, receive, send)

    def _fetch(self, stack: ExitStack) -> Path:
        try:
            return stack.enter_context(self._services.files.local(self.find_key()))
        except FileMissing:
            raise HTTPException(404) from None
        except FilesUnavailable:
            raise HTTPException(503, headers={"Retry-After": "5"}) from None
