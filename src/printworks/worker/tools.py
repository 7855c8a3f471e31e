"""What handlers work with beyond the database: the network, pictures, files, the catalogue."""

import errno
import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, partial
from pathlib import Path
from typing import Final, TypeVar
from urllib.parse import urlsplit

import structlog

from printworks.catalogue.labs import Lab
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.files import open_files
from printworks.files.errors import FilesUnavailable
from printworks.files.store import Files
from printworks.imaging.processor import PREPARE_LIMITS, CannotBeProcessed, ImageProcessor, Invalid
from printworks.labs import open_connector
from printworks.labs.connector import Connector
from printworks.net.client import POST_WITHIN, USUAL, FetchLimits, Outbound
from printworks.net.guard import Guard
from printworks.payments.gateway import Gateway
from printworks.rules.jobs import RetryLater
from printworks.settings import Settings
from printworks.store.engine.database import OUTAGES, Database
from printworks.worker.receivers import Receivers

# Downloads from one host at the same time, by one worker: no merchant's server is flooded, and
# a slow one does not hold every slot.
MOST_FROM_HOST: Final = 6
# Payments that a worker asks about at the same time.
PAYMENT_THREADS: Final = 4
# How long to leave a host alone that has as many as it may.
BUSY: Final = timedelta(seconds=2)
# How long to wait for an operator to make room, or for a database to come back.
TROUBLE: Final = timedelta(minutes=1)
# A working folder that old belongs to a worker that was killed.
ABANDONED: Final = timedelta(hours=6)

# What drawing one picture may write. With less, a verdict is not to be believed.
ENOUGH_ROOM: Final = PREPARE_LIMITS.file_size

CANNOT_BE_PROCESSED: Final = "The file cannot be processed."

Drawn = TypeVar("Drawn")

log = structlog.get_logger()

_OUR_TROUBLE: Final = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EROFS,
        errno.EIO,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
        errno.EACCES,
        errno.EPERM,
        # The disk is not mounted, or its server has been replaced.
        errno.ENOENT,
        errno.ESTALE,
    }
)


@dataclass(frozen=True)
class Tools:
    """What a handler may use; `open_tools` makes it ready."""

    outbound: Outbound
    processor: ImageProcessor
    files: Files
    catalogue: Catalogue
    # The way to a lab.
    connect: Callable[[Lab], Connector]
    gateway: Gateway
    # Threads for what takes long: drawing, and moving files.
    cpu_pool: ThreadPoolExecutor
    # Threads that wait for payment providers, so that no picture has to.
    payment_pool: ThreadPoolExecutor
    # Where files lie while they are worked on.
    bench: Path
    # How long other people's servers are waited for.
    patience: FetchLimits = USUAL
    # How long a receiver of callbacks is waited for, and which of them have taken long.
    callback_patience: timedelta = POST_WITHIN
    receivers: Receivers = field(default_factory=Receivers)
    _busy: Counter[str] = field(default_factory=Counter)

    @contextmanager
    def turn(self, url: str) -> Iterator[None]:
        """Take a turn at a host; raise `RetryLater` while it has as many as it may."""
        host = urlsplit(url).hostname or ""
        if self._busy[host] >= MOST_FROM_HOST:
            raise RetryLater(f"{MOST_FROM_HOST} downloads from {host} are under way.", wait=BUSY)
        self._busy[host] += 1
        try:
            yield
        finally:
            self._busy[host] -= 1
            if not self._busy[host]:
                del self._busy[host]

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Lend a folder to work in; it is gone afterwards, with all that is in it."""
        with tempfile.TemporaryDirectory(dir=self.bench, ignore_cleanup_errors=True) as name:
            yield Path(name)

    def insist(self, draw: Callable[[], Drawn | Invalid | CannotBeProcessed]) -> Drawn | Invalid:
        """Have a picture drawn; when no verdict comes, try once more and then blame the file.

        Raise `RetryLater` if the fault may be ours. Whether the disk is full is not left to the
        child to say, which a picture may have taken over.
        """
        result = draw()
        if isinstance(result, CannotBeProcessed):
            result = draw()
        if not isinstance(result, CannotBeProcessed):
            return result
        if result.is_ours or self.is_cramped:
            raise RetryLater(f"No picture can be drawn: {result.reason}", wait=TROUBLE)
        log.warning("file cannot be processed", reason=result.reason)
        return Invalid(CANNOT_BE_PROCESSED)

    @property
    def is_cramped(self) -> bool:
        """Whether the disk has less room than drawing a picture may need."""
        return shutil.disk_usage(self.bench).free < ENOUGH_ROOM


@asynccontextmanager
async def open_tools(settings: Settings, database: Database) -> AsyncIterator[Tools]:
    """Make the tools ready for a worker, in the event loop that will use them."""
    bench = settings.data / "tmp"
    bench.mkdir(mode=0o700, exist_ok=True)
    _clear(bench)
    slots = os.cpu_count() or 1
    with (
        ImageProcessor(slots=slots) as processor,
        ThreadPoolExecutor(2 * slots) as cpu_pool,
        ThreadPoolExecutor(PAYMENT_THREADS) as payment_pool,
    ):
        async with Outbound(Guard.of(settings)) as outbound:
            yield Tools(
                outbound=outbound,
                processor=processor,
                files=open_files(settings),
                catalogue=open_catalogue(settings.catalogue),
                connect=cache(partial(open_connector, settings=settings)),
                gateway=Gateway(settings, database),
                cpu_pool=cpu_pool,
                payment_pool=payment_pool,
                bench=bench,
            )


def _clear(bench: Path) -> None:
    """Remove what killed workers left behind."""
    old = time.time() - ABANDONED.total_seconds()
    # Only folders of ours: other temporary things have their place here too.
    for left in bench.glob(f"{tempfile.gettempprefix()}*"):
        # Another worker may be done with it just now.
        with suppress(FileNotFoundError):
            if left.stat().st_mtime < old:
                shutil.rmtree(left, ignore_errors=True)


@contextmanager
def infrastructure_errors() -> Iterator[None]:
    """Let trouble of our own, such as a full disk, cost a job time but none of its attempts."""
    try:
        yield
    except FilesUnavailable as error:
        raise RetryLater(str(error), wait=TROUBLE) from error
    except OUTAGES as error:
        raise RetryLater(f"The database is away: {type(error).__name__}.", wait=TROUBLE) from error
    except OSError as error:
        if error.errno in _OUR_TROUBLE:
            place = f": {error.filename}" if error.filename else ""
            raise RetryLater(f"{error.strerror}{place}.", wait=TROUBLE) from error
        raise
