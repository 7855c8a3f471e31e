"""A backup has everything, is taken while the service runs, and gives all of it back."""

import gzip
import json
import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from printworks.backup.manifest import BackupDamaged, BackupUnusable, content_key
from printworks.backup.progress import SilentProgress
from printworks.backup.repository import Repository
from printworks.backup.restoring import SKIPPED_NUMBERS
from printworks.backup.taking import Backup
from printworks.clock import system_clock
from printworks.files.scratch import ABANDONED
from printworks.rules.jobs import JobKind
from printworks.rules.quarantine import QuarantineCause
from printworks.store.accounts.sessions import NewSession, begin_session
from printworks.store.queue.quarantine import find_quarantine
from printworks.store.tables import orders, people, sessions
from tests.actions.people import a_person
from tests.backup.installations import Installation, another, fill, installation_of
from tests.factories import NOON
from tests.worker.conftest import OpenShop
from tests.worker.shops import Shop


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder for backups."""
    return tmp_path / "backups"


@pytest.fixture
def source(shop: Shop) -> Installation:
    """An installation with orders."""
    fill(shop)
    return installation_of(shop)


@pytest.fixture
def target(shop: Shop, blank_database_url: str, tmp_path: Path) -> Iterator[Installation]:
    """An installation that does not exist yet."""
    with another(tmp_path / "target", blank_database_url, shop.settings) as opened:
        yield opened


@pytest.mark.both_databases
def test_a_backup_gives_back_every_row_and_every_file(
    source: Installation, target: Installation, place: Path
) -> None:
    taken = source.back_up(place)

    restored = target.restore(place)

    assert target.sum_tables() == source.sum_tables()
    assert restored.files == taken.files.count > 0
    files = sorted(source.services.files.keys(""))
    assert sorted(target.services.files.keys("")) == files
    for key in files:
        assert target.services.files.read(key) == source.services.files.read(key)
    found = target.verify()
    assert found.is_whole, found
    assert not found.orphans
    assert found.entries == 2


def test_a_second_backup_copies_only_what_is_new(
    shop: Shop, source: Installation, place: Path
) -> None:
    first = source.back_up(place)
    contents = set((place / "contents").rglob("*"))

    fill(shop, orders=1)
    second = source.back_up(place)

    assert first.files.new > 0
    assert second.files.count > first.files.count
    # Its picture is known; its proofs and its print file are the same pictures again.
    assert second.files.new_size < first.files.new_size
    assert contents <= set((place / "contents").rglob("*"))
    assert Repository(str(place), source.settings).list_backups() == [first.id, second.id]


def test_an_older_backup_can_be_restored(
    shop: Shop, source: Installation, target: Installation, place: Path
) -> None:
    first, before = source.back_up(place), source.sum_tables()
    shop.pass_time(minutes=2)
    fill(shop, orders=1)
    source.back_up(place)

    target.restore(place, backup=first.id)

    assert target.sum_tables() == before


@pytest.mark.both_databases
def test_numbers_that_were_given_are_not_given_again(
    source: Installation, target: Installation, place: Path
) -> None:
    with source.database.writing() as db:
        gone = a_person(db, "alice@shop.example")
        db.execute(people.delete().where(people.c.id == gone.id))
    source.back_up(place)

    target.restore(place)

    with target.database.writing() as db:
        assert a_person(db, "bob@shop.example").id == gone.id + SKIPPED_NUMBERS + 1


@pytest.mark.both_databases
def test_whoever_was_signed_in_signs_in_again(
    source: Installation, target: Installation, place: Path
) -> None:
    with source.database.writing() as db:
        person = a_person(db, "alice@shop.example")
        begin_session(db, person, NewSession("127.0.0.1", "a browser"), now=NOON)
    source.back_up(place)

    target.restore(place)

    with target.database.reading() as db:
        assert not db.execute(select(sessions)).all()


@pytest.mark.both_databases
def test_a_restored_service_is_in_quarantine(
    source: Installation, target: Installation, place: Path
) -> None:
    taken = source.back_up(place)

    target.restore(place)

    with target.database.reading() as db:
        quarantine = find_quarantine(db)
    assert quarantine is not None
    assert quarantine.cause is QuarantineCause.RESTORED
    assert quarantine.known_until == taken.created_at
    assert target.services.quarantine.is_on()


@pytest.mark.both_databases
def test_files_stay_while_a_backup_needs_them(
    shop: Shop, source: Installation, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken_away: list[str] = []
    rows_are_written = Backup._copy_files

    def remove_first(self: Backup, *given: Any) -> Any:
        # Between the rows and the files, the merchant removes an image.
        files = shop.list_files("proofs")[:1]
        taken_away.extend(files)
        shop.enqueue_again(JobKind.REMOVE_FILES, {"files": files})
        shop.drain()
        return rows_are_written(self, *given)

    monkeypatch.setattr(Backup, "_copy_files", remove_first)

    taken = source.back_up(place)

    assert not taken.files.missing
    assert taken_away[0] in shop.list_files("proofs")
    shop.pass_time(minutes=1)
    assert taken_away[0] not in shop.list_files("proofs")


def test_a_killed_backup_lets_files_go_after_an_hour(
    shop: Shop, source: Installation, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Killed(BaseException):
        pass

    def die(self: Backup, *_: Any) -> Any:
        raise Killed

    monkeypatch.setattr(Backup, "_copy_files", die)
    monkeypatch.setattr("printworks.backup.taking.let_files_go", lambda *_: None)
    with pytest.raises(Killed):
        source.back_up(place)
    files = shop.list_files("proofs")[:1]

    shop.enqueue_again(JobKind.REMOVE_FILES, {"files": files})
    shop.pass_time(minutes=50)
    assert files[0] in shop.list_files("proofs")
    shop.pass_time(minutes=15)

    assert files[0] not in shop.list_files("proofs")


def test_a_killed_backup_is_no_backup(
    source: Installation, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = source.back_up(place)

    def die(*_: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr("printworks.backup.taking.write_manifest", die)
    with pytest.raises(KeyboardInterrupt):
        source.back_up(place)

    repository = Repository(str(place), source.settings)
    assert repository.list_backups() == [whole.id]
    newest = repository.find_newest()
    assert newest is not None
    assert newest.id == whole.id


def test_the_rows_that_a_killed_backup_left_go_with_the_next(
    source: Installation, place: Path
) -> None:
    scratch = source.settings.data / "tmp"
    left, under_way = scratch / "backup-left", scratch / "backup-elsewhere"
    for folder in (left, under_way):
        folder.mkdir(parents=True)
        (folder / "orders.jsonl.gz").touch()
    long_ago = (system_clock() - ABANDONED - timedelta(minutes=1)).timestamp()
    os.utime(left, (long_ago, long_ago))

    source.back_up(place)

    assert list(scratch.glob("backup-*")) == [under_way]


def test_the_folder_of_a_long_backup_is_not_taken_for_one_that_was_left(
    shop: Shop, source: Installation, place: Path
) -> None:
    touched: list[float] = []

    class Slow(SilentProgress):
        def begin(self, what: str, total: int | None = None) -> None:
            self._what = what

        def advance(self, pieces: int = 1) -> None:
            if self._what == "files":
                [folder] = (source.settings.data / "tmp").glob("backup-*")
                touched.append(folder.stat().st_mtime)
                os.utime(folder, (0, 0))
                shop.clock.advance(minutes=2)

    repository = Repository(str(place), source.settings, may_be_new=True)
    taken = Backup(source.services, repository, Slow()).take()

    assert len(touched) > taken.files.count
    assert all(touched)


def test_a_file_that_is_missing_or_changed_is_named(
    shop: Shop, source: Installation, place: Path
) -> None:
    [original, *_], [proof, *_] = shop.list_files("originals"), shop.list_files("proofs")
    files = shop.resources.files
    files.delete(proof)
    with files.local(original) as path:
        path.write_bytes(b"x" + path.read_bytes()[1:])

    taken = source.back_up(place)

    assert taken.files.missing == [proof]
    assert taken.files.damaged == [original]


def test_old_backups_go_with_what_only_they_had(
    shop: Shop, source: Installation, target: Installation, place: Path
) -> None:
    first = source.back_up(place)
    gone = shop.list_files("proofs")[0]
    shop.resources.files.delete(gone)
    shop.pass_time(minutes=1)
    source.back_up(place)
    # Left by one that was killed.
    (place / "backups" / "20261115t110000z-abcdef").mkdir()
    (place / "backups" / "20261115t110000z-abcdef" / "files.jsonl.gz").write_text("half")
    shop.pass_time(minutes=1)

    third = source.back_up(place, keep=2)
    shop.pass_time(minutes=1)
    fourth = source.back_up(place, keep=1)

    repository = Repository(str(place), source.settings)
    assert repository.list_backups() == [fourth.id]
    assert [path.name for path in (place / "backups").iterdir()] == [fourth.id]
    contents = [path for path in (place / "contents").rglob("*") if path.is_file()]
    assert len(contents) < first.files.new
    assert third.files.new == 0
    target.restore(place)
    assert [fault.key for fault in target.verify().faults] == [gone]


def test_of_backups_within_one_second_the_last_is_the_newest(
    shop: Shop, source: Installation, place: Path
) -> None:
    taken = []
    for _ in range(5):
        taken.append(source.back_up(place).id)
        shop.clock.advance(milliseconds=20)

    assert Repository(str(place), source.settings).list_backups() == taken


@pytest.mark.parametrize("part", ["manifest.json", "files.jsonl.gz"])
def test_a_damaged_backup_keeps_nobody_from_the_next(
    shop: Shop, source: Installation, target: Installation, place: Path, part: str
) -> None:
    first = source.back_up(place)
    damaged = place / "backups" / first.id / part
    damaged.write_bytes(b"rust" + damaged.read_bytes()[4:])
    contents = set((place / "contents").rglob("*"))
    shop.resources.files.delete(shop.list_files("proofs")[0])
    shop.pass_time(minutes=1)
    backup = Backup(source.services, Repository(str(place), source.settings), SilentProgress())

    second = backup.take(keep=2)

    assert all(first.id in sentence and part in sentence for sentence in backup.unreadable)
    assert len(set(backup.unreadable)) == 1
    assert second.files.new == 0
    # Nobody knows which of them the damaged one needs.
    assert set((place / "contents").rglob("*")) == contents
    assert target.restore(place).files == second.files.count
    shop.pass_time(minutes=1)
    source.back_up(place, keep=1)
    assert set((place / "contents").rglob("*")) < contents


def test_two_backups_at_one_place_do_not_meet(source: Installation, place: Path) -> None:
    repository = Repository(str(place), source.settings, may_be_new=True)
    now = source.services.clock()
    repository.claim("20261115t115900z-abcdef", now=now)

    with pytest.raises(BackupUnusable, match="Another backup is being taken"):
        source.back_up(place)

    repository.claim("20261115t115900z-abcdef", now=now - timedelta(hours=2))
    assert source.back_up(place).files.count
    assert list(repository.files.keys("running")) == []


# What a restore refuses.


@pytest.mark.both_databases
def test_an_installation_with_rows_is_refused(source: Installation, place: Path) -> None:
    source.back_up(place)
    before = source.sum_tables()

    with pytest.raises(BackupUnusable, match="is not empty"):
        source.restore(place)

    assert source.sum_tables() == before


def test_a_place_with_files_is_refused(
    source: Installation, target: Installation, place: Path, tmp_path: Path
) -> None:
    source.back_up(place)
    (tmp_path / "any").write_text("a file")
    target.services.files.put("proofs/1/preview.jpg", tmp_path / "any")

    with pytest.raises(BackupUnusable, match="There are files"):
        target.restore(place)


@pytest.mark.both_databases
def test_a_damaged_file_is_refused_and_named(
    shop: Shop, source: Installation, target: Installation, place: Path
) -> None:
    source.back_up(place)
    key = shop.list_files("originals")[0]
    [listed] = place.rglob("files.jsonl.gz")
    entries = map(json.loads, gzip.decompress(listed.read_bytes()).splitlines())
    [sha256] = [entry[2] for entry in entries if entry[1] == key]
    content = place / content_key(sha256)
    content.write_bytes(b"rust" + content.read_bytes()[4:])

    with pytest.raises(BackupDamaged, match=key):
        target.restore(place)
    with target.database.reading() as db:
        assert not db.execute(select(orders)).all()

    # The same restore goes on.
    restored = target.restore(place, skip_damaged=True)
    assert restored.damaged == [key]
    assert [fault.key for fault in target.verify().faults] == [key]


def test_damaged_rows_are_refused_and_named(
    source: Installation, target: Installation, place: Path
) -> None:
    source.back_up(place)
    [rows] = place.rglob("orders.jsonl.gz")
    rows.write_bytes(rows.read_bytes()[:-3])

    with pytest.raises(BackupDamaged, match=r"rows/orders\.jsonl\.gz"):
        target.restore(place)


def test_a_changed_manifest_is_refused(
    source: Installation, target: Installation, place: Path
) -> None:
    source.back_up(place)
    [manifest] = place.rglob("manifest.json")
    manifest.write_text(manifest.read_text().replace("sandbox", "live"))

    with pytest.raises(BackupDamaged, match="not what was written"):
        target.restore(place)


def test_a_backup_of_a_newer_program_is_refused(
    source: Installation, target: Installation, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("printworks.backup.taking.schema.LATEST", "9999")
    source.back_up(place)
    monkeypatch.undo()

    with pytest.raises(BackupUnusable, match="install the newer program"):
        target.restore(place)


def test_the_key_of_the_secrets_must_fit(
    shop: Shop, source: Installation, place: Path, tmp_path: Path, blank_database_url: str
) -> None:
    source.back_up(place)
    with another(tmp_path / "target", blank_database_url, shop.settings) as target:
        target.services.given.pop("vault")  # type: ignore[attr-defined]

        with pytest.raises(BackupUnusable, match=r"secret\.key"):
            target.restore(place)


def test_the_key_comes_with_a_backup_that_was_asked_to_have_it(
    shop: Shop, source: Installation, place: Path, tmp_path: Path, blank_database_url: str
) -> None:
    source.back_up(place, with_key=True)
    with another(tmp_path / "target", blank_database_url, shop.settings) as target:
        target.services.given.pop("vault")  # type: ignore[attr-defined]

        target.restore(place)

        assert target.services.vault.file == tmp_path / "target" / "secret.key"
        assert target.services.vault.file.stat().st_mode & 0o777 == 0o600


def test_there_must_be_a_backup(source: Installation, place: Path) -> None:
    with pytest.raises(BackupUnusable, match="is not a folder"):
        Repository(str(place), source.settings)
    repository = Repository(str(place), source.settings, may_be_new=True)

    assert repository.find_newest() is None
    with pytest.raises(BackupUnusable, match="no whole backup"):
        repository.read_manifest("20261115t120000z-000000")


def test_a_place_among_the_files_of_the_service_is_refused(source: Installation) -> None:
    with pytest.raises(BackupUnusable, match="its own files"):
        source.back_up(Path(source.settings.files) / "backups")


def test_a_place_on_a_disk_that_is_not_there_is_refused(
    source: Installation, tmp_path: Path
) -> None:
    with pytest.raises(BackupUnusable, match="mounted"):
        source.back_up(tmp_path / "mnt" / "backups")


@pytest.mark.both_databases
def test_a_bucket_can_have_the_files_and_the_backups(
    a_shop: OpenShop, s3_environ: dict[str, str], blank_database_url: str, tmp_path: Path
) -> None:
    named = {name.removeprefix("PRINTWORKS_").lower(): text for name, text in s3_environ.items()}
    shop = a_shop(**named)
    fill(shop, orders=1)
    source, place = installation_of(shop), f"{named['files']}-backups"
    first = source.back_up(place)
    second = source.back_up(place)
    elsewhere = f"{named['files']}-restored"

    with another(tmp_path / "target", blank_database_url, shop.settings, files=elsewhere) as target:
        target.restore(place)

        assert first.files.new == first.files.count
        assert second.files.new == 0
        assert target.sum_tables() == source.sum_tables()
        assert target.verify().is_whole
