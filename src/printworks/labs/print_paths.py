"""The path of each print file in the folder of its job, for presses that sort by folder names."""

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from printworks.labs.documents import JobDocument, JobItem

# The other files in the folder of a job, written by us or by the lab.
JOB: Final = "job.json"
SHEET: Final = "sheet.html"
PACKING_SLIP: Final = "packing-slip"
TRACKING: Final = "tracking.txt"
REASON: Final = "reason.txt"
PRINTED: Final = "printed.json"
CANCELLED: Final = "CANCELLED.txt"

_FIELD: Final = re.compile(r"\{([a-z]+)(?::([^{}]+))?\}")
# Windows refuses these with any extension, and many presses run on Windows.
_DEVICES: Final = re.compile(r"(?i)(con|prn|aux|nul|com[0-9]|lpt[0-9])(\..*)?")
_LONGEST: Final = 60
_MM_PER_INCH: Final = 25.4


def place_prints(document: JobDocument, template: str) -> dict[str, PurePosixPath]:
    """Return the path of each print file in the job's folder, by its name in the document.

    Whatever the attributes contain, the path is below that folder, unique even if the file system
    ignores case, and valid on any file system.
    """
    places = {}
    used: set[str] = set()
    for item in document.items:
        ending = "".join(_tidy(end) for end in PurePosixPath(item.print.name).suffixes[-1:])
        folder, name = _fill(template, document, item)
        place = _find_free(folder, name, f".{ending}" if ending else "", used)
        used.add(str(place).casefold())
        places[item.print.name] = place
    return places


def place_slip(name: str) -> PurePosixPath:
    """Return the path of the packing slip that has this name in the document."""
    endings = PurePosixPath(name).suffixes[-1:]
    return PurePosixPath(PACKING_SLIP + "".join(f".{_tidy(end)}" for end in endings))


def describe_size(item: JobItem) -> str:
    """Return the size of a print in millimetres, the shorter side first: `102x152mm`."""
    sides = sorted(round(side / item.dpi * _MM_PER_INCH) for side in (item.width, item.height))
    return f"{sides[0]}x{sides[1]}mm"


def _fill(template: str, document: JobDocument, item: JobItem) -> tuple[PurePosixPath, str]:
    values = {
        "job": str(document.job),
        "image": str(item.image),
        "sku": item.sku,
        "size": describe_size(item),
        "copies": str(item.copies),
    }

    def fill(field: re.Match[str]) -> str:
        if field[1] == "attribute":
            return _tidy(_find_attribute(item.attributes, field[2]))
        return _tidy(values[field[1]])

    # Each part is filled on its own, and no value has a slash.
    *folders, name = (_tidy(_FIELD.sub(fill, part)) for part in template.split("/"))
    return PurePosixPath(*_avoid_reserved(folders)), name


def _find_attribute(attributes: Mapping[str, str], wanted: str) -> str:
    found = (value for name, value in attributes.items() if name.casefold() == wanted.casefold())
    return next(found, "")


def _avoid_reserved(folders: Iterable[str]) -> Iterator[str]:
    """Avoid the names of the other files in the folder of a job."""
    for place, folder in enumerate(folders):
        yield f"_{folder}" if place == 0 and "." in folder else folder


def _find_free(folder: PurePosixPath, name: str, ending: str, used: set[str]) -> PurePosixPath:
    taken = used if folder.parts else used | {JOB, SHEET, TRACKING, REASON, PRINTED}
    place, turn = folder / f"{name}{ending}", 1
    while str(place).casefold() in taken or place.name.startswith(f"{PACKING_SLIP}."):
        turn += 1
        place = folder / f"{name}-{turn}{ending}"
    return place


def _tidy(text: str) -> str:
    """Return a name that is valid on every file system, and neither hidden nor a path."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text)[:_LONGEST].strip(".-_") or "none"
    return f"_{plain}" if _DEVICES.fullmatch(plain) else plain
