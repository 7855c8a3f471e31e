"""What recipients see of a merchant is changed by its people, and audited without its texts."""

from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import select

from printworks.actions.accounts.shops import (
    LARGEST_LOGO,
    begin_logo,
    change_logo,
    change_profile,
    render_logo,
)
from printworks.actions.images.redrawing import PendingFile
from printworks.actions.work import Actor
from printworks.errors import BadInput, ServiceUnavailable
from printworks.files.folder import FolderFiles
from printworks.imaging.processor import CannotBeProcessed, ImageProcessor, Invalid
from printworks.rules.jobs import JobKind
from printworks.rules.people import Realm
from printworks.rules.shops import ShopProfile
from printworks.rules.sizing import Pixels
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.shops import Logo, get_shop, is_logo, read_time_zone
from printworks.store.engine.database import Database
from printworks.store.images.pictures import cancel_removal
from printworks.store.tables import jobs
from printworks.store.tables.transfer.named_files import list_named_files
from tests.actions.processors import one_that_answers, one_that_claims
from tests.factories import a_merchant, a_work

PROFILE = ShopProfile(name="Fox & Daughters", email="hello@fox.example", time_zone="Europe/Berlin")
UPLOAD = PendingFile("logos/0.jpg", 1)


@pytest.fixture
def files(tmp_path: Path) -> FolderFiles:
    """A store without a file."""
    return FolderFiles(tmp_path / "files")


def render(processor: ImageProcessor, files: FolderFiles, content: bytes = b"a fox") -> Logo:
    """Draw the logo that has come."""
    return render_logo(processor, files, UPLOAD, BytesIO(content))


def test_a_merchant_who_has_said_nothing_is_called_by_its_name(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db, "Alice")
        shop = get_shop(db, merchant.id)

        assert (shop.name, shop.profile, shop.logo) == ("Alice", ShopProfile(), None)
        assert read_time_zone(db, merchant.id) == "UTC"


def test_a_profile_is_changed_and_audited_by_its_fields_only(database: Database) -> None:
    with database.writing() as db:
        alice, bob = a_merchant(db, "Alice"), a_merchant(db, "Bob")
        work = a_work(db, alice, actor=Actor(Realm.MERCHANT, "mary@fox.example"))
        change_profile(work, PROFILE)
        change_profile(work, PROFILE)

        assert get_shop(db, alice.id).name == "Fox & Daughters"
        assert read_time_zone(db, alice.id) == "Europe/Berlin"
        assert get_shop(db, bob.id).profile == ShopProfile()
        [entry] = list_audit(db, merchant_id=alice.id, limit=9)
        assert entry.action == "change-shop"
        assert "hello@fox" not in str(entry)
        assert "time_zone" in str(entry)


def test_a_refused_profile_changes_nothing(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        with pytest.raises(BadInput):
            change_profile(a_work(db, merchant), ShopProfile(time_zone="Mars/Olympus"))

        assert get_shop(db, merchant.id).profile == ShopProfile()


def test_a_logo_replaces_another_whose_file_is_removed(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        work = a_work(db, merchant)
        for _ in range(2):
            upload = begin_logo(work)
            change_logo(work, upload, Logo(upload.file, 60, 40))
        change_profile(work, PROFILE)

        shop = get_shop(db, merchant.id)
        assert shop.logo == Logo(upload.file, 60, 40)
        assert shop.logo.token in upload.file
        assert is_logo(db, upload.file)
        # So it is in every backup.
        assert upload.file in [file.key for file in list_named_files(db)]
        removals = select(jobs.c.args).where(jobs.c.kind == JobKind.REMOVE_FILES)
        [args] = db.execute(removals).scalars()
        assert args["files"] != [upload.file]

        change_logo(work, None, None)
        change_logo(work, None, None)
        assert get_shop(db, merchant.id).logo is None
        assert get_shop(db, merchant.id).profile == PROFILE
        assert not is_logo(db, upload.file)


def test_a_logo_whose_file_is_being_removed_is_refused(database: Database) -> None:
    with database.writing() as db:
        work = a_work(db, a_merchant(db))
        upload = begin_logo(work)
        assert cancel_removal(db, upload.removal)
        with pytest.raises(ServiceUnavailable, match="took too long"):
            change_logo(work, upload, Logo(upload.file, 1, 1))


def test_a_logo_is_stored_as_it_was_rendered(files: FolderFiles) -> None:
    assert render(one_that_claims(), files) == Logo("logos/0.jpg", 600, 900)
    assert list(files.keys()) == ["logos/0.jpg"]


@pytest.mark.parametrize(
    ("processor", "why"),
    [
        (one_that_claims(Pixels(30_001, 900)), "cannot be used as a logo"),
        (one_that_claims(proof_size=1_000_001), "cannot be used as a logo"),
        (one_that_answers(CannotBeProcessed("SIGSEGV.")), "cannot be used as a logo"),
        (one_that_claims(then=CannotBeProcessed("SIGSEGV.")), "cannot be used as a logo"),
        (one_that_answers(Invalid("It is a text.")), "It is a text."),
    ],
)
def test_what_is_no_picture_is_not_stored(
    files: FolderFiles, processor: ImageProcessor, why: str
) -> None:
    with pytest.raises(BadInput, match=why):
        render(processor, files)

    assert list(files.keys()) == []


def test_a_file_that_is_too_large_is_not_even_looked_at(files: FolderFiles) -> None:
    with pytest.raises(BadInput, match="at most 5 MB"):
        render(one_that_claims(), files, b"x" * (LARGEST_LOGO + 1))


def test_no_logo_is_blamed_while_none_can_be_rendered_or_stored(
    files: FolderFiles, tmp_path: Path
) -> None:
    broken = CannotBeProcessed("No zygote starts.", is_infrastructure_error=True)
    with pytest.raises(ServiceUnavailable, match="temporarily unavailable"):
        render(one_that_answers(broken), files)

    # A file where the store needs a folder.
    (tmp_path / "files" / "logos").touch()
    with pytest.raises(ServiceUnavailable, match="temporarily unavailable"):
        render(one_that_claims(), files)
