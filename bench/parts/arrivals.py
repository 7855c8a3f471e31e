"""Pictures through the whole service, against two processes that only call libvips."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path

from sqlalchemy import func, select

from bench.clients import ask
from bench.lines import Line, compare
from bench.parts.pictures import PHONE
from bench.seeds import SeededDatabase
from bench.servers import HOST, Plan, stop
from bench.session import Session
from bench.tools import ROOT
from bench.workload import IMAGE_BODY
from bench.wrk import NoAnswers
from printworks.rules.images import ImageStatus
from printworks.store.tables import images

SECONDS_TO_ARRIVE = 120
SECONDS_BETWEEN_POLLS = 0.02


def measure(session: Session) -> list[Line]:
    """Add pictures of 12 MP by address, and wait until all of them are Ok."""
    photo = write_photo(session.work, PHONE.pixels)
    seeded = session.seed("ours")
    orders = iter(seeded.add_orders(session.sizes.rounds + 1))
    ours = session.plan("ours", seeded, "serve")
    numbers = count()
    with ExitStack() as ends:
        ends.callback(seeded.close)
        address = ends.enter_context(offering(photo))
        pair = [ends.enter_context(_libvips()) for _ in range(2)]
        ends.enter_context(session.serving(ours=ours))

        def arrive() -> float:
            urls = [f"{address}/{next(numbers)}.jpg" for _ in range(session.sizes.pictures)]
            return _time_arrival(ours, seeded, next(orders), urls)

        def only_render() -> float:
            return _time_libvips(pair, photo, session.work, session.sizes.pictures)

        found = session.interleave("arrivals", {"ours": arrive, "bare": only_render})
    name = "pictures through the whole service / two bare libvips"
    return [compare(name, found["ours"], found["bare"])]


def _time_arrival(plan: Plan, seeded: SeededDatabase, order_id: int, urls: Sequence[str]) -> float:
    """Return how many pictures a second are fetched, judged, stored and Ok."""
    batch = [{**IMAGE_BODY, "url": url} for url in urls]
    started = time.perf_counter()
    answer = ask(plan, "POST", f"/v3.0/orders/{order_id}/images/batch", batch)
    if answer.status != 200:
        raise NoAnswers(answer.body.decode())
    found: dict[str, int] = {}
    while found.get(ImageStatus.OK, 0) < len(urls):
        time.sleep(SECONDS_BETWEEN_POLLS)
        with seeded.database.reading() as db:
            counted = select(images.c.status, func.count()).where(images.c.order_id == order_id)
            rows = db.execute(counted.group_by(images.c.status)).tuples()
            found = dict(rows.all())
        late = time.perf_counter() - started > SECONDS_TO_ARRIVE
        if late or not found.keys() <= {ImageStatus.OK, ImageStatus.NOT_YET_DOWNLOADED}:
            message = f"Not all pictures arrived: {found}"
            raise NoAnswers(message)
    return len(urls) / (time.perf_counter() - started)


def _time_libvips(
    pair: Sequence[subprocess.Popen[str]], photo: Path, folder: Path, wanted: int
) -> float:
    """Return how many pictures a second two processes render side by side."""
    started = time.perf_counter()
    for number, process in enumerate(pair):
        out = folder / f"bare {number}"
        out.mkdir(exist_ok=True)
        assert process.stdin is not None
        process.stdin.write(f"{photo}\t{out}\n" * (wanted // len(pair)))
        process.stdin.flush()
    for process in pair:
        assert process.stdout is not None
        for _ in range(wanted // len(pair)):
            if not process.stdout.readline():
                raise NoAnswers("libvips has failed.")
    return wanted / (time.perf_counter() - started)


def write_photo(folder: Path, pixels: tuple[int, int]) -> Path:
    """Write a photo of this size, and return its file."""
    photo = folder / "photo.jpg"
    size = [str(side) for side in pixels]
    subprocess.run([sys.executable, "-m", "bench.photos", photo, *size], cwd=ROOT, check=True)
    return photo


@contextmanager
def offering(photo: Path) -> Iterator[str]:
    """Serve a picture at every path of an address."""
    command = [sys.executable, "-m", "bench.picture_server", str(photo)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, start_new_session=True)
    try:
        assert process.stdout is not None
        with process.stdout as said:
            yield f"http://{HOST}:{int(said.readline())}"
    finally:
        stop(process)


@contextmanager
def _libvips() -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.bare_vips"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        # One thread each, as in our child processes.
        env={**os.environ, "VIPS_CONCURRENCY": "1"},
    )
    with process:
        yield process
