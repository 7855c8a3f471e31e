"""What `make release` builds: complete, the same from the same commit, and true to its version."""

import hashlib
import ssl
import subprocess
import sys
import urllib.request
import zipfile
from pathlib import Path
from typing import Final

import pytest

from printworks import __version__
from release.bill import read_requirements, write_bill
from release.build import ROOT, build, check_agreement
from release.version import NotReleasable, read_version
from tests.commands import make_environment
from tests.running import find_free_port
from tests.worker.hosts import wait_until

NIGHT: Final = 1_800_000_000
REQUIREMENTS: Final = """\
aiohttp==3.14.5 \\
    --hash=sha256:0133
    # via printworks (pyproject.toml)
attrs==26.1.0 \\
    --hash=sha256:0134
    # via
    #   aiohttp
    #   jsonschema
pysqlite3==0.6.1 ; platform_machine != 'arm64' \\
    --hash=sha256:0135
    # via printworks (pyproject.toml)
psycopg[binary]==3.3.8 \\
    --hash=sha256:0136
"""


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the files as they are."""
    folder = tmp_path_factory.mktemp("dist")
    build(ROOT, folder, made_at=NIGHT)
    return folder


def find_wheel(dist: Path) -> Path:
    return dist / f"printworks-{__version__}-py3-none-any.whl"


def test_the_same_files_make_the_same_bytes(dist: Path, tmp_path: Path) -> None:
    again = build(ROOT, tmp_path, made_at=NIGHT)

    assert {file.name: file.read_bytes() for file in again} == {
        file.name: file.read_bytes() for file in dist.iterdir()
    }


def test_the_wheel_has_every_file_of_the_program(dist: Path) -> None:
    source = ROOT / "src"
    files = {
        str(file.relative_to(source))
        for file in source.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }

    with zipfile.ZipFile(find_wheel(dist)) as wheel:
        packed = {name for name in wheel.namelist() if name.startswith("printworks/")}

    assert packed == {name for name in files if name.startswith("printworks/")}


def test_the_checksums_are_those_of_the_files(dist: Path) -> None:
    lines = (dist / "SHA256SUMS").read_text().splitlines()

    listed = [line.split("  ") for line in lines]

    assert {name: checksum for checksum, name in listed} == {
        file.name: hashlib.sha256(file.read_bytes()).hexdigest()
        for file in dist.iterdir()
        if file.name != "SHA256SUMS"
    }


@pytest.mark.slow
def test_the_wheel_alone_shows_pages_and_sells(dist: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(find_wheel(dist)) as wheel:
        wheel.extractall(tmp_path / "installed")
    port = find_free_port()
    program = "from printworks.cli import main; main()"
    serve = ["serve", "--port", str(port), "--data", str(tmp_path / "data")]
    environment = make_environment({"PYTHONPATH": str(tmp_path / "installed")})
    where = subprocess.check_output(
        [sys.executable, "-c", "import printworks; print(printworks.__file__)"],
        env=environment,
        cwd=tmp_path,
        text=True,
    )
    assert where.startswith(str(tmp_path / "installed"))
    log = tmp_path / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-c", program, *serve],
            env=environment,
            cwd=tmp_path,
            stdout=output,
            stderr=output,
        )
    try:
        wait_until(lambda: process.poll() is not None or "Ctrl-C stops it." in log.read_text())
        answers = [_get(tmp_path, port, path) for path in ("/sign-in", "/v3.0/docs")]
    finally:
        process.terminate()
        process.wait(60)
    assert answers == [200, 200], log.read_text()


def _get(folder: Path, port: int, path: str) -> int:
    context = ssl.create_default_context(cafile=folder / "data" / "tls" / "ca.pem")
    with urllib.request.urlopen(f"https://localhost:{port}{path}", context=context) as answer:
        return int(answer.status)


def test_the_bill_of_materials_names_everything_that_is_installed() -> None:
    pinned = (ROOT / "requirements" / "runtime.txt").read_text()

    bill = write_bill(pinned, version=__version__, made_at=NIGHT)

    assert [part["name"] for part in bill["components"]] == [
        line.split("==")[0].split("[")[0]
        for line in pinned.splitlines()
        if "==" in line.split(";")[0]
    ]
    assert bill["metadata"]["component"]["version"] == __version__


def test_the_bill_of_materials_says_who_needs_what() -> None:
    assert [(one.name, one.version, one.needed_by) for one in read_requirements(REQUIREMENTS)] == [
        ("aiohttp", "3.14.5", ["printworks"]),
        ("attrs", "26.1.0", ["aiohttp", "jsonschema"]),
        ("pysqlite3", "0.6.1", ["printworks"]),
        ("psycopg", "3.3.8", []),
    ]
    bill = write_bill(REQUIREMENTS, version="1.0", made_at=NIGHT)
    assert bill["dependencies"][:2] == [
        {
            "ref": "pkg:pypi/printworks@1.0",
            "dependsOn": ["pkg:pypi/aiohttp@3.14.5", "pkg:pypi/pysqlite3@0.6.1"],
        },
        {"ref": "pkg:pypi/aiohttp@3.14.5", "dependsOn": ["pkg:pypi/attrs@26.1.0"]},
    ]


def test_version_and_changelog_agree_now() -> None:
    assert read_version(ROOT) == __version__
    check_agreement(__version__, (ROOT / "CHANGELOG.md").read_text(), [])


@pytest.mark.parametrize(
    ("changelog", "tags", "reason"),
    [
        ("# Changelog\n", [], "has no heading of a version"),
        ("## 1.1 (2027-01-31)\n\n## 1.2 (2027-02-01)\n", [], "begins with 1.1"),
        ("## 1.2 (2027-01-31)\n", ["v1.3"], "its tag must be v1.2"),
        ("## 1.2 (not released yet)\n", ["v1.2"], "write its day into CHANGELOG.md"),
    ],
)
def test_a_release_that_contradicts_itself_is_refused(
    changelog: str, tags: list[str], reason: str
) -> None:
    with pytest.raises(NotReleasable, match=reason):
        check_agreement("1.2", changelog, tags)


@pytest.mark.parametrize(
    ("changelog", "tags"),
    [
        ("## 1.2 (2027-01-31)\n", ["v1.2"]),
        ("## 1.2 (2027-01-31)\n", ["nightly", "v1.2"]),
        ("## 1.2 (not released yet)\n", []),
    ],
)
def test_a_release_that_agrees_with_itself_is_built(changelog: str, tags: list[str]) -> None:
    check_agreement("1.2", changelog, tags)
