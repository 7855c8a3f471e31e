"""A watchdog outside hears that all is well, while it is, and from one worker alone."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import msgspec
import pytest
from structlog.typing import EventDict

from printworks.files.errors import FileMissing, FilesUnavailable
from printworks.store.queue.heartbeats import write_heartbeat
from printworks.worker.context import Context
from printworks.worker.watchdog import Watchdog
from tests.factories import a_heartbeat, some_services
from tests.worker.receivers import Receiver, resets, says
from tests.worker.shops import Shop


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """The watchdog."""
    with Receiver() as receiver:
        yield receiver


class Store:
    """Files that may be away."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def read(self, _key: str) -> bytes:
        """Read nothing."""
        raise self._error


def tell(shop: Shop, url: str, error: Exception | None = None) -> bool:
    """Let the worker `first` tell the watchdog, if it has to."""
    settings = msgspec.structs.replace(shop.settings, watchdog_url=url)
    files = Store(error or FileMissing("ready/probe.txt"))
    services = some_services(shop.database, settings, shop.clock, files=files)

    async def play() -> bool:
        with ThreadPoolExecutor(1) as threads:
            return await Watchdog(Context(services, threads, shop.resources), "first").tell()

    return shop._loop.run(play())


def beat(shop: Shop, worker: str, *, ago: timedelta = timedelta(0), first: bool) -> None:
    """Let a worker be heard of."""
    started = shop.clock.now - timedelta(hours=2 if first else 1)
    with shop.database.writing() as db:
        found = a_heartbeat(worker, shop.clock.now - ago)
        write_heartbeat(db, msgspec.structs.replace(found, started_at=started))


def test_the_worker_that_has_lived_longest_tells_the_watchdog(
    shop: Shop, receiver: Receiver
) -> None:
    url = receiver.at("/ping/secret")
    beat(shop, "killed", ago=timedelta(minutes=5), first=True)
    beat(shop, "first", first=True)
    beat(shop, "second", first=False)

    assert tell(shop, url)
    (heard,) = receiver.heard
    assert (heard.path, heard.body) == ("/ping/secret", b"")


def test_another_worker_does_not_repeat_it(shop: Shop, receiver: Receiver) -> None:
    beat(shop, "elder", first=True)
    beat(shop, "first", first=False)

    assert not tell(shop, receiver.at("/ping"))
    assert receiver.heard == []


def test_while_something_is_not_ready_the_watchdog_hears_nothing(
    shop: Shop, receiver: Receiver, logged: list[EventDict]
) -> None:
    assert not tell(shop, receiver.at("/ping"), FilesUnavailable("away"))

    assert receiver.heard == []
    assert ("watchdog not told", ("files",)) in [
        (line["event"], line.get("failed")) for line in logged
    ]


def test_a_watchdog_that_is_away_or_refuses_is_logged_without_its_address(
    shop: Shop, receiver: Receiver, logged: list[EventDict]
) -> None:
    assert not tell(shop, receiver.at("/secret", resets))
    assert not tell(shop, receiver.at("/secret", says(404)))

    assert {line["event"] for line in logged} >= {"watchdog not reached", "watchdog refused"}
    assert "/secret" not in str(logged)
