"""What handlers use beyond the database: network, files, image processor and thread pools."""

import errno
import tempfile
from collections.abc import AsyncIterator, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Final, TypeVar

from printworks.actions.images.pictures import RenderingUnavailable, render_reliably
from printworks.actions.services import Services
from printworks.catalogue.labs import Lab
from printworks.catalogue.products import Product
from printworks.catalogue.snapshot import Catalogue
from printworks.files.errors import FilesUnavailable
from printworks.files.scratch import clear_scratch
from printworks.files.store import Files
from printworks.imaging.processor import CannotBeProcessed, ImageProcessor, Invalid
from printworks.labs import open_connector
from printworks.labs.connector import LabConnector
from printworks.net.client import POST_WITHIN, USUAL, FetchLimits, Outbound
from printworks.net.guard import Guard
from printworks.payments.gateway import Gateway
from printworks.rules import hosts as host_limits
from printworks.rules.jobs import RetryLater
from printworks.rules.pools import POOL_SIZES, Pool
from printworks.store.engine.database import find_outages
from printworks.vault import OpenedSecrets, SecretUnreadable
from printworks.worker.hosts import Hosts

# Payments that a worker checks at the same time.
PAYMENT_THREADS: Final = 4
# Jobs of labs that a worker copies at the same time.
LAB_THREADS: Final = 4
# Mails that a worker sends at the same time.
MAIL_THREADS: Final = 4
# The pools whose jobs hold a connection each.
_NETWORK_POOLS: Final = (
    *(Pool.DOWNLOADS, Pool.SLOW_DOWNLOADS),
    *(Pool.CALLBACKS, Pool.LATE_CALLBACKS),
)
# How long to wait after an infrastructure error, such as a full disk.
OUTAGE_WAIT: Final = timedelta(minutes=1)

Rendered = TypeVar("Rendered")

_INFRASTRUCTURE_ERRORS: Final = frozenset(
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
class Resources:
    """The resources of a worker, made by `open_resources`."""

    services: Services
    outbound: Outbound
    # Opens the connector of a lab.
    connect: Callable[[Lab], LabConnector]
    # Threads for rendering and for copying files.
    cpu_pool: ThreadPoolExecutor
    # Threads that wait for labs, whose folders may be on a server that hangs.
    lab_pool: ThreadPoolExecutor
    # Threads that wait for payment providers, so that rendering does not.
    payment_pool: ThreadPoolExecutor
    # Threads that wait for the mail server.
    mail_pool: ThreadPoolExecutor
    # The folder for temporary files.
    scratch: Path
    # Limits of downloads.
    fetch_limits: FetchLimits = USUAL
    # How long to wait for receivers of callbacks.
    callback_timeout: timedelta = POST_WITHIN
    # What the hosts of merchants have to do for us, and which of them are slow.
    image_hosts: Hosts = field(default_factory=lambda: Hosts(host_limits.DOWNLOADS))
    receivers: Hosts = field(default_factory=lambda: Hosts(host_limits.CALLBACKS))

    @cached_property
    def opened_secrets(self) -> OpenedSecrets:
        """The signing secrets of merchants, each decrypted once and not for every callback."""
        return OpenedSecrets(self.services.vault)

    @property
    def processor(self) -> ImageProcessor:
        """Reads and renders pictures, in child processes."""
        return self.services.processor

    @property
    def files(self) -> Files:
        return self.services.files

    @property
    def catalogue(self) -> Catalogue:
        return self.services.catalogue

    def find_product(self, sku: str) -> Product | None:
        """Return a product; None if nobody sells it any more.

        Whoever took the order may know a catalogue that was published a second ago.
        """
        known = self.catalogue.find_product(sku)
        return known or self.services.catalogue_watch.look().find_product(sku)

    @property
    def gateway(self) -> Gateway:
        return self.services.gateway

    @contextmanager
    def folder(self) -> Iterator[Path]:
        """Make a temporary folder, which is deleted afterwards."""
        with tempfile.TemporaryDirectory(dir=self.scratch, ignore_cleanup_errors=True) as name:
            yield Path(name)

    def render(
        self, render: Callable[[], Rendered | Invalid | CannotBeProcessed]
    ) -> Rendered | Invalid:
        """Render a picture; raise `RetryLater` if that is impossible now."""
        try:
            return render_reliably(render, self.scratch)
        except RenderingUnavailable as error:
            raise RetryLater(str(error), wait=OUTAGE_WAIT) from error


@asynccontextmanager
async def open_resources(services: Services) -> AsyncIterator[Resources]:
    """Open the resources of a worker, in the event loop that will use them."""
    settings = services.settings
    # What cannot be opened is reported at the start, and not by the first job that needs it.
    _ = services.files
    services.follow_catalogue()
    scratch = settings.data / "tmp"
    scratch.mkdir(mode=0o700, exist_ok=True)
    clear_scratch(scratch)
    with (
        ThreadPoolExecutor(2 * services.processor_slots) as cpu_pool,
        ThreadPoolExecutor(LAB_THREADS) as lab_pool,
        ThreadPoolExecutor(PAYMENT_THREADS) as payment_pool,
        ThreadPoolExecutor(MAIL_THREADS) as mail_pool,
    ):
        connections = _count_connections(settings.worker_slots)
        async with Outbound(Guard.of(settings), connections=connections) as outbound:
            yield Resources(
                services=services,
                outbound=outbound,
                connect=cache(partial(open_connector, settings=settings)),
                cpu_pool=cpu_pool,
                lab_pool=lab_pool,
                payment_pool=payment_pool,
                mail_pool=mail_pool,
                scratch=scratch,
            )


def _count_connections(slots: int) -> int:
    """Return how many there may be: one for each job that can wait, so that none waits for it."""
    sizes = [POOL_SIZES[pool] for pool in _NETWORK_POOLS]
    return sum(size.count_slots(slots) + size.count_aside(slots) for size in sizes)


class infrastructure_errors:  # noqa: N801  (used as a function)
    """A block that turns infrastructure errors, such as a full disk, into retries.

    They cost no attempt.
    """

    __slots__ = ()

    def __enter__(self) -> None:
        pass

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is None:
            return
        reason = _name_reason(error)
        if reason is not None:
            raise RetryLater(reason, wait=OUTAGE_WAIT) from error


def _name_reason(error: BaseException) -> str | None:
    """Return what is out of order; None if it is something else."""
    if isinstance(error, FilesUnavailable):
        return str(error)
    if isinstance(error, SecretUnreadable):
        return error.detail
    if isinstance(error, find_outages()):
        return f"The database is unavailable: {type(error).__name__}."
    if isinstance(error, OSError) and error.errno in _INFRASTRUCTURE_ERRORS:
        place = f": {error.filename}" if error.filename else ""
        return f"{error.strerror}{place}."
    return None
