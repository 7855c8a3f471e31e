"""Archives that a browser saves, sent while they are written."""

from collections.abc import Iterator
from datetime import datetime
from urllib.parse import quote

from starlette.responses import Response, StreamingResponse


def send_archive(pieces: Iterator[bytes], name: str, at: datetime) -> Response:
    """Send a ZIP; its name says when it was made."""
    file_name = quote(f"{name}-{at:%Y%m%d-%H%M%S}.zip")
    return StreamingResponse(
        pieces,
        media_type="application/zip",
        headers={
            "Content-Disposition": f'attachment; filename="{file_name}"',
            "Cache-Control": "no-store",
            # Pictures do not become smaller.
            "Content-Encoding": "identity",
            "X-Content-Type-Options": "nosniff",
        },
    )
