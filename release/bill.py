"""The bill of materials of a release (CycloneDX), from the requirements that it is installed with.

`python -m release.bill` prints that of the files in this folder.
"""

import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple
from uuid import NAMESPACE_URL, uuid5

from release.version import read_version

_PIN = re.compile(
    r"(?P<name>[A-Za-z0-9._-]+)(\[[^]]*])?==(?P<version>[^\s;]+)(?P<marker> ; .*?)?\s*\\?"
)


class Package(NamedTuple):
    """A pinned package, and which packages need it; the first level is needed by the project."""

    name: str
    version: str
    needed_by: Sequence[str]

    @property
    def address(self) -> str:
        """Its package URL."""
        return f"pkg:pypi/{self.name}@{self.version}"


def read_requirements(text: str) -> list[Package]:
    """Read what `make lock` wrote: pins, and behind each, in comments, who needs it."""
    packages: list[Package] = []
    for line in text.splitlines():
        if found := _PIN.fullmatch(line):
            packages.append(Package(found["name"], found["version"], []))
        elif line.lstrip().startswith("#") and packages:
            needs = line.replace("# via", "").strip(" #")
            name = "printworks" if needs.startswith("printworks") else needs
            packages[-1] = packages[-1]._replace(
                needed_by=[*packages[-1].needed_by, *filter(None, [name])]
            )
    return packages


def write_bill(requirements: str, *, version: str, made_at: int) -> Mapping[str, Any]:
    """Describe a release and everything that is installed with it."""
    packages = read_requirements(requirements)
    project = Package("printworks", version, [])
    identity = "\n".join(package.address for package in (project, *packages))
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, identity)}",
        "version": 1,
        "metadata": {
            "timestamp": datetime.fromtimestamp(made_at, UTC).isoformat(),
            "component": {**_describe(project, "application"), "licenses": [_OWN_LICENSE]},
        },
        "components": [_describe(package, "library") for package in packages],
        "dependencies": [
            {
                "ref": one.address,
                "dependsOn": [b.address for b in packages if one.name in b.needed_by],
            }
            for one in (project, *packages)
        ],
    }


_OWN_LICENSE = {"license": {"id": "Apache-2.0"}}


def _describe(package: Package, kind: str) -> dict[str, Any]:
    return {
        "type": kind,
        "bom-ref": package.address,
        "name": package.name,
        "version": package.version,
        "purl": package.address,
    }


def main() -> None:
    """Print the bill of materials of the files in this folder."""
    source = Path(__file__).parents[1]
    pinned = (source / "requirements" / "runtime.txt").read_text()
    made_at = int(os.environ.get("SOURCE_DATE_EPOCH", "0"))
    bill = write_bill(pinned, version=read_version(source), made_at=made_at)
    sys.stdout.write(json.dumps(bill, indent=1) + "\n")


if __name__ == "__main__":
    main()
