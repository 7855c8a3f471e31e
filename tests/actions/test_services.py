"""What a process shares is opened once, by whoever needs it first."""

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from printworks.catalogue.snapshot import Catalogue
from printworks.errors import OutOfRoom
from printworks.settings import Settings
from printworks.store.engine.database import Database
from tests.factories import some_services

THREADS = 8


def test_threads_that_need_something_at_once_share_it(sqlite_database: Database) -> None:
    services, start = some_services(sqlite_database), threading.Barrier(THREADS)

    def need_it() -> Catalogue:
        start.wait()
        return services.catalogue

    with ThreadPoolExecutor(THREADS) as pool:
        found = [ended.result() for ended in [pool.submit(need_it) for _ in range(THREADS)]]

    assert all(one is services.catalogue for one in found)


class OpenedMeanwhile(dict[str, Any]):
    """Empty when it is looked into first; then another thread has opened everything."""

    looks = 0

    def get(self, name: str, default: Any = None) -> Any:
        """Find nothing the first time."""
        self.looks += 1
        return default if self.looks == 1 else super().get(name, default)


def test_whoever_waited_for_another_uses_what_that_one_opened(sqlite_database: Database) -> None:
    services = some_services(sqlite_database)
    opened = services.catalogue
    object.__setattr__(services, "_opened", OpenedMeanwhile(services._opened))

    assert services.catalogue is opened


def test_a_process_that_was_not_told_how_moves_no_clock(sqlite_database: Database) -> None:
    with pytest.raises(RuntimeError, match="does not move clocks"):
        some_services(sqlite_database).advance_clock(1, timedelta(days=1))


@pytest.mark.parametrize(
    ("files", "free", "has_room"),
    [
        ("files", {"data": 10, "files": 10}, True),
        ("files", {"data": 9, "files": 10}, False),
        ("files", {"data": 10, "files": 9}, False),
        ("not-made-yet", {"data": 10}, True),
        ("s3://bucket", {"data": 10}, True),
        ("s3://bucket", {"data": 9}, False),
    ],
)
def test_a_file_is_taken_while_every_disk_keeps_its_room(
    sqlite_database: Database,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    files: str,
    free: dict[str, int],
    has_room: bool,
) -> None:
    data = tmp_path / "data"
    (data / "files").mkdir(parents=True)
    settings = Settings.load(data, {"PRINTWORKS_FILES": files, "PRINTWORKS_DISK_FLOOR": "10"})
    services = some_services(sqlite_database, settings)

    def measure(place: Path) -> SimpleNamespace:
        return SimpleNamespace(free=free[place.name])

    monkeypatch.setattr("printworks.actions.services.disk_usage", measure)
    with nullcontext() if has_room else pytest.raises(OutOfRoom, match="no room for more files"):
        services.check_room()
