"""The messages between image processor, zygote and child: one line of JSON each.

A malicious picture may have taken over its child, so the answers of a child are read strictly
and trusted only for that picture.
"""

from typing import Final, Literal

import msgspec

from printworks.imaging.formats import Format
from printworks.rules.mockups import MockupPlan
from printworks.rules.sizing import Box, CropPosition, Pixels, Sizing

MIB: Final = 1024 * 1024

PROXY: Final = "proxy.jpg"
PREVIEW: Final = "preview.jpg"
THUMBNAIL: Final = "thumbnail.jpg"
# The longest side of a preview, in pixels, unless another is asked for.
PREVIEW_EDGE: Final = 1200
PRINT: Final = "print.jpg"
MOCKUP: Final = "mockup.jpg"

Colour = Literal["none", "to-srgb", "embedded-profile", "default-cmyk-profile"]


class ProcessLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The resources that one picture may use."""

    memory: int
    # Seconds, because the kernel counts these in whole ones.
    cpu_seconds: int
    wall_seconds: float
    # Of each file that is written.
    file_size: int = 256 * MIB
    open_files: int = 32


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    format: Format
    # As a person sees it, after `orientation`.
    width: int
    height: int
    # The EXIF orientation, 1 to 8.
    orientation: int
    # Pixels per inch, as the file claims.
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
        """The size, for the sizing rules."""
        return Pixels(self.width, self.height)


class PrintPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to render the same print file again, byte for byte."""

    # The picture that was proofed; another size is another picture.
    picture: Pixels
    box: Box
    is_turned: bool
    # The whole print area, and the place of the picture on it.
    canvas: Pixels
    on_canvas: Box
    # `canvas` at this density is the print area.
    dpi: int
    # Where the merchant wanted the box to be; null is the middle.
    position: CropPosition | None = None


class PrepareTask(msgspec.Struct, frozen=True, kw_only=True, tag="prepare"):
    """Validate a picture, and render preview, thumbnail and perhaps a proxy in one decode."""

    source: str
    out: str
    limits: ProcessLimits
    # In inches, as fractions such as "50/127".
    area: tuple[str, str]
    sizing: Sizing
    with_proxy: bool
    position: CropPosition | None = None
    may_turn: bool = True


class ProofTask(msgspec.Struct, frozen=True, kw_only=True, tag="proof"):
    """Render preview and thumbnail from a proxy, for another product or sizing."""

    source: str
    out: str
    limits: ProcessLimits
    picture: Pixels
    area: tuple[str, str]
    sizing: Sizing
    position: CropPosition | None = None
    may_turn: bool = True
    # The longest side of the preview, in pixels.
    edge: int = PREVIEW_EDGE


class RenderTask(msgspec.Struct, frozen=True, kw_only=True, tag="render"):
    """Render the print file."""

    source: str
    out: str
    limits: ProcessLimits
    plan: PrintPlan


class MockupTask(msgspec.Struct, frozen=True, kw_only=True, tag="mockup"):
    """Draw a mockup from the preview of an image."""

    source: str
    out: str
    limits: ProcessLimits
    plan: MockupPlan


Task = PrepareTask | ProofTask | RenderTask | MockupTask


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """The first message of a zygote: it is ready, and its children will be confined by these."""

    # The version of the kernel's interface, 0 without one.
    landlock: int
    seccomp: bool


class RenderingDone(msgspec.Struct, frozen=True, kw_only=True, tag="done"):
    """The files are written."""

    facts: Facts | None = None
    colour: Colour = "none"
    library: str = ""


class RenderingRefused(msgspec.Struct, frozen=True, kw_only=True, tag="refused"):
    """The picture cannot be printed, for this reason."""

    reason: str


class Failed(msgspec.Struct, frozen=True, kw_only=True, tag="failed"):
    """The machine is the cause, such as a full disk."""

    reason: str


Answer = RenderingDone | RenderingRefused | Failed


class Cost(msgspec.Struct, frozen=True, kw_only=True):
    """The resources that a child used."""

    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0
    peak_memory: int = 0


class ChildReport(msgspec.Struct, frozen=True, kw_only=True):
    """The report of the zygote on a child that has ended."""

    # What the child wrote, not validated yet.
    line: str
    # Which signal ended it, if one did.
    signal: int | None
    was_late: bool
    cost: Cost
