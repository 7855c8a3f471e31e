"""A shop on a disk that is full, and then is not. Run as a program that may mount a disk.

Its arguments are an empty folder, the one of `tmp` and `files` that is on the small disk, and
how many bytes are free there. It prints what became of an image while the disk was full and
once there was room.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import structlog

from printworks.imaging.processor import ImageProcessor
from printworks.rules.jobs import JobKind
from printworks.store.engine.database import Database
from printworks.store.tables import schema
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, Shop, open_shop

SIZE: Final = 4 * 1024 * 1024


def fill(disk: Path, *, leave: int) -> Path:
    """Leave that much room on a disk; delete the file to have it all again."""
    filler = disk / "filler"
    filler.write_bytes(bytes(SIZE // 2))
    with filler.open("ab", buffering=0) as file:
        try:
            while file.write(bytes(4096)):
                pass
        except OSError:
            pass
        file.truncate(file.tell() - leave)
    return filler


def describe(shop: Shop, image_id: int) -> dict[str, Any]:
    """Say how the image and its job are."""
    image, job = shop.image(image_id), shop.job(JobKind.FETCH_IMAGE)
    return {
        "image": image.status,
        "message": image.error_message,
        "job": job.state,
        "attempts": job.attempts,
        "wait": (job.due_at - shop.clock()).total_seconds(),
        "why": job.last_error,
        "asked": len(shop.host.asked),
    }


def main(folder: Path, name: str, leave: int) -> None:
    """Play the scene."""
    disk = folder / name
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(disk)]
    subprocess.run(mount, check=True)
    database = Database(f"sqlite:///{folder / 'printworks.db'}")
    schema.migrate(database)
    with (
        ImageProcessor(slots=1) as processor,
        open_shop(database, folder, processor, disk_floor="0") as shop,
    ):
        order = shop.add_order()
        [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        filler = fill(disk, leave=leave)
        shop.drain()
        full = describe(shop, image)
        filler.unlink()
        shop.pass_time(minutes=1)
        said = {"full": full, "roomy": describe(shop, image)}
    database.close()
    sys.stdout.write(json.dumps(said))


if __name__ == "__main__":
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
