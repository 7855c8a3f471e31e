"""What a web process makes of the head of a request."""

import random
import re
from typing import Final

from printworks.api.messages import Request
from printworks.web.receiving import Scope

_GOOD_REQUEST_ID: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")


def begin_request(scope: Scope) -> Request:
    """Return a request without its body, with the id that its client chose or a new one."""
    # Our server has read them once for all equal requests of a connection.
    headers = scope.get("header_texts") or {
        name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
    }
    request_id = headers.get("x-request-id", "")
    if not _GOOD_REQUEST_ID.fullmatch(request_id):
        # Need not be secret, and the system's random numbers cost a call each.
        request_id = f"{random.getrandbits(96):024x}"
    return Request(
        method=scope["method"],
        path=scope["path"],
        query=scope["query_string"].decode("utf-8", "surrogateescape"),
        headers=headers,
        body=b"",
        request_id=request_id,
    )
