"""What the studio, the zygote and the child say to one another: one JSON line each.

A child may have been taken over by the picture it was given, so whatever comes from it is
read strictly and believed only as far as it concerns that picture.
"""

from typing import Final, Literal

import msgspec

from printworks.imaging.formats import Format
from printworks.rules.sizing import Box, Pixels, Sizing

MIB: Final = 1024 * 1024

PROXY: Final = "proxy.jpg"
PREVIEW: Final = "preview.jpg"
THUMBNAIL: Final = "thumbnail.jpg"
PRINT: Final = "print.jpg"

Colour = Literal["none", "to-srgb", "embedded-profile", "default-cmyk-profile"]


class ProcessLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one picture may cost."""

    memory: int
    # Seconds, because the kernel counts these in whole ones.
    cpu_seconds: int
    wall_seconds: float
    # Of each file that is written.
    file_size: int = 256 * MIB
    open_files: int = 32


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """What a picture is."""

    format: Format
    # As a person sees it, after `orientation`.
    width: int
    height: int
    # The camera's note of how it was held, 1 to 8.
    orientation: int
    # Pixels on an inch, as the file claims.
    dpi: float
    # As the library names it: srgb, b-w, cmyk, rgb16 and so on.
    colour_space: str
    bands: int
    has_alpha: bool
    has_profile: bool
    # What was done to arrive at sRGB.
    colour: Colour

    @property
    def pixels(self) -> Pixels:
        """Its size, for the sizing rules."""
        return Pixels(self.width, self.height)


class PrintPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to draw a print file again, to the last byte."""

    # The picture that was proofed; another size is another picture.
    picture: Pixels
    box: Box
    is_turned: bool
    # The whole print area, and where on it the picture lies.
    canvas: Pixels
    on_canvas: Box
    # `canvas` at this density is the print area.
    dpi: int


class PrepareTask(msgspec.Struct, frozen=True, kw_only=True, tag="prepare"):
    """Judge a picture, and make preview, thumbnail and perhaps a proxy in one decode."""

    source: str
    out: str
    limits: ProcessLimits
    formats: frozenset[Format]
    # In inches, as a fraction in words such as "50/127".
    area: tuple[str, str]
    sizing: Sizing
    with_proxy: bool


class ProofTask(msgspec.Struct, frozen=True, kw_only=True, tag="proof"):
    """Make preview and thumbnail from a proxy, for another product or sizing rule."""

    source: str
    out: str
    limits: ProcessLimits
    picture: Pixels
    area: tuple[str, str]
    sizing: Sizing


class RenderTask(msgspec.Struct, frozen=True, kw_only=True, tag="render"):
    """Draw the print file."""

    source: str
    out: str
    limits: ProcessLimits
    plan: PrintPlan


Task = PrepareTask | ProofTask | RenderTask


class Ready(msgspec.Struct, frozen=True, kw_only=True):
    """The first word of a zygote: it can be asked, and children will be confined this far."""

    # The version of the kernel's interface, 0 when there is none.
    landlock: int
    seccomp: bool


class DrawingDone(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """The files are written."""

    facts: Facts | None = None
    colour: Colour = "none"
    library: str = ""


class DrawingRefused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """The picture is at fault, and this sentence says how."""

    reason: str


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """Something else is at fault, such as a full disk."""

    reason: str


Answer = DrawingDone | DrawingRefused | Failed


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """What a child used up."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_memory: int = 0


class DrawingReport(msgspec.Struct, frozen=True, kw_only=True):
    """What the zygote says when a child has ended."""

    # What the child wrote, not yet believed.
    line: str
    # Which signal ended it, if one did.
    signal: int | None
    was_late: bool
    cost: Cost
