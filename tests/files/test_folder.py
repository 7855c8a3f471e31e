"""What the folder looks like, and what happens when its disk fails."""

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from printworks.files import open_files
from printworks.files.drafts import Drafts
from printworks.files.errors import FilesUnavailable
from printworks.files.folder import FolderFiles
from printworks.files.store import Files
from printworks.settings import Settings
from tests.files.samples import KEY, a_file, list_drafts


def test_an_operator_recognises_a_file_by_its_name(
    folder_files: Files, data: Path, tmp_path: Path
) -> None:
    folder_files.put("proofs/42/preview.jpg", a_file(tmp_path, b"a picture"))

    assert [str(path.relative_to(data)) for path in data.rglob("*.jpg")] == [
        "files/proofs/cd6/42_preview.jpg"
    ]


def test_nobody_else_on_the_machine_can_read_pictures(
    folder_files: Files, data: Path, tmp_path: Path
) -> None:
    source = a_file(tmp_path, b"a picture")
    source.chmod(0o644)
    folder_files.put(KEY, source)

    modes = {path: stat.S_IMODE(path.stat().st_mode) for path in (data / "files").rglob("*")}

    assert all(mode == (0o700 if path.is_dir() else 0o600) for path, mode in modes.items())
    assert stat.S_IMODE((data / "files").stat().st_mode) == 0o700


def test_many_files_are_spread_over_many_folders(
    folder_files: Files, data: Path, tmp_path: Path
) -> None:
    source = a_file(tmp_path, b"a picture")
    for number in range(64):
        folder_files.put(f"prints/{number}.jpg", source)

    assert len(list((data / "files" / "prints").iterdir())) > 50


def test_a_file_of_a_process_that_is_at_it_is_not_taken_for_a_leftover(
    data: Path,
) -> None:
    at_it = Drafts(data / "files" / ".tmp")
    left = a_file(data / "files" / ".tmp", b"half a pic", name="left")

    with at_it.new() as draft:
        FolderFiles(data / "files")

        assert list_drafts(data) == [draft]
    assert not left.exists()


def test_a_disk_that_is_gone_does_not_look_like_missing_files(
    folder_files: Files, data: Path, tmp_path: Path
) -> None:
    folder_files.put(KEY, a_file(tmp_path, b"a picture"))
    (data / "files").rename(data / "unmounted")

    for ask in (folder_files.read, folder_files.delete, lambda _: list(folder_files.keys())):
        with pytest.raises(FilesUnavailable, match="is its disk mounted"):
            ask(KEY)
    with pytest.raises(FilesUnavailable, match="is its disk mounted"), folder_files.local(KEY):
        pass
    with pytest.raises(FilesUnavailable, match="cannot be used"):
        folder_files.put(KEY, tmp_path / "source")


def test_strange_things_in_the_folder_are_not_listed(
    folder_files: Files, data: Path, tmp_path: Path
) -> None:
    folder_files.put(KEY, a_file(tmp_path, b"a picture"))
    (data / "files" / "lost+found").mkdir()
    (data / "files" / "README").touch()
    next((data / "files" / "originals").iterdir()).joinpath(".DS_Store").touch()

    assert list(folder_files.keys()) == [KEY]


def test_a_folder_that_is_a_file_is_explained(data: Path, tmp_path: Path) -> None:
    place = a_file(tmp_path, b"")

    with pytest.raises(FilesUnavailable, match=f"{place} cannot be used: .*File exists"):
        open_files(Settings.load(data, {"PRINTWORKS_FILES": str(place)}))


FILL = """
import sys
from pathlib import Path
from printworks.files.errors import FilesUnavailable
from printworks.files.folder import FolderFiles

root, large, small = map(Path, sys.argv[1:])
files = FolderFiles(root)
files.put("prints/42.jpg", small)
try:
    files.put("prints/42.jpg", large)
except FilesUnavailable as error:
    print(error)
assert files.read("prints/42.jpg") == small.read_bytes()
assert not list((root / ".tmp").iterdir())
files.put("prints/42.jpg", small)
"""


def test_a_full_disk_is_explained_and_leaves_nothing_behind(tmp_path: Path) -> None:
    root = tmp_path / "disk"
    root.mkdir()
    large = a_file(tmp_path, b"x" * 4_000_000, name="large")
    small = a_file(tmp_path, b"a picture", name="small")
    mount = 'mount -t tmpfs -o size=1m tmpfs "$1" || exit 77; shift; exec "$@"'
    program = [sys.executable, "-c", FILL, str(root), str(large), str(small)]

    ended = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh", str(root), *program],
        capture_output=True,
        text=True,
        check=False,
    )

    if ended.returncode == 77 or "unshare" in ended.stderr:
        pytest.skip("This machine lets nobody mount a disk.")
    assert ended.stdout == f"The disk of {root} is full; make room.\n", ended.stderr
    assert ended.returncode == 0
