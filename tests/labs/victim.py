"""A process that places one job after the other, until it is killed."""

import sys
from itertools import count
from pathlib import Path

import msgspec

from printworks.labs.documents import JobDocument
from printworks.labs.folder import FolderLab
from tests.labs.samples import name_of


def main(root: Path, source: Path, sha256: str) -> None:
    """Say which job is about to be placed, and place it; for ever."""
    lab = FolderLab(root, "prints/{image}")
    template = msgspec.json.decode((source.parent / "job.json").read_bytes(), type=JobDocument)
    (item,) = template.items
    print_file = msgspec.structs.replace(item.print, sha256=sha256)
    item = msgspec.structs.replace(item, print=print_file)
    for job in count(1):
        sys.stdout.write(f"{job}\n")
        sys.stdout.flush()
        document = msgspec.structs.replace(template, job=job, name=name_of(job), items=[item])
        lab.place(document, {item.print.name: source})


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3])
