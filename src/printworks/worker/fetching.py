"""Downloads images and packing slips, within limits and with retries."""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from printworks.actions.images.pictures import CANNOT_BE_PROCESSED
from printworks.errors import OutOfRoom, QuotaReached
from printworks.net.client import Fetched
from printworks.net.errors import BadAddress, OutboundError, TooLarge
from printworks.rules.images import DOWNLOAD_ATTEMPTS, ImageStatus
from printworks.rules.jobs import SLOW_KINDS, RetryLater
from printworks.rules.quotas import check_files
from printworks.store.accounts.merchants import Merchant
from printworks.store.queue.jobs import Job
from printworks.worker.loop import Context
from printworks.worker.resources import OUTAGE_WAIT, infrastructure_errors

# After this many crashes of workers beyond the attempts, the file itself must be the cause.
MOST_CRASHES: Final = 2

_NO_ROOM: Final = (
    "The file has not been downloaded yet, because there is no room for more files at the moment. "
    "It is tried again every minute."
)

log = structlog.get_logger()


class Failure(NamedTuple):
    """Why there is no file, and the status that follows."""

    status: ImageStatus
    message: str
    # Of a file that was received, and is not the one that was wanted.
    md5: str | None = None


class Deferred(Exception):
    """The download failed and will be retried; the text is for the merchant."""


class NoRoom(RetryLater):
    """There is no room for a file; the text is for the merchant, who will be served later."""


def check_room(context: Context, merchant: Merchant | None = None) -> None:
    """Let a download wait while the disk is full, or the quota of a merchant whose file it is."""
    services = context.resources.services
    try:
        services.check_room()
        if merchant is not None:
            check_files(merchant.file_bytes, services.quotas)
    except OutOfRoom as error:
        raise NoRoom(_NO_ROOM, wait=OUTAGE_WAIT) from error
    except QuotaReached as error:
        message = f"The file has not been downloaded yet. {error.message}"
        raise NoRoom(message, wait=OUTAGE_WAIT) from error


async def fetch(
    context: Context, job: Job, url: str, into: Path, *, headers: Mapping[str, str]
) -> Fetched | Failure:
    """Download into a file; return why if it failed for good.

    Raise `Deferred` if it will be retried, and `RetryLater` if it could not be attempted.
    """
    resources = context.resources
    if job.kind in SLOW_KINDS and resources.image_hosts.is_slow(job.merchant_id, url):
        # Others do not wait in line behind it.
        raise RetryLater("The host was slow lately.", wait=timedelta(0), kind=SLOW_KINDS[job.kind])
    limits = resources.fetch_limits._replace(size=context.settings.image_limit)
    if job.attempts > DOWNLOAD_ATTEMPTS + MOST_CRASHES:
        return Failure(ImageStatus.INVALID, CANNOT_BE_PROCESSED)
    with (
        infrastructure_errors(),
        resources.image_hosts.slot(job.merchant_id, url) as exchange,
        context.waiting.of(job),
    ):
        try:
            with into.open("wb") as file:
                return await resources.outbound.fetch(
                    url, into=exchange.count(file.write), limits=limits, headers=headers
                )
        except TooLarge as error:
            return Failure(ImageStatus.INVALID, error.message)
        except OutboundError as error:
            log.info("download failed", attempts=job.attempts, why=error.detail or error.message)
            if job.attempts >= DOWNLOAD_ATTEMPTS or isinstance(error, BadAddress):
                return Failure(ImageStatus.FILE_NOT_FOUND_AT_URL, error.message)
            raise Deferred(error.message) from error
