"""The manifest of a print file: what is needed to render the same bytes again."""

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
    # Only the same release of the library is sure to write the same bytes.
    library: str


def plan_print(placement: Placement, *, most_dpi: int = 300) -> PrintPlan:
    """Plan the pixels of a print file: at the wanted density, but never enlarged.

    The density is a whole number, as the header of a JPEG requires; so the canvas
    differs from the print area by half a pixel at most. (A picture with less than one pixel
    per inch is the exception: it is enlarged.)
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
        position=placement.position,
    )


def find_sha256(path: Path) -> str:
    """Return the hash of a file's content."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
