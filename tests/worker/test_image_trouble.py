"""What goes wrong on our side costs an image time, and none of its attempts."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import func, select, text, update

from printworks.actions.images.pictures import CANNOT_BE_PROCESSED
from printworks.clock import system_clock
from printworks.files.scratch import ABANDONED
from printworks.imaging.processor import ImageProcessor
from printworks.rules.events import ImageJudged
from printworks.rules.images import DOWNLOAD_ATTEMPTS, ImageStatus
from printworks.rules.jobs import HOURLY, JobKind
from printworks.rules.reasons import write_reasons
from printworks.store.engine.database import Database
from printworks.store.orders.orders import get_order_to_change
from printworks.store.tables import jobs
from printworks.worker.fetching import MOST_CRASHES
from printworks.worker.resources import OUTAGE_WAIT
from tests.programs import start
from tests.worker import deadly
from tests.worker.conftest import OpenShop
from tests.worker.deadly import CRASHES, CRASHES_IN_PRINT, HANGS_ONCE, MARK
from tests.worker.hosts import SECONDS_TO_WAIT, answers, holds, wait_until
from tests.worker.queues import LEASE, return_ended
from tests.worker.shops import A_PICTURE, Shop, open_shop

pytestmark = pytest.mark.slow

_S = ImageStatus
ROOT: Final = Path(__file__).parents[2]
DEADLY: Final = (str(Path(deadly.__file__)),)


def assert_waiting(shop: Shop, image: int, *, reason: str) -> None:
    """Check that an image waits a minute, and that this was none of its attempts."""
    job = shop.job(JobKind.FETCH_IMAGE)
    waiting = shop.image(image)
    assert (waiting.status, waiting.error_message) == (_S.NOT_YET_DOWNLOADED, None)
    assert (job.state, job.attempts, job.due_at) == ("scheduled", 0, shop.clock() + OUTAGE_WAIT)
    assert reason in job.last_error


def assert_fine_after_a_minute(shop: Shop, image: int) -> None:
    """Check that all is well once the trouble is over."""
    shop.pass_time(minutes=1)
    assert shop.image(image).status is _S.OK
    assert shop.job(JobKind.FETCH_IMAGE).attempts == 1


class TestFiles:
    def test_a_store_that_is_away_costs_a_minute(self, shop: Shop) -> None:
        [image] = shop.add_images(shop.add_order(), shop.host.at("/cat.jpg", holds(A_PICTURE)))

        with gone(Path(shop.settings.files)):
            shop.drain()

        assert_waiting(shop, image, reason="cannot be used")
        assert_fine_after_a_minute(shop, image)

    def test_a_bench_that_is_away_costs_a_minute(self, shop: Shop) -> None:
        [image] = shop.add_images(shop.add_order(), shop.host.at("/cat.jpg", holds(A_PICTURE)))

        with gone(shop.resources.scratch):
            shop.drain()

        assert_waiting(shop, image, reason="No such file or directory")
        assert_fine_after_a_minute(shop, image)

    def test_a_store_that_is_away_costs_a_print_a_minute(self, shop: Shop) -> None:
        order = shop.add_order()
        [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.drain()
        shop.submit(order)

        with gone(Path(shop.settings.files)):
            shop.drain()

        job = shop.job(JobKind.RENDER_IMAGE)
        assert (job.state, job.attempts, job.due_at) == ("scheduled", 0, shop.clock() + OUTAGE_WAIT)
        shop.pass_time(minutes=1)
        assert shop.image(image).manifest is not None

    @pytest.mark.parametrize(
        ("disk", "leave", "reason"),
        [
            pytest.param("tmp", 0, "No space left on device.", id="no room to download"),
            pytest.param(
                "tmp", len(A_PICTURE) + 16384, "No picture can be rendered", id="none to draw"
            ),
            pytest.param("files", 0, "is full; make room.", id="none to keep it"),
        ],
    )
    def test_a_full_disk_costs_a_minute(
        self, tmp_path: Path, disk: str, leave: int, reason: str
    ) -> None:
        enter = ["unshare", "--user", "--map-root-user", "--mount"]
        if shutil.which("unshare") is None or subprocess.run([*enter, "true"]).returncode:
            pytest.skip("A small disk cannot be mounted here.")

        ended = subprocess.run(
            [*enter, sys.executable, "-m", "tests.worker.cramped", tmp_path, disk, str(leave)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=SECONDS_TO_WAIT,
        )

        assert ended.returncode == 0, ended.stderr
        said = json.loads(ended.stdout)
        why = said["full"].pop("why")
        assert said["full"] == {
            "image": "NotYetDownloaded",
            "message": None,
            "job": "scheduled",
            "attempts": 0,
            "wait": 60,
            "asked": 1,
        }
        assert reason in why
        assert (said["roomy"]["image"], said["roomy"]["job"]) == ("Ok", "done")
        assert said["roomy"]["attempts"] == 1


class TestTheDatabase:
    def test_a_table_that_cannot_be_read_costs_a_minute(
        self, sqlite_database: Database, tmp_path: Path, processor: ImageProcessor
    ) -> None:
        with open_shop(sqlite_database, tmp_path, processor) as shop:
            gate = shop.host.gate()
            url = shop.host.at("/cat.jpg", gate.before(holds(A_PICTURE)))
            [image] = shop.add_images(shop.add_order(), url)

            with shop.draining():
                gate.wait()
                rename(shop.database, "pictures", "gone")
                gate.open()
            rename(shop.database, "gone", "pictures")

            assert_waiting(shop, image, reason="The database is unavailable")
            assert_fine_after_a_minute(shop, image)

    def test_a_connection_that_is_lost_in_the_middle_costs_a_minute(
        self, postgresql_database: Database, tmp_path: Path, processor: ImageProcessor
    ) -> None:
        with open_shop(postgresql_database, tmp_path, processor) as shop:
            order = shop.add_order()
            [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))

            with shop.draining(), shop.database.writing() as db:
                get_order_to_change(db, order.merchant_id, order.id)
                wait_until(lambda: end_whoever_waits(shop.database))

            assert_waiting(shop, image, reason="The database is unavailable")
            assert_fine_after_a_minute(shop, image)


class TestDecoders:
    def test_one_that_is_killed_is_asked_again(self, a_shop: OpenShop) -> None:
        with ImageProcessor(slots=1, zygote=DEADLY) as processor:
            shop = a_shop(processor=processor)
            url = shop.host.at("/cat.jpg", holds(A_PICTURE + HANGS_ONCE))
            [image] = shop.add_images(shop.add_order(), url)

            with shop.draining():
                wait_until(lambda: list(shop.resources.scratch.glob(f"*/{MARK}")))
                os.kill(find_decoder(), signal.SIGKILL)

        assert shop.image(image).status is _S.OK
        assert shop.job(JobKind.FETCH_IMAGE).attempts == 1

    def test_a_file_that_kills_each_is_invalid_and_the_others_go_on(self, a_shop: OpenShop) -> None:
        with ImageProcessor(slots=1, zygote=DEADLY) as processor:
            shop = a_shop(processor=processor)
            murderous, fine = shop.add_images(
                shop.add_order(),
                shop.host.at("/deadly.jpg", holds(A_PICTURE + CRASHES)),
                shop.host.at("/cat.jpg", holds(A_PICTURE)),
            )

            shop.drain()

        refused = shop.image(murderous)
        assert (refused.status, refused.error_message) == (_S.INVALID, CANNOT_BE_PROCESSED)
        assert shop.image(fine).status is _S.OK

    def test_a_file_that_kills_only_those_who_print_it_is_invalid_in_the_end(
        self, a_shop: OpenShop
    ) -> None:
        with ImageProcessor(slots=1, zygote=DEADLY) as processor:
            shop = a_shop(processor=processor)
            order = shop.add_order()
            url = shop.host.at("/cat.jpg", holds(A_PICTURE + CRASHES_IN_PRINT))
            [image] = shop.add_images(order, url)
            shop.drain()
            assert shop.image(image).status is _S.OK

            shop.submit(order)
            shop.drain()

        refused = shop.image(image)
        assert (refused.status, refused.error_message) == (_S.INVALID, CANNOT_BE_PROCESSED)
        assert write_reasons(shop.order(order).reasons) == (
            f"Image {image} cannot be printed. {CANNOT_BE_PROCESSED}"
        )
        assert shop.list_files("prints") == []


def count_sweeps(shop: Shop) -> int:
    """Return how many sweeps have not ended yet."""
    unfinished = select(func.count()).where(jobs.c.kind.in_(HOURLY), jobs.c.finished_at.is_(None))
    with shop.database.reading() as db:
        return int(db.execute(unfinished).scalar_one())


class TestWorkers:
    def test_one_that_is_killed_during_a_download_loses_nothing(self, shop: Shop) -> None:
        shop.clock.now = system_clock()
        gate = shop.host.gate()
        url = shop.host.at("/cat.jpg", gate.before(answers("500 Oops")), holds(A_PICTURE))
        order = shop.add_order()
        [image] = shop.add_images(order, url)

        with doomed_worker(shop):
            gate.wait()

        assert_fine_after_the_lease(shop, image)

    def test_one_that_is_killed_before_it_could_write_it_down_loses_nothing(
        self, shop: Shop
    ) -> None:
        shop.clock.now = system_clock()
        gate = shop.host.gate()
        order = shop.add_order()
        [image] = shop.add_images(order, shop.host.at("/cat.jpg", gate.before(holds(A_PICTURE))))

        with doomed_worker(shop) as kill:
            gate.wait()
            # They need the writer of SQLite, too, and would wait in the threads of the download.
            wait_until(lambda: not count_sweeps(shop))
            with shop.database.writing() as db:
                get_order_to_change(db, order.merchant_id, order.id)
                gate.open()
                # The last files that are kept; next comes the transaction.
                wait_until(lambda: len(shop.list_files("proofs")) == 2)
                assert shop.image(image).status is _S.NOT_YET_DOWNLOADED
                # Before the lock is free, which it waits for.
                kill()

        assert_fine_after_the_lease(shop, image)
        assert [event for event in shop.events(order) if isinstance(event, ImageJudged)] == [
            ImageJudged(image, _S.OK)
        ]
        assert len(shop.list_files("originals")) == 1

    def test_what_a_killed_one_left_on_the_bench_goes_hours_later(
        self, a_shop: OpenShop, tmp_path: Path
    ) -> None:
        scratch = tmp_path / "tmp"
        long_ago = (system_clock() - ABANDONED - timedelta(minutes=1)).timestamp()
        for name in ("tmp-old", "tmp-young", "backup-old", "backup-young", "files"):
            (scratch / name).mkdir(parents=True)
        (scratch / "backup-old" / "orders.jsonl.gz").touch()
        (scratch / "tmp-file").touch()
        for name in ("tmp-old", "tmp-file", "backup-old", "files"):
            os.utime(scratch / name, (long_ago, long_ago))

        a_shop()

        kept = ["backup-young", "files", "tmp-young"]
        assert sorted(path.name for path in scratch.iterdir()) == kept

    def test_a_file_that_killed_worker_after_worker_is_invalid(self, shop: Shop) -> None:
        [image] = shop.add_images(shop.add_order(), shop.host.at("/cat.jpg", holds(A_PICTURE)))
        with shop.database.writing() as db:
            db.execute(update(jobs).values(attempts=DOWNLOAD_ATTEMPTS + MOST_CRASHES))

        shop.drain()

        refused = shop.image(image)
        assert (refused.status, refused.error_message) == (_S.INVALID, CANNOT_BE_PROCESSED)
        assert shop.host.asked == []


@contextmanager
def gone(folder: Path) -> Iterator[None]:
    """Take a folder away, as if its disk were not mounted."""
    away = folder.with_name("away")
    folder.rename(away)
    try:
        yield
    finally:
        if folder.exists():
            shutil.rmtree(folder)
        away.rename(folder)


@contextmanager
def doomed_worker(shop: Shop) -> Iterator[Callable[[], None]]:
    """Run a worker process, and kill it at the end of the block, or when the block says so."""
    environment = {
        "PATH": os.environ["PATH"],
        "PRINTWORKS_DATABASE_URL": shop.settings.database_url,
    }
    with Path(os.devnull).open("wb") as nowhere:
        process = start("work", "--data", shop.settings.data, env=environment, output=nowhere)

    def kill() -> None:
        process.kill()
        process.wait()

    try:
        yield kill
    finally:
        kill()


def assert_fine_after_the_lease(shop: Shop, image: int) -> None:
    """Check that another worker finishes what the dead one had begun."""
    assert shop.image(image).status is _S.NOT_YET_DOWNLOADED
    shop.clock.now = system_clock() + LEASE + timedelta(seconds=1)
    return_ended(shop.database, now=shop.clock())
    shop.drain()
    assert shop.image(image).status is _S.OK
    assert shop.job(JobKind.FETCH_IMAGE).attempts == 2


def rename(database: Database, table: str, name: str) -> None:
    """Take a table away, or bring it back."""
    with database.writing() as db:
        db.execute(text(f"ALTER TABLE {table} RENAME TO {name}"))


def end_whoever_waits(database: Database) -> bool:
    """End the connection that waits for a lock, if there is one."""
    waiting = text(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    with database.reading() as db:
        return bool(db.execute(waiting).all())


def find_decoder() -> int:
    """Return the process that decodes a picture for this one: a child of its child."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # A process may end between the listing and the reading.
        with suppress(OSError):
            stat: Any = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)] = int(stat[1])
    [found] = [
        process
        for process, parent in parents.items()
        if parents.get(parent) == os.getpid() and DEADLY[0] in read_command(process)
    ]
    return found


def read_command(process: int) -> list[str]:
    """Return the command line of a process."""
    return Path(f"/proc/{process}/cmdline").read_text().split("\0")
