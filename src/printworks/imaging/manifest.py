"""From what, and how, a print file was made: enough to make the same bytes again."""

import hashlib
from fractions import Fraction
from pathlib import Path

import msgspec

from printworks.imaging.messages import Colour, PrintPlan
from printworks.rules.sizing import Placement


class Manifest(msgspec.Struct, frozen=True, kw_only=True):
    """Stored with the image, and sent to the lab beside the print file."""

    source_sha256: str
    plan: PrintPlan
    colour: Colour
    output_sha256: str
    # The same release of the library writes the same bytes; another may not.
    library: str


def plan_print(placement: Placement, *, most_dpi: int = 300) -> PrintPlan:
    """Decide on the pixels of a print file: as dense as wanted, and never enlarged.

    The density is a whole number, because the header of a JPEG knows no other; so the canvas
    differs from the print area by half a pixel at most. (A picture with less than one pixel
    on an inch is the exception: the header cannot say that either, and it is enlarged.)
    """
    dpi = max(1, min(most_dpi, int(placement.effective_dpi)))
    canvas = placement.canvas(Fraction(dpi))
    return PrintPlan(
        picture=placement.picture,
        box=placement.box,
        is_turned=placement.is_turned,
        canvas=canvas,
        on_canvas=placement.on(canvas),
        dpi=dpi,
    )


def find_sha256(path: Path) -> str:
    """Return the hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
