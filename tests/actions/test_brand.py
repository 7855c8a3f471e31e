"""The brand of the operator is one row, audited by its fields, with a logo in the file store."""

from pathlib import Path

import pytest
from sqlalchemy import select

from printworks.actions.accounts.shops import begin_logo
from printworks.actions.brand import (
    change_brand,
    change_brand_logo,
    may_show_labs,
    read_mail_logo,
    read_paper_brand,
)
from printworks.actions.work import Actor
from printworks.errors import BadInput, ServiceUnavailable
from printworks.files.folder import FolderFiles
from printworks.mail.letter import LetterLogo
from printworks.rules.brand import Brand, PaperBrand
from printworks.rules.jobs import JobKind
from printworks.rules.people import Realm
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.brand import StoredBrand, read_brand
from printworks.store.accounts.brand_watch import BrandWatch
from printworks.store.accounts.shops import Logo, is_logo
from printworks.store.engine.database import Database
from printworks.store.images.pictures import cancel_removal
from printworks.store.tables import jobs
from printworks.store.tables.transfer.named_files import list_named_files
from tests.factories import a_merchant, a_system_work

OPERATOR = Actor(Realm.OPERATOR, "olga@fox.example")
FOX = Brand(name="Fox Prints", accent="#7a1f5c", imprint="Secret street", show_labs=True)


def test_without_a_brand_the_service_has_its_usual_name(database: Database) -> None:
    with database.reading() as db:
        assert read_brand(db) == StoredBrand()
        assert read_brand(db).name == "Printworks"
        assert not may_show_labs(db)


def test_a_brand_is_changed_once_and_audited_by_its_fields_only(database: Database) -> None:
    with database.writing() as db:
        a_merchant(db)
        work = a_system_work(db, actor=OPERATOR)
        change_brand(work, FOX)
        change_brand(work, FOX)

        assert read_brand(db).brand == FOX
        assert read_brand(db).name == "Fox Prints"
        assert may_show_labs(db)
        [entry] = list_audit(db, limit=9)
        assert entry.action == "change-brand"
        assert "Secret street" not in str(entry)
        assert "imprint" in str(entry)


def test_a_refused_brand_changes_nothing(database: Database) -> None:
    with database.writing() as db:
        with pytest.raises(BadInput):
            change_brand(a_system_work(db), Brand(name="Fox", accent="#ffff00"))

        assert read_brand(db) == StoredBrand()


def test_a_logo_replaces_another_whose_file_is_removed(database: Database) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        uploads = [begin_logo(work) for _ in range(2)]
        for upload in uploads:
            change_brand_logo(work, upload, Logo(upload.file, 60, 40))
        change_brand(work, FOX)
        former, latter = (upload.file for upload in uploads)

        assert read_brand(db).logo == Logo(latter, 60, 40)
        assert is_logo(db, latter)
        assert not is_logo(db, former)
        assert latter in [file.key for file in list_named_files(db)]
        due = db.scalars(select(jobs.c.args).where(jobs.c.kind == JobKind.REMOVE_FILES)).all()
        assert due == [{"files": [former]}]

        change_brand_logo(work, None, None)
        change_brand_logo(work, None, None)
        assert read_brand(db) == StoredBrand(brand=FOX)


def test_a_logo_that_took_too_long_is_refused(database: Database) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        upload = begin_logo(work)
        cancel_removal(db, upload.removal)

        with pytest.raises(ServiceUnavailable):
            change_brand_logo(work, upload, Logo(upload.file, 60, 40))


def test_paper_shows_the_name_the_logo_and_the_colour(tmp_path: Path) -> None:
    files, drawn = FolderFiles(tmp_path / "files"), tmp_path / "logo.jpg"
    drawn.write_bytes(b"a fox")
    files.put("logos/1.jpg", drawn)
    branded = StoredBrand(brand=FOX, logo=Logo("logos/1.jpg", 60, 40))
    lost = StoredBrand(brand=FOX, logo=Logo("logos/2.jpg", 60, 40))

    assert read_paper_brand(branded, files) == PaperBrand("Fox Prints", b"a fox", "#7a1f5c")
    assert read_paper_brand(lost, files) == PaperBrand("Fox Prints", None, "#7a1f5c")
    assert read_paper_brand(StoredBrand(), files) == PaperBrand("Printworks")


def test_a_logo_that_would_make_every_mail_large_is_not_sent(tmp_path: Path) -> None:
    files, drawn = FolderFiles(tmp_path / "files"), tmp_path / "logo.jpg"
    for name, size in (("small", 200_000), ("large", 200_001)):
        drawn.write_bytes(b"f" * size)
        files.put(f"logos/{name}.jpg", drawn)

    def read(name: str) -> LetterLogo | None:
        return read_mail_logo(StoredBrand(logo=Logo(f"logos/{name}.jpg", 600, 20)), files)

    small = read("small")
    assert small is not None
    assert small.shown == (160, 5)
    assert (read("large"), read("lost")) == (None, None)
    assert read_mail_logo(StoredBrand(), files) is None


def test_a_process_follows_the_brand(database: Database) -> None:
    watch = BrandWatch(database)
    watch.start()
    with database.writing() as db:
        change_brand(a_system_work(db), FOX)

    assert watch.look().name == "Fox Prints"
    assert watch.current.name == "Fox Prints"
    watch.close()


def test_a_database_without_tables_leaves_the_brand_as_it_was(tmp_path: Path) -> None:
    watch = BrandWatch(Database(f"sqlite:///{tmp_path / 'empty.db'}"))
    watch.start()
    watch.close()

    assert watch.current == StoredBrand()
