"""Downloads images and packing slips, within limits and with retries."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from printworks.actions.images.pictures import CANNOT_BE_PROCESSED
from printworks.net.client import Fetched
from printworks.net.errors import BadAddress, OutboundError, TooLarge
from printworks.rules.images import DOWNLOAD_ATTEMPTS, ImageStatus
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.resources import infrastructure_errors

# After this many crashes of workers beyond the attempts, the file itself must be the cause.
MOST_CRASHES: Final = 2

log = structlog.get_logger()


class Failure(NamedTuple):
    """Why there is no file, and the status that follows."""

    status: ImageStatus
    message: str


class Deferred(Exception):
    """The download failed and will be retried; the text is for the merchant."""


async def fetch(
    context: Context, job: Job, url: str, into: Path, *, headers: Mapping[str, str]
) -> Fetched | Failure:
    """Download into a file; return why if it failed for good.

    Raise `Deferred` if it will be retried, and `RetryLater` if it could not be attempted.
    """
    resources = context.resources
    limits = resources.fetch_limits._replace(size=context.settings.image_limit)
    if job.attempts > DOWNLOAD_ATTEMPTS + MOST_CRASHES:
        return Failure(ImageStatus.INVALID, CANNOT_BE_PROCESSED)
    with infrastructure_errors(), resources.host_slot(url):
        try:
            with into.open("wb") as file:
                return await resources.outbound.fetch(
                    url, into=file.write, limits=limits, headers=headers
                )
        except TooLarge as error:
            return Failure(ImageStatus.INVALID, error.message)
        except OutboundError as error:
            log.info("download failed", attempts=job.attempts, why=error.detail or error.message)
            if job.attempts >= DOWNLOAD_ATTEMPTS or isinstance(error, BadAddress):
                return Failure(ImageStatus.FILE_NOT_FOUND_AT_URL, error.message)
            raise Deferred(error.message) from error
