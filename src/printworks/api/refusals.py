"""Refusals and failures, in the format of each version."""

from collections.abc import Mapping
from typing import Final

import structlog

from printworks.api.endpoints import ApiFamily, Endpoint
from printworks.api.messages import Request, Response
from printworks.api.responses import render
from printworks.api.routing import MatchedRequest
from printworks.errors import (
    BadCredentials,
    OutOfRoom,
    ServiceError,
    ServiceUnavailable,
    TooManyUploads,
)
from printworks.files.errors import FilesUnavailable
from printworks.store.engine.outages import is_outage

log = structlog.get_logger(__name__)

_RETRY_AFTER: Final = ("Retry-After", "5")
_CHALLENGE: Final = ("WWW-Authenticate", 'ApiKey realm="Printworks"')

_HEADERS: Final[Mapping[type[ServiceError], tuple[tuple[str, str], ...]]] = {
    BadCredentials: (_CHALLENGE,),
    ServiceUnavailable: (_RETRY_AFTER,),
    TooManyUploads: (_RETRY_AFTER,),
    OutOfRoom: (("Retry-After", "60"),),
}


def refuse(
    family: ApiFamily,
    endpoint: Endpoint | None,
    request: Request,
    status: int,
    message: str,
    *headers: tuple[str, str],
) -> Response:
    """Write a refusal in the format of a version."""
    request.caller.refusal = message
    shape = family.refuse(endpoint, status, message)
    return render(status, shape, request.headers.get("accept", ""), headers)


def answer_error(matched: MatchedRequest, error: Exception) -> Response:
    """Answer a request that was refused or failed."""
    family, endpoint, _, request = matched
    if isinstance(error, BadCredentials):
        # The key may have been revoked after it was cached.
        request.caller.identity = None
    if isinstance(error, ServiceError):
        status = endpoint.status_of(error)
        headers = _HEADERS.get(type(error), ())
        return refuse(family, endpoint, request, status, error.message, *headers)
    if is_outage(error) or isinstance(error, FilesUnavailable):
        # No traceback: every request would write one while the database is unavailable.
        log.error("storage unavailable", request_id=request.request_id, error=type(error).__name__)
        message = "The service is temporarily unavailable; try again in a few seconds."
        return refuse(family, endpoint, request, 503, message, _RETRY_AFTER)
    log.error("request failed", request_id=request.request_id, path=endpoint.path, exc_info=error)
    message = f"Something went wrong here. Quote the request ID {request.request_id}."
    return refuse(family, endpoint, request, 500, message)
