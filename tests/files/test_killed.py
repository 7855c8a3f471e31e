"""A process that is killed while it puts a file harms nobody."""

import os
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic

import pytest

from printworks.files import open_files
from printworks.settings import Settings
from tests.files.samples import KEY, MEGABYTE, a_file, list_drafts


@pytest.mark.slow
@pytest.mark.parametrize("finished", [1, 4])
def test_a_kill_in_the_middle_of_a_put_leaves_the_old_or_the_new_file(
    environ: Mapping[str, str], data: Path, tmp_path: Path, finished: int
) -> None:
    old = a_file(tmp_path, b"o" * 48 * MEGABYTE, name="old")
    new = a_file(tmp_path, b"n" * 48 * MEGABYTE, name="new")

    with subprocess.Popen(
        [sys.executable, "-m", "tests.files.victim", data, old, new],
        stdout=subprocess.PIPE,
        env={**os.environ, **environ},
    ) as victim:
        assert victim.stdout is not None
        # It says so before each put.
        for _ in range(finished + 1):
            assert victim.stdout.readline()
        deadline = monotonic() + 30
        while not is_half_done(environ, data):
            assert monotonic() < deadline
        victim.kill()
    files = open_files(Settings.load(data, environ))

    assert files.read(KEY) in {old.read_bytes(), new.read_bytes()}
    assert list_drafts(data) == []
    files.put(KEY, new)
    assert files.read(KEY) == new.read_bytes()


def is_half_done(environ: Mapping[str, str], data: Path) -> bool:
    """Look whether a part of the file is there: in a draft, or in an upload of several parts."""
    if not environ:
        with suppress(FileNotFoundError):
            return any(draft.stat().st_size > 0 for draft in list_drafts(data))
        return False
    server = environ["PRINTWORKS_S3_ENDPOINT"].removeprefix("http://")
    folder = environ["PRINTWORKS_FILES"].removeprefix("s3://pictures/")
    connection = HTTPConnection(server)
    connection.request("GET", f"/pictures?uploads&prefix={folder}")
    uploads = connection.getresponse().read()
    connection.close()
    return b"<Upload>" in uploads and folder.encode() in uploads
