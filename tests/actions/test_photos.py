"""Photographs of an issue are stored only if they could be drawn anew, and in time."""

from io import BytesIO
from pathlib import Path

import pytest

from printworks.actions.issues.photos import (
    PhotoBatch,
    SentPhoto,
    add_photos,
    begin_photos,
    render_photos,
)
from printworks.errors import BadInput, ServiceUnavailable
from printworks.files.folder import FolderFiles
from printworks.imaging.processor import CannotBeProcessed, ImageProcessor, Invalid
from printworks.rules.sizing import Pixels
from printworks.store.engine.database import Database
from printworks.store.images.pictures import cancel_removal
from printworks.store.issues.photos import NewPhoto, count_photos
from tests.actions.complaints import complain, submitted
from tests.actions.processors import one_that_answers, one_that_claims
from tests.factories import a_merchant, a_system_work

BATCH = PhotoBatch(("photos/0.jpg",), removal=1)


@pytest.fixture
def files(tmp_path: Path) -> FolderFiles:
    """A store without a file."""
    return FolderFiles(tmp_path / "files")


def render(processor: ImageProcessor, files: FolderFiles) -> list[NewPhoto]:
    """Draw the photograph that has come."""
    return render_photos(processor, files, BATCH, [SentPhoto("cat.jpg", BytesIO(b"a cat"))])


def test_a_photograph_that_was_drawn_anew_is_stored(files: FolderFiles) -> None:
    assert render(one_that_claims(), files) == [NewPhoto("photos/0.jpg", 600, 900)]
    assert list(files.keys()) == ["photos/0.jpg"]


@pytest.mark.parametrize(
    "processor",
    [
        one_that_claims(proxy_size=8_000_001),
        one_that_claims(Pixels(30_001, 900)),
        one_that_answers(CannotBeProcessed("The child was ended by SIGSEGV.")),
    ],
    ids=["a drawing too large", "a side too long", "no drawing"],
)
def test_a_photograph_that_took_over_its_process_is_not_stored(
    files: FolderFiles, processor: ImageProcessor
) -> None:
    with pytest.raises(BadInput, match=r"“cat.jpg” cannot be used. The file cannot be processed"):
        render(processor, files)

    assert list(files.keys()) == []


def test_what_is_no_picture_is_refused_with_the_reason(files: FolderFiles) -> None:
    with pytest.raises(BadInput, match=r"“cat.jpg” cannot be used. It is a text."):
        render(one_that_answers(Invalid("It is a text.")), files)


def test_no_photograph_is_blamed_while_none_can_be_drawn(files: FolderFiles) -> None:
    broken = CannotBeProcessed("No zygote starts.", is_infrastructure_error=True)

    with pytest.raises(ServiceUnavailable, match="temporarily unavailable"):
        render(one_that_answers(broken), files)


def test_no_photograph_is_blamed_while_none_can_be_stored(
    files: FolderFiles, tmp_path: Path
) -> None:
    # A file where the store needs a folder.
    (tmp_path / "files" / "photos").touch()

    with pytest.raises(ServiceUnavailable, match="temporarily unavailable"):
        render(one_that_claims(), files)


def test_photographs_whose_files_are_being_removed_join_no_issue(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        issue = complain(db, merchant, submitted(db, merchant))
        batch = begin_photos(a_system_work(db), present=0, added=1)
        cancel_removal(db, batch.removal)

        with pytest.raises(ServiceUnavailable, match="took too long"):
            add_photos(a_system_work(db), issue, batch, [NewPhoto(batch.files[0], 600, 900)])

        assert count_photos(db, issue) == 0
