"""Downloads what merchants name: images and packing slips, within limits, as often as promised."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from printworks.net.client import Fetched
from printworks.net.errors import BadAddress, OutboundError, TooLarge
from printworks.rules.images import DOWNLOAD_ATTEMPTS, ImageStatus
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.tools import CANNOT_BE_PROCESSED, infrastructure_errors

# Beyond the attempts and this many deaths of workers, the file itself must be the reason.
MOST_DEATHS: Final = 2

log = structlog.get_logger()


class Failure(NamedTuple):
    """Why there is no file, and what that makes of whoever wanted it."""

    status: ImageStatus
    message: str


class Deferred(Exception):
    """The download failed and will be tried again; the text is for the merchant."""


async def fetch(
    context: Context, job: Job, url: str, into: Path, *, headers: Mapping[str, str]
) -> Fetched | Failure:
    """Download into a file; raise `Deferred` while there is hope, and return why once there is none.

    Raise `NotNow` when it could not even be tried.
    """
    tools = context.outside
    limits = tools.patience._replace(size=context.settings.image_limit)
    if job.attempts > DOWNLOAD_ATTEMPTS + MOST_DEATHS:
        return Failure(ImageStatus.INVALID, CANNOT_BE_PROCESSED)
    with infrastructure_errors(), tools.turn(url):
        try:
            with into.open("wb") as file:
                return await tools.outbound.fetch(
                    url, into=file.write, limits=limits, headers=headers
                )
        except TooLarge as error:
            return Failure(ImageStatus.INVALID, error.message)
        except OutboundError as error:
            log.info("download failed", attempts=job.attempts, why=error.detail or error.message)
            is_last = job.attempts >= DOWNLOAD_ATTEMPTS or isinstance(error, BadAddress)
            if is_last:
                return Failure(ImageStatus.FILE_NOT_FOUND_AT_URL, error.message)
            raise Deferred(error.message) from error
