"""What callers rely on, whichever store is behind it."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle, islice
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.files import open_files
from printworks.files.errors import FileMissing, FilesUnavailable
from printworks.files.store import Files, is_key
from printworks.settings import Settings
from tests.files.samples import KEY, MEGABYTE, a_file, list_drafts, no_file_larger_than


@pytest.mark.parametrize("size", [0, 1, 100_000, 12 * MEGABYTE])
def test_a_file_is_read_as_it_was_put(files: Files, tmp_path: Path, size: int) -> None:
    content = bytes(islice(cycle(range(251)), size))

    files.put(KEY, a_file(tmp_path, content))

    assert files.read(KEY) == content
    with files.local(KEY) as path:
        assert path.read_bytes() == content


def test_another_process_finds_what_was_put(
    files: Files, environ: Mapping[str, str], data: Path, tmp_path: Path
) -> None:
    files.put(KEY, a_file(tmp_path, b"a picture"))

    opened_later = open_files(Settings.load(data, environ))

    assert opened_later.read(KEY) == b"a picture"


def test_what_happens_to_the_source_afterwards_does_not_matter(
    files: Files, tmp_path: Path
) -> None:
    source = a_file(tmp_path, b"a picture")
    files.put(KEY, source)

    with source.open("r+b") as file:
        file.write(b"scribbles")
    source.unlink()

    assert files.read(KEY) == b"a picture"


def test_a_second_put_replaces_the_file(files: Files, tmp_path: Path) -> None:
    files.put(KEY, a_file(tmp_path, b"the longer first picture"))

    files.put(KEY, a_file(tmp_path, b"the second"))

    assert files.read(KEY) == b"the second"
    assert list(files.keys()) == [KEY]


def test_a_file_that_is_not_there_is_missing(files: Files) -> None:
    with pytest.raises(FileMissing, match=f"There is no file `{KEY}`."):
        files.read(KEY)
    with pytest.raises(FileMissing), files.local(KEY):
        pass


def test_a_deleted_file_is_missing_and_can_be_deleted_again(files: Files, tmp_path: Path) -> None:
    files.put(KEY, a_file(tmp_path, b"a picture"))

    files.delete(KEY)
    files.delete(KEY)

    with pytest.raises(FileMissing):
        files.read(KEY)


def test_the_error_of_a_reader_stays_its_own(files: Files, tmp_path: Path) -> None:
    files.put(KEY, a_file(tmp_path, b"a picture"))

    with pytest.raises(FileNotFoundError, match="the reader's"), files.local(KEY):
        raise FileNotFoundError("the reader's")


def test_nothing_temporary_stays_behind(files: Files, data: Path, tmp_path: Path) -> None:
    files.put(KEY, a_file(tmp_path, b"x" * 6 * MEGABYTE))
    with files.local(KEY):
        pass

    assert list_drafts(data) == []


def test_keys_below_a_prefix_are_listed(files: Files, tmp_path: Path) -> None:
    source = a_file(tmp_path, b"a picture")
    kept = {"proofs/42/preview.jpg", "proofs/42/thumbnail.jpg", "proofs/421/preview.jpg", KEY}
    for key in kept:
        files.put(key, source)

    assert set(files.keys()) == kept
    assert set(files.keys("proofs")) == kept - {KEY}
    assert set(files.keys("proofs/42")) == {"proofs/42/preview.jpg", "proofs/42/thumbnail.jpg"}
    assert set(files.keys("proofs/4")) == set()
    assert set(files.keys("prints")) == set()


def test_a_source_that_cannot_be_read_is_named(files: Files, tmp_path: Path) -> None:
    with pytest.raises(FilesUnavailable, match="nowhere"):
        files.put(KEY, tmp_path / "nowhere")

    assert list(files.keys()) == []


BAD_KEYS = [
    "",
    "picture.jpg",
    "/etc/passwd",
    "originals/",
    "originals//42.jpg",
    "originals/../42.jpg",
    "originals/./42.jpg",
    "../42.jpg",
    ".tmp/42.jpg",
    "originals/.hidden",
    "originals/42_preview.jpg",
    "originals/42.JPG",
    "originals/42 .jpg",
    "originals/42\\7.jpg",
    "originals/42.jpg\n",
    "originals/42\x00.jpg",
    "originals/größe.jpg",
    "originals/٤٢.jpg",
    f"originals/{'x' * 200}",
]


@pytest.mark.parametrize("key", BAD_KEYS)
def test_a_key_that_could_mean_something_else_is_refused(
    files: Files, tmp_path: Path, key: str
) -> None:
    source = a_file(tmp_path, b"a picture")
    asked: list[Callable[[], object]] = [
        lambda: files.put(key, source),
        lambda: files.read(key),
        lambda: files.local(key).__enter__(),
        lambda: files.delete(key),
    ]

    for ask in asked:
        with pytest.raises(ValueError, match="is not a key such as"):
            ask()


@given(st.from_regex(r"[a-z0-9./-]{1,30}", fullmatch=True))
def test_no_key_leads_out_of_its_folder(key: str) -> None:
    segments = key.split("/")

    is_plain = all(segment[:1].isalnum() for segment in segments)

    assert is_key(key) == (is_plain and len(segments) > 1)


def test_a_prefix_that_no_key_has_is_refused(files: Files) -> None:
    for prefix in ("proofs/", "/", "..", "proofs/../prints", "Proofs"):
        with pytest.raises(ValueError, match="is not a prefix such as"):
            list(files.keys(prefix))


@pytest.mark.slow
def test_whoever_reads_meanwhile_sees_one_file_whole(files: Files, tmp_path: Path) -> None:
    sources = [
        a_file(tmp_path, letter * 3 * MEGABYTE, name=f"{number}")
        for number, letter in enumerate((b"a", b"b", b"c"))
    ]
    files.put(KEY, sources[0])

    def look() -> set[int]:
        content = files.read(KEY)
        assert len(content) == 3 * MEGABYTE
        return set(content)

    with ThreadPoolExecutor(6) as threads:
        puts = [threads.submit(files.put, KEY, each) for each in islice(cycle(sources), 24)]
        seen = [threads.submit(look).result() for _ in range(24)]
        for put in puts:
            put.result()

    assert all(len(letters) == 1 for letters in seen)
    assert list(files.keys()) == [KEY]


def test_a_file_that_does_not_fit_leaves_the_old_one_and_nothing_else(
    files: Files, data: Path, tmp_path: Path
) -> None:
    files.put(KEY, a_file(tmp_path, b"the old picture"))
    large = a_file(tmp_path, b"x" * 2 * MEGABYTE)

    def copy_here() -> None:
        # A folder keeps the file on this machine, S3 lends a copy of it.
        files.put("originals/large.jpg", large)
        with files.local("originals/large.jpg"):
            pass

    with no_file_larger_than(MEGABYTE), pytest.raises(FilesUnavailable, match="File too large"):
        copy_here()

    assert list_drafts(data) == []
    assert files.read(KEY) == b"the old picture"


def test_a_file_is_looked_at_without_being_read(files: Files, tmp_path: Path) -> None:
    files.put(KEY, a_file(tmp_path, b"a picture"))
    first = files.look(KEY)
    files.put(KEY, a_file(tmp_path, b"another picture"))
    second = files.look(KEY)
    files.delete(KEY)

    assert (first.size, second.size) == (9, 15)
    assert first.mark != second.mark
    with pytest.raises(FileMissing):
        files.look(KEY)
