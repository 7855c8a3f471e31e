"""A process knows whether it can work, and asks the database no more than once a second."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest

from printworks.files.errors import FileMissing, FilesUnavailable
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.watch import readiness as module
from printworks.watch.readiness import SECONDS_OF_S3, SECONDS_OF_TRUST, Readiness
from tests.factories import some_services


class Store:
    """Files that are away when a test wants it."""

    def __init__(self) -> None:
        self.is_away = False
        self.asked = 0

    def read(self, key: str) -> bytes:
        """Have no file."""
        self.asked += 1
        if self.is_away:
            raise FilesUnavailable("The store cannot be reached.")
        raise FileMissing(key)


class Scene:
    """A process whose parts can fail, with a clock that the test moves."""

    def __init__(self, database: Database, data: Path, **settings: Any) -> None:
        self.store = Store()
        self.elapsed = 0.0
        own = msgspec.structs.replace(Settings.load(data, {}), **settings)
        self.readiness = Readiness(
            some_services(database, own, files=self.store), steady_clock=lambda: self.elapsed
        )

    def look(self, *, after: float = SECONDS_OF_TRUST) -> tuple[str, ...]:
        """Look again after so many seconds."""
        self.elapsed += after
        return self.readiness.find_failed()


def test_a_good_installation_is_ready(database: Database, tmp_path: Path) -> None:
    assert Scene(database, tmp_path).look() == ()


def test_each_part_that_fails_is_named(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = Scene(sqlite_database, tmp_path)
    scene.store.is_away = True
    assert scene.look() == ("files",)
    scene.store.is_away = False
    monkeypatch.setattr(module, "LEAST_ROOM", 10**18)
    assert scene.look() == ("disk",)
    with sqlite_database.writing() as db:
        db.exec_driver_sql("UPDATE alembic_version SET version_num = '0000'")
    assert scene.look() == ("migrations", "disk")


def test_without_a_database_nothing_else_is_asked(tmp_path: Path) -> None:
    scene = Scene(Database(f"sqlite:///{tmp_path / 'gone.db'}"), tmp_path)
    (tmp_path / "gone.db").mkdir()

    assert scene.look() == ("database",)
    assert scene.store.asked == 0


def test_the_result_is_repeated_for_a_second(sqlite_database: Database, tmp_path: Path) -> None:
    scene = Scene(sqlite_database, tmp_path)
    assert scene.look() == ()
    scene.store.is_away = True

    assert scene.look(after=SECONDS_OF_TRUST / 2) == ()
    assert scene.look(after=SECONDS_OF_TRUST / 2) == ("files",)
    assert scene.store.asked == 2


def test_s3_is_asked_less_often_while_it_is_well(sqlite_database: Database, tmp_path: Path) -> None:
    scene = Scene(sqlite_database, tmp_path, files="s3://bucket")
    scene.look()
    scene.look()
    assert scene.store.asked == 1
    scene.store.is_away = True
    assert scene.look(after=SECONDS_OF_S3) == ("files",)
    scene.store.is_away = False
    assert scene.look() == ()
    assert scene.store.asked == 3


def test_a_folder_that_cannot_be_written_is_not_ready(
    sqlite_database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "files").mkdir(exist_ok=True)
    monkeypatch.setattr(os, "access", lambda *_: False)

    assert Scene(sqlite_database, tmp_path).look() == ("files", "disk")
