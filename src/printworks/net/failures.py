"""Translates connection failures into our own errors, and logs the details."""

import re
from ssl import SSLError
from typing import Final

import structlog
from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientPayloadError,
    ClientResponseError,
    ClientSSLError,
    InvalidURL,
)
from yarl import URL

from printworks.net.errors import (
    AddressRefused,
    BadAddress,
    BadAnswer,
    BadCertificate,
    OutboundError,
    TimedOut,
    Unreachable,
)
from printworks.net.guard import Forbidden

CUT_SHORT: Final = "The answer of the address broke off or cannot be read."


class Progress:
    """The progress of a request, which decides what a failure means."""

    def __init__(self) -> None:
        self.host = ""
        self.is_connected = False
        self.is_reused = False
        self.is_answered = False

    def begin(self, url: URL) -> None:
        """Start again with this address."""
        self.host = url.raw_host or ""
        self.is_connected = False
        self.is_reused = False
        self.is_answered = False


class translate_failures:  # noqa: N801  (used as a function)
    """A block that raises an `OutboundError` for every connection failure, and logs its detail.

    Infrastructure errors, such as a full disk, are passed on.
    """

    __slots__ = ("_progress",)

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, OutboundError):
            _log(error, self._progress)
        elif isinstance(error, ClientError | TimeoutError | ConnectionError | SSLError):
            found = _translate(error, self._progress)
            _log(found, self._progress)
            raise found from error


def _log(error: OutboundError, progress: Progress) -> None:
    structlog.get_logger().info(
        "outbound request failed",
        host=progress.host,
        error=type(error).__name__,
        detail=error.detail or error.message,
    )


def _translate(error: Exception, progress: Progress) -> OutboundError:
    detail = _describe(error)
    if isinstance(error, ClientSSLError):
        return BadCertificate(detail)
    if isinstance(error, TimeoutError):
        return TimedOut(detail) if progress.is_connected else Unreachable(detail)
    if isinstance(error, ClientConnectorError):
        is_forbidden = isinstance(error.os_error, Forbidden)
        return AddressRefused(str(error.os_error)) if is_forbidden else Unreachable(detail)
    if isinstance(error, InvalidURL):
        return BadAddress("The address cannot be read.")
    if progress.is_answered or isinstance(error, ClientPayloadError | ClientResponseError):
        return BadAnswer(CUT_SHORT, detail=detail)
    return Unreachable(detail)


def _describe(error: Exception) -> str:
    """Describe the error without secrets: the full address, or parts of the response."""
    text = error.message if isinstance(error, ClientResponseError) else str(error)
    first = text.partition("\n")[0]
    return f"{type(error).__name__}: {re.sub(r'https?://[^ ]+', '...', first)[:200]}"
