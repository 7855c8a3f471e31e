"""The two stores, each empty: a folder, and a bucket of a real server."""

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from uuid import uuid4

import pytest

from printworks.files import open_files
from printworks.files.store import Files
from printworks.settings import Settings


@pytest.fixture(autouse=True)
def _no_variables_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    # The client of S3 looks at the environment itself, and this machine may have an account.
    for name in os.environ:
        if name.startswith("AWS_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")


@pytest.fixture(scope="session")
def s3_endpoint() -> Iterator[str]:
    """Address of an S3 server that has a bucket named `pictures`."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.files.s3_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        connection = HTTPConnection("127.0.0.1", port)
        connection.request("PUT", "/pictures")
        assert connection.getresponse().status == 200
        connection.close()
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def s3_environ(s3_endpoint: str) -> dict[str, str]:
    """What to set to keep files in a folder of the bucket that no other test uses."""
    return {
        "PRINTWORKS_FILES": f"s3://pictures/{uuid4().hex}",
        "PRINTWORKS_S3_ENDPOINT": s3_endpoint,
        "PRINTWORKS_S3_ACCESS_KEY_ID": "somebody",
        "PRINTWORKS_S3_SECRET_ACCESS_KEY": "hush",
    }


@pytest.fixture(params=["folder", "s3"])
def environ(request: pytest.FixtureRequest) -> Mapping[str, str]:
    """What to set for each of the stores; each test that asks runs on every one."""
    found: Mapping[str, str] = (
        request.getfixturevalue("s3_environ") if request.param == "s3" else {}
    )
    return found


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder."""
    return tmp_path / "data"


@pytest.fixture
def files(environ: Mapping[str, str], data: Path) -> Files:
    """An empty store."""
    return open_files(Settings.load(data, environ))


@pytest.fixture
def folder_files(data: Path) -> Files:
    """An empty folder store."""
    return open_files(Settings.load(data, {}))


@pytest.fixture
def s3_files(s3_environ: Mapping[str, str], data: Path) -> Files:
    """An empty S3 store."""
    return open_files(Settings.load(data, s3_environ))
