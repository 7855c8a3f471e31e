"""Everything moves to another database and another place for files, and is the same there."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from printworks.actions.services import Services
from printworks.backup.copying import Copied, Copy, open_target
from printworks.backup.manifest import BackupUnusable
from printworks.backup.progress import SilentProgress
from printworks.cli.opening import open_services
from printworks.rules.quarantine import QuarantineCause
from printworks.store.engine.database import DatabaseUnusable
from printworks.store.queue.quarantine import find_quarantine
from printworks.store.tables import merchants
from tests.actions.people import a_person
from tests.backup.installations import ACTOR, Installation, fill, installation_of
from tests.factories import VAULT
from tests.worker.conftest import OpenShop
from tests.worker.shops import Shop


@pytest.fixture
def source(shop: Shop) -> Installation:
    """An installation with orders."""
    fill(shop)
    return installation_of(shop)


@contextmanager
def target_of(source: Installation, url: str, files: Path | str = "") -> Iterator[Installation]:
    """Open what an installation is copied to."""
    opened = open_target(source.services, url, str(files))
    opened.given["vault"] = VAULT  # type: ignore[index]
    try:
        yield Installation(opened)
    finally:
        opened.close()


def copy(source: Installation, target: Installation) -> Copied:
    """Copy everything."""
    return Copy(source.services, target.services, SilentProgress(), ACTOR).run()


@pytest.fixture
def both_urls(request: pytest.FixtureRequest, backend: str, tmp_path: Path) -> tuple[str, str]:
    """Two empty databases: one of the other kind, and one of the kind of the source."""
    here = str(request.getfixturevalue("blank_database_url"))
    other = "postgresql_url" if backend == "sqlite" else ""
    there = request.getfixturevalue(other) if other else f"sqlite:///{tmp_path / 'other.db'}"
    return str(there), here


@pytest.mark.both_databases
def test_it_goes_to_the_other_database_and_back(
    source: Installation, both_urls: tuple[str, str], tmp_path: Path
) -> None:
    before = source.sum_tables()
    with (
        target_of(source, both_urls[0], tmp_path / "there") as there,
        target_of(source, both_urls[1], tmp_path / "back") as back,
    ):
        first = copy(source, there)
        assert there.sum_tables() == before
        assert there.verify().is_whole
        with there.database.reading() as db:
            # It does all the work from now on.
            assert find_quarantine(db) is None

        second = copy(there, back)

        assert back.sum_tables() == before
        assert back.verify().is_whole
        assert first.files == second.files
        assert first.files is not None
        assert first.files.number == len(list(source.services.files.keys("")))
        # New rows get new numbers.
        with source.database.writing() as db:
            wanted = a_person(db, "bob@shop.example").id
        with back.database.writing() as db:
            assert a_person(db, "bob@shop.example").id == wanted


@pytest.mark.both_databases
def test_the_source_is_left_in_quarantine(source: Installation, both_urls: tuple[str, str]) -> None:
    with target_of(source, both_urls[0]) as target:
        copied = copy(source, target)

    assert copied.files is None
    with source.database.reading() as db:
        quarantine = find_quarantine(db)
    assert quarantine is not None
    assert quarantine.cause is QuarantineCause.MOVED


@pytest.mark.both_databases
def test_a_copy_that_was_killed_goes_on(
    source: Installation, both_urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("printworks.backup.copying.AT_ONCE", 1)
    monkeypatch.setattr("printworks.store.tables.transfer.reading.PAGE", 1)
    written: list[str] = []
    write = Copy._write

    def die(self: Copy, shape: Any, rows: Any, there: int) -> None:
        if len(written) == 7:
            raise KeyboardInterrupt
        written.append(shape.name)
        write(self, shape, rows, there)

    before = source.sum_tables()
    with target_of(source, both_urls[0]) as target:
        with monkeypatch.context() as patch:
            patch.setattr(Copy, "_write", die)
            with pytest.raises(KeyboardInterrupt):
                copy(source, target)
        with (
            pytest.raises(DatabaseUnusable, match="unfinished copy"),
            open_services(target.settings),
        ):
            pass
        with source.database.reading() as db:
            assert find_quarantine(db) is None

        copy(source, target)

        assert target.sum_tables() == before


def test_a_source_that_changed_in_between_is_noticed(
    source: Installation, both_urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> Any:
        raise KeyboardInterrupt

    with target_of(source, both_urls[0]) as target:
        with monkeypatch.context() as patch:
            patch.setattr(Copy, "_compare", die)
            with pytest.raises(KeyboardInterrupt):
                copy(source, target)
        with source.database.writing() as db:
            db.execute(update(merchants).values(name="Another name"))

        with pytest.raises(BackupUnusable, match="`merchants` is another"):
            copy(source, target)


def test_a_target_that_is_not_empty_is_refused(
    source: Installation, both_urls: tuple[str, str]
) -> None:
    with target_of(source, both_urls[0]) as target:
        copy(source, target)

        with pytest.raises(BackupUnusable, match="not empty"):
            copy(source, target)


def test_the_copy_of_another_installation_is_refused(
    source: Installation, both_urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def die(*_: Any) -> Any:
        raise KeyboardInterrupt

    with target_of(source, both_urls[0]) as target:
        with monkeypatch.context() as patch:
            patch.setattr(Copy, "_compare", die)
            with pytest.raises(KeyboardInterrupt):
                copy(source, target)
        monkeypatch.setattr("printworks.backup.copying.identify", lambda _: "another")

        with pytest.raises(BackupUnusable, match="another installation"):
            copy(source, target)


def test_nowhere_else_is_refused(source: Installation) -> None:
    same = Services(source.settings, given={"database": source.database})

    with pytest.raises(BackupUnusable, match="the same"):
        copy(source, Installation(same))


# SQLite has one writer: the copy itself.
@pytest.mark.parametrize("backend", ["postgresql"], indirect=True)
def test_a_service_that_still_writes_is_told_to_stop(
    source: Installation, both_urls: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("printworks.store.tables.transfer.copies.PATIENCE", "10ms")
    with (
        target_of(source, both_urls[0]) as target,
        source.database.writing() as db,
    ):
        db.execute(update(merchants).values(name="Another name"))

        with pytest.raises(BackupUnusable, match="stop every web and worker"):
            copy(source, target)


def test_files_alone_go_to_a_bucket_and_back(
    a_shop: OpenShop, s3_environ: dict[str, str], tmp_path: Path
) -> None:
    named = {name.removeprefix("PRINTWORKS_").lower(): text for name, text in s3_environ.items()}
    bucket = named.pop("files")
    shop = a_shop(**named)
    fill(shop, orders=1)
    source = installation_of(shop)
    with target_of(source, "", bucket) as there:
        first = copy(source, there)
        again = copy(source, there)
        with target_of(there, "", tmp_path / "back") as back:
            second = copy(there, back)

            assert back.verify().is_whole
    assert first == again == second
    with source.database.reading() as db:
        # The database is in use where it is.
        assert find_quarantine(db) is None
