"""A picture of a product is stored once for each content, as long as a version names it."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pytest
from sqlalchemy import select

from printworks.actions.catalogue import (
    add_draft,
    delete_version,
    find_warnings,
    save_draft,
)
from printworks.actions.images.redrawing import PendingFile
from printworks.actions.product_pictures import (
    DrawnPicture,
    begin_pictures,
    draw_picture,
    draw_pictures,
    find_missing,
)
from printworks.actions.work import SystemWork
from printworks.catalogue.snapshot import Catalogue
from printworks.errors import BadInput, ServiceUnavailable
from printworks.files.folder import FolderFiles
from printworks.imaging.formats import is_plain_jpeg
from printworks.imaging.processor import ImageProcessor, Invalid
from printworks.rules.jobs import JobKind
from printworks.rules.product_pictures import find_hash
from printworks.rules.sizing import Pixels
from printworks.store.catalogue.pictures import find_file
from printworks.store.catalogue.versions import CatalogueVersion, get_version, read_texts
from printworks.store.engine.database import Database
from printworks.store.images.pictures import cancel_removal
from printworks.store.tables import jobs
from printworks.store.tables.transfer.named_files import list_named_files
from tests.actions.processors import one_that_answers, one_that_claims
from tests.catalogue.folders import a_folder, a_product
from tests.factories import a_system_work
from tests.worker.shops import a_jpeg

UPLOAD = PendingFile("products/0.jpg", 1)
CAT, DOG = (f"cat-{digit * 32}.jpg" for digit in "cd")


@pytest.fixture
def files(tmp_path: Path) -> FolderFiles:
    """A store without a file."""
    return FolderFiles(tmp_path / "files")


@pytest.fixture(scope="module")
def processor() -> Iterator[ImageProcessor]:
    """One that really draws."""
    with ImageProcessor(slots=1) as processor:
        yield processor


def texts_with(folder: Path, picture: str | None) -> dict[str, str]:
    """Return the files of a catalogue with one product that has this picture."""
    named = None if picture is None else f'"{picture}"'
    where = folder / str(picture)
    where.mkdir()
    written = a_folder(where, a_product(picture=named))
    return {path.name: path.read_text() for path in written.glob("*.toml")}


def upload(work: SystemWork, name: str) -> DrawnPicture:
    """Return a picture as if it had been drawn."""
    [begun] = begin_pictures(work, 1)
    return DrawnPicture(begun, name, 9)


def save(work: SystemWork, version: int, texts: dict[str, str], *drawn: DrawnPicture) -> None:
    """Save a draft that nobody else has changed."""
    seen = get_version(work.db, version)
    assert save_draft(work, seen, texts, what="a test", pictures=drawn)


def list_removals(work: SystemWork) -> list[str]:
    """Return the files that jobs will remove."""
    kinds = select(jobs.c.args).where(jobs.c.kind == JobKind.REMOVE_FILES)
    return [file for args in work.db.scalars(kinds.order_by(jobs.c.id)) for file in args["files"]]


def test_a_picture_stays_as_long_as_a_version_names_it(database: Database, tmp_path: Path) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        draft = add_draft(work, texts_with(tmp_path, None), "Ours")
        cat, dog = upload(work, CAT), upload(work, DOG)

        save(work, draft.id, texts_with(tmp_path, CAT), cat)
        copy = add_draft(work, read_texts(db, draft.id), "The same", copy_of=draft.id)
        save(work, draft.id, texts_with(tmp_path, DOG), dog)

        # A copy still names the first.
        kept = {cat.upload.file, dog.upload.file}
        assert {file.key for file in list_named_files(db)} == kept
        assert list_removals(work) == []
        assert find_file(db, "c" * 32) == cat.upload.file

        delete_version(work, copy.id)
        assert find_file(db, "c" * 32) is None
        assert list_removals(work) == [cat.upload.file]


def test_the_same_content_is_stored_once(database: Database, tmp_path: Path) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        draft = add_draft(work, texts_with(tmp_path, None), "Ours")
        first, again = upload(work, CAT), upload(work, CAT)
        save(work, draft.id, texts_with(tmp_path, CAT), first)
        save(work, draft.id, texts_with(tmp_path, f"x{CAT}"), again)

        assert find_file(db, "c" * 32) == first.upload.file
        # The job that was enqueued before it was drawn.
        assert list_removals(work) == [again.upload.file]


def test_a_picture_that_came_too_late_saves_nothing(database: Database, tmp_path: Path) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        draft = add_draft(work, texts_with(tmp_path, None), "Ours")
        late = upload(work, CAT)
        assert cancel_removal(db, late.upload.removal)

        with pytest.raises(ServiceUnavailable, match="took too long"):
            save(work, draft.id, texts_with(tmp_path, CAT), late)


def test_a_picture_that_is_not_stored_is_warned_of(database: Database, tmp_path: Path) -> None:
    with database.writing() as db:
        work = a_system_work(db)
        draft = add_draft(work, texts_with(tmp_path, None), "Ours")
        save(work, draft.id, texts_with(tmp_path, CAT), upload(work, CAT))

        missing = find_missing(work, [CAT, DOG, "fox.jpg"])
        warned = _warn(work, Catalogue.load(texts_with(tmp_path, DOG)), draft)

        assert missing == [DOG, "fox.jpg"]
        assert f"The picture {DOG} is not stored" in warned


def _warn(work: SystemWork, catalogue: Catalogue, version: CatalogueVersion) -> str:
    return " ".join(find_warnings(work, catalogue, version))


class TestDrawing:
    def test_a_picture_is_drawn_anew_without_metadata(
        self, files: FolderFiles, processor: ImageProcessor
    ) -> None:
        sent = a_jpeg(1600, 1200)
        hidden = sent[:2] + b"\xff\xfe\x00\x08secret" + sent[2:]

        drawn = draw_picture(processor, files, UPLOAD, BytesIO(hidden), called="MUG.jpg")

        kept = files.read(UPLOAD.file)
        assert drawn.size == len(kept) < 1_000_000
        assert drawn.name.startswith("mug-")
        assert b"secret" not in kept
        assert is_plain_jpeg(kept)
        assert not is_plain_jpeg(hidden)

    def test_what_was_drawn_once_stays_to_the_last_bit(
        self, files: FolderFiles, processor: ImageProcessor
    ) -> None:
        first = draw_picture(processor, files, UPLOAD, BytesIO(a_jpeg(900, 600)), called="mug.jpg")
        kept = files.read(UPLOAD.file)

        again = draw_picture(processor, files, UPLOAD, BytesIO(kept), called=first.name)
        # Whoever calls it otherwise has perhaps changed it.
        renamed = draw_picture(processor, files, UPLOAD, BytesIO(kept), called="mug.jpg")

        assert again == first
        assert find_hash(renamed.name) != find_hash(first.name)

    @pytest.mark.parametrize("changed", [b"\0", b"\xff\xd9", b"<script>"])
    def test_what_was_changed_since_is_drawn_anew(
        self, files: FolderFiles, processor: ImageProcessor, changed: bytes
    ) -> None:
        first = draw_picture(processor, files, UPLOAD, BytesIO(a_jpeg(900, 600)), called="mug.jpg")
        kept = files.read(UPLOAD.file) + changed

        again = draw_picture(processor, files, UPLOAD, BytesIO(kept), called=first.name)

        assert again.name != first.name
        assert not files.read(UPLOAD.file).endswith(b"<script>")

    def test_a_large_file_is_no_picture_of_ours(self, files: FolderFiles) -> None:
        called = f"{'a' * 32}.jpg"

        drawn = draw_picture(
            one_that_claims(Pixels(80, 60)), files, UPLOAD, BytesIO(b"x" * 1_000_001), called=called
        )

        assert drawn.size == 9

    def test_a_file_that_is_too_large_is_refused(self, files: FolderFiles) -> None:
        sent = BytesIO(bytes(20_000_001))
        with pytest.raises(BadInput, match="A picture can have at most 20 MB"):
            draw_picture(one_that_claims(), files, UPLOAD, sent, called="a.jpg")

    def test_of_several_the_bad_one_is_named(self, files: FolderFiles) -> None:
        said = one_that_answers(Invalid("It is a text."))
        with pytest.raises(BadInput, match=r"dog\.jpg: This file cannot be used as a picture"):
            draw_pictures(said, files, [UPLOAD], [("dog.jpg", BytesIO(b"x"))])

        assert list(files.keys()) == []


def test_several_pictures_are_drawn_by_their_names(files: FolderFiles) -> None:
    uploads = [UPLOAD, PendingFile("products/1.jpg", 2)]
    sent = [(name, BytesIO(b"x")) for name in ("cat.jpg", "dog.jpg")]

    drawn = draw_pictures(one_that_claims(), files, uploads, sent)

    assert [one.upload for one in drawn.values()] == uploads
    assert list(drawn) == ["cat.jpg", "dog.jpg"]
