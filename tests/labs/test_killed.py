"""A process that is killed while it places a job leaves nothing for the lab to print."""

import hashlib
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from time import monotonic

import msgspec
import pytest

from printworks.labs.documents import JobFile
from printworks.labs.folder import FolderLab
from tests.labs.samples import a_job, an_item, name_of

SIZE = 64_000_000


@pytest.mark.slow
@pytest.mark.parametrize("finished", [0, 2])
def test_a_kill_in_the_middle_of_placing_leaves_only_whole_jobs_in_the_inbox(
    root: Path, tmp_path: Path, finished: int
) -> None:
    source = tmp_path / "print"
    source.write_bytes(b"p" * SIZE)
    sha256 = hashlib.sha256(source.read_bytes()).hexdigest()
    (tmp_path / "job.json").write_bytes(msgspec.json.encode(a_job(items=[an_item()])))

    with subprocess.Popen(
        [sys.executable, "-m", "tests.labs.victim", root, source, sha256],
        stdout=subprocess.PIPE,
        text=True,
    ) as victim:
        assert victim.stdout is not None
        for _ in range(finished + 1):
            begun = int(victim.stdout.readline())
        deadline = monotonic() + 60
        while not is_half_done(root / ".tmp" / name_of(begun)):
            assert monotonic() < deadline
        victim.kill()

    whole = list((root / "inbox").iterdir())
    assert finished <= len(whole) <= begun + 1
    for job in whole:
        assert (job / "job.json").stat().st_size > 0
        assert (job / "prints" / "501.jpg").stat().st_size == SIZE

    item = an_item(print=JobFile(name="501.jpg", sha256=sha256))
    again = a_job(begun, items=[item])
    FolderLab(root, "prints/{image}").place(again, {"501.jpg": source})
    assert (root / "inbox" / name_of(begun) / "prints" / "501.jpg").stat().st_size == SIZE
    assert not (root / ".tmp" / name_of(begun)).exists()


def is_half_done(draft: Path) -> bool:
    """Look whether a part of a print file is there."""
    with suppress(FileNotFoundError):
        return 0 < (draft / "prints" / "501.jpg").stat().st_size < SIZE
    return False
