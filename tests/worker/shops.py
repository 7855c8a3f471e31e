"""A shop to test with: a database, files, a clock that a test moves, and a worker for its jobs.

    order = shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()
    assert shop.image(image).status is ImageStatus.OK

Everything is real: files in a folder, pictures rendered by an image processor, downloads from a server on
this machine. Only time passes when the test says so (`pass_time`).
"""

import asyncio
import dataclasses
import hashlib
from collections.abc import Collection, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import msgspec
from sqlalchemy import func, select

from printworks.actions.images.images import add_images
from printworks.actions.orders.moves import move_order
from printworks.actions.orders.orders import create_order
from printworks.actions.submission.submit import submit_order
from printworks.imaging.processor import ImageProcessor
from printworks.net.client import POST_WITHIN, USUAL, FetchLimits
from printworks.rules.jobs import HOURLY, POLICIES, JobKind
from printworks.rules.orders import OrderStatus
from printworks.settings import Settings
from printworks.store.accounts.merchants import Merchant, get_merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import Image, NewImage, get_image
from printworks.store.images.packing_slips import PackingSlip, find_packing_slip
from printworks.store.images.pictures import Picture, find_picture
from printworks.store.orders.events import list_events
from printworks.store.orders.orders import Order, get_order
from printworks.store.queue.jobs import NewJob, enqueue
from printworks.store.tables import pictures
from printworks.store.views.console.jobs import JobFilter, JobRow, list_jobs
from printworks.worker import HANDLERS, NEEDS
from printworks.worker.loop import Context, Worker
from printworks.worker.resources import Resources, open_resources
from tests.clocks import MovableClock
from tests.factories import NO_LIMITS, a_merchant, a_new_order, a_work, a_work_of, some_services
from tests.imaging.pictures import a_noisy_picture, as_jpeg, drawn_apart
from tests.worker.hosts import LoopThread, PictureHost
from tests.worker.queues import LEASE

# 4 x 6 inches, upright; 600 x 900 pixels are recommended.
STICKER: Final = "M-STI-4X6"
# 7 x 5 cm, lying; 420 x 300 pixels are recommended.
MAGNET: Final = "MAG-FRIDGE"

ADDRESS: Final = {"address1": "1 High Street", "town_or_city": "York", "postal_code": "YO1 1AA"}


def a_jpeg(width: int = 600, height: int = 900, *, seed: int = 7) -> bytes:
    """Make a picture; the usual one is just large enough for a sticker."""
    return as_jpeg(a_noisy_picture(width, height, seed=seed))


A_PICTURE: Final = drawn_apart(a_jpeg)
ANOTHER_PICTURE: Final = drawn_apart(lambda: a_jpeg(seed=8))
NOT_A_PICTURE: Final = b"<html>Not here any more, but we are too polite to say 404.</html>"


@dataclass(frozen=True)
class Shop:
    """A merchant, and all that works for it."""

    database: Database
    settings: Settings
    clock: MovableClock
    host: PictureHost
    resources: Resources
    # Alice, whose orders these are.
    merchant: Merchant
    _loop: LoopThread
    _worker: Worker

    def add_order(self, merchant: Merchant | None = None, **values: Any) -> Order:
        """Add an order that lacks nothing but images."""
        new = a_new_order(**{**ADDRESS, **values})
        whose = self._current(merchant)
        with self.database.writing() as db:
            return create_order(a_work(db, whose, now=self._time_of(whose)), new)

    def add_images(self, order: Order, *urls: str, **values: Any) -> list[int]:
        """Add an image for each address, of a sticker unless the test says otherwise."""
        new = [NewImage(**{"sku": STICKER, "url": url, "copies": 1, **values}) for url in urls]
        with self.database.writing() as db:
            whose = get_merchant(db, order.merchant_id)
            current = get_order(db, whose.id, order.id)
            added = add_images(
                a_work(db, whose, now=self._time_of(whose), catalogue=self.resources.catalogue),
                current,
                new,
            )
        return [image.id for image in added]

    def submit(self, order: Order) -> None:
        """Hand the order in."""
        with self.database.writing() as db:
            whose = get_merchant(db, order.merchant_id)
            current = get_order(db, whose.id, order.id)
            now = self._time_of(whose)
            submit_order(a_work(db, whose, now=now, catalogue=self.resources.catalogue), current)

    def move(self, order: Order, status: OrderStatus) -> None:
        """Let the order come to this status."""
        with self.database.writing() as db:
            whose = get_merchant(db, order.merchant_id)
            current = get_order(db, whose.id, order.id)
            move_order(a_work_of(db, current, now=self._time_of(whose)), current, status)

    def drain(self) -> None:
        """Run whatever is due."""
        self._loop.run(self._worker.drain())

    @contextmanager
    def working(self) -> Iterator[None]:
        """Run whatever becomes due while the block goes on."""
        stop = asyncio.Event()
        with ThreadPoolExecutor(1) as pool:
            ended = pool.submit(self._loop.run, self._worker.run(stop))
            try:
                yield
            finally:
                self._loop.call(stop.set)
                ended.result()

    @contextmanager
    def draining(self) -> Iterator[None]:
        """Run whatever is due while the block goes on, and wait for it at the end."""
        with ThreadPoolExecutor(1) as pool:
            drained = pool.submit(self.drain)
            yield
        drained.result()

    def pass_time(self, **by: float) -> None:
        """Let time pass, and run whatever is due afterwards."""
        self.clock.advance(**by)
        self.drain()

    def enqueue_again(self, kind: JobKind, args: Mapping[str, Any]) -> None:
        """Promise a job once more, as if it had not been done."""
        with self.database.writing() as db:
            enqueue(db, NewJob(kind, self.merchant.id, args), now=self.clock())

    def image(self, image_id: int) -> Image:
        """Return an image as it is remembered."""
        with self.database.reading() as db:
            return get_image(db, image_id)

    def order(self, order: Order) -> Order:
        """Return the order as it is by now."""
        with self.database.reading() as db:
            return get_order(db, order.merchant_id, order.id)

    def order_by_id(self, order_id: int) -> Order:
        """Return one of Alice's orders."""
        with self.database.reading() as db:
            return get_order(db, self.merchant.id, order_id)

    def events(self, order: Order) -> list[Any]:
        """Return what happened to an order."""
        with self.database.reading() as db:
            return list_events(db, order.id)

    def slip(self, order: Order) -> PackingSlip | None:
        """Return the packing slip of an order."""
        with self.database.reading() as db:
            return find_packing_slip(db, order.id)

    def picture(self, content: bytes) -> Picture | None:
        """Return what is known about this content."""
        with self.database.reading() as db:
            return find_picture(db, hashlib.sha256(content).hexdigest())

    def count_pictures(self) -> int:
        """Say how many contents are known."""
        with self.database.reading() as db:
            return db.execute(select(func.count()).select_from(pictures)).scalar_one()

    def list_files(self, prefix: str = "") -> list[str]:
        """List the files that are kept, below a prefix such as `originals`."""
        return sorted(self.resources.files.keys(prefix))

    def jobs(self, kind: JobKind) -> list[JobRow]:
        """Return the jobs of a kind, oldest first."""
        with self.database.reading() as db:
            return list(reversed(list_jobs(db, JobFilter(kind=kind), limit=1000)))

    def job(self, kind: JobKind) -> JobRow:
        """Return the only job of a kind."""
        (only,) = self.jobs(kind)
        return only

    def _current(self, merchant: Merchant | None) -> Merchant:
        with self.database.reading() as db:
            return get_merchant(db, (merchant or self.merchant).id)

    def _time_of(self, merchant: Merchant) -> datetime:
        return self.clock() + merchant.clock_offset


@contextmanager
def open_shop(
    database: Database,
    folder: Path,
    processor: ImageProcessor,
    *,
    clock: MovableClock | None = None,
    fetch_limits: FetchLimits = USUAL,
    callback_timeout: timedelta = POST_WITHIN,
    kinds: Collection[JobKind] = tuple(JobKind),
    hourly: Collection[JobKind] = HOURLY,
    **settings: str,
) -> Iterator[Shop]:
    """Open a shop on an empty database, with settings such as `image_limit="1000"`.

    Unless they say otherwise it is a private sandbox, which may use the loopback network. Its
    worker runs jobs of these kinds, and enqueues the hourly ones itself.
    """
    named = {f"PRINTWORKS_{name.upper()}": value for name, value in settings.items()}
    chosen = Settings.load(folder, {**NO_LIMITS, "PRINTWORKS_STOP_TIMEOUT": "10s", **named})
    url = database.url.render_as_string(hide_password=False)
    chosen = msgspec.structs.replace(chosen, database_url=url)
    clock = clock or MovableClock()
    with ThreadPoolExecutor(4) as threads, LoopThread() as loop, PictureHost() as host:
        services = some_services(database, chosen, clock, processor=processor)
        opening = open_resources(services)
        opened = loop.run(opening.__aenter__())
        # Zygotes take long to start: one image processor serves all tests.
        resources = dataclasses.replace(
            opened, fetch_limits=fetch_limits, callback_timeout=callback_timeout
        )
        context = Context(services, threads, resources)
        with database.writing() as db:
            merchant = a_merchant(db)
        try:
            worker = loop.run(_make_worker(context, kinds, hourly))
            yield Shop(database, chosen, clock, host, resources, merchant, loop, worker)
        finally:
            loop.run(opening.__aexit__(None, None, None))
            # Whatever follows the catalogue would read it every second until the last test.
            services.close()


async def _make_worker(
    context: Context, kinds: Collection[JobKind], hourly: Collection[JobKind]
) -> Worker:
    return Worker(
        context,
        handlers={kind: HANDLERS[kind] for kind in kinds},
        policies=POLICIES,
        needs=NEEDS,
        slots=context.settings.worker_slots,
        lease=LEASE,
        stop_timeout=context.settings.stop_timeout,
        hourly=[kind for kind in hourly if kind in kinds],
    )
