"""Builds a release from the commit that is checked out: `make release`.

Same commit, same bytes: the files come from git and not from the folder, and every time in
them is that of the commit.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterable
from contextlib import chdir
from io import BytesIO
from pathlib import Path
from typing import Final
from unittest.mock import patch

from flit_core import buildapi

from release.bill import write_bill
from release.version import NotReleasable, read_version

ROOT: Final = Path(__file__).parents[1]
# `## 1.2.3 (2027-01-31)`, or `(not released yet)` until it has a tag.
HEADING: Final = re.compile(r"^## (?P<version>\d\S*) \((?P<day>[^)]+)\)$", re.MULTILINE)
DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")


def check_agreement(version: str, changelog: str, tags: Iterable[str]) -> None:
    """Raise `NotReleasable` unless version, changelog and the tags of the commit agree."""
    heading = HEADING.search(changelog)
    if heading is None or heading["version"] != version:
        found = "has no heading of a version" if heading is None else f"begins with {heading[1]}"
        raise NotReleasable(
            f"The version is {version}, and CHANGELOG.md {found}; its first heading must be "
            f"`## {version} (YYYY-MM-DD)`."
        )
    versions = [tag for tag in tags if re.match(r"v\d", tag)]
    if versions and versions != [f"v{version}"]:
        raise NotReleasable(
            f"The version is {version}, and this commit is tagged {', '.join(versions)}; "
            f"its tag must be v{version}."
        )
    if versions and not DAY.fullmatch(heading["day"]):
        raise NotReleasable(
            f"v{version} is tagged; write its day into CHANGELOG.md: `## {version} (YYYY-MM-DD)`."
        )


def build(source: Path, into: Path, *, made_at: int) -> list[Path]:
    """Build wheel, source archive, requirements, bill of materials and checksums from a tree."""
    version = read_version(source)
    into.mkdir(parents=True, exist_ok=True)
    with chdir(source), patch.dict(os.environ, SOURCE_DATE_EPOCH=str(made_at)):
        made = [into / buildapi.build_wheel(str(into)), into / buildapi.build_sdist(str(into))]
    pinned = (source / "requirements" / "runtime.txt").read_text()
    made.append(into / f"printworks-{version}-requirements.txt")
    made[-1].write_text(pinned)
    bill = write_bill(pinned, version=version, made_at=made_at)
    made.append(into / f"printworks-{version}.cdx.json")
    made[-1].write_text(json.dumps(bill, indent=1) + "\n")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in made]
    made.append(into / "SHA256SUMS")
    made[-1].write_text("".join(lines))
    return made


def main() -> None:
    """Build the commit that is checked out into `dist`."""
    version = read_version(ROOT)
    check_agreement(version, _git("show", "HEAD:CHANGELOG.md").decode(), _list_tags())
    made_at = int(_git("show", "--no-patch", "--format=%ct", "HEAD"))
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=BytesIO(_git("archive", "HEAD"))) as archive:
            archive.extractall(folder, filter="data")
        made = build(Path(folder), dist, made_at=made_at)
    tagged = f"v{version}" in _list_tags()
    what = f"release {version}" if tagged else f"{version}, which has no tag yet"
    sys.stdout.write(f"Built {what}:\n" + "".join(f"  dist/{file.name}\n" for file in made))
    if _git("status", "--porcelain"):
        sys.stdout.write("What is changed and not committed is not in it.\n")


def _list_tags() -> list[str]:
    return _git("tag", "--points-at", "HEAD").decode().split()


def _git(*words: str) -> bytes:
    return subprocess.run(["git", *words], cwd=ROOT, check=True, capture_output=True).stdout


if __name__ == "__main__":
    try:
        main()
    except NotReleasable as error:
        sys.exit(f"make release: {error}")
