"""How a picture is placed on the print area of a product, and how much of it is lost.

The numbers are exact: the proof and the print file are rendered from the same ones.
"""

from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple


class Sizing(StrEnum):
    """What to do when the picture and the print area differ in shape."""

    CROP = "Crop"
    SHRINK_TO_FIT = "ShrinkToFit"
    SHRINK_TO_EXACT_FIT = "ShrinkToExactFit"


class Units(StrEnum):
    """What the sides of a product are measured in."""

    INCHES = "inches"
    CM = "cm"


IN_INCHES: Final = {Units.INCHES: Fraction(1), Units.CM: Fraction(50, 127)}

# Exact numbers are slow, and most pictures have the size of a camera, on a few products.
REMEMBERED: Final = 4096

# A picture whose shape differs more than this from the print area gets a warning.
SHAPE_TOLERANCE: Final = Fraction(1, 100)


class Pixels(NamedTuple):
    """How many pixels something has, across and down."""

    width: int
    height: int

    def turned(self) -> "Pixels":
        """The same, rotated by 90 degrees."""
        return Pixels(self.height, self.width)

    def __str__(self) -> str:
        return f"{self.width}x{self.height}"


class PrintArea(NamedTuple):
    """What is printed on, in inches; exact, so that no ratio is ever rounded."""

    width: Fraction
    height: Fraction

    @classmethod
    @lru_cache(REMEMBERED)
    def of(
        cls, width: int | str | Decimal, height: int | str | Decimal, units: Units
    ) -> "PrintArea":
        """Convert two sides from the catalogue, such as 29.7 cm."""
        inch = IN_INCHES[units]
        return cls(Fraction(width) * inch, Fraction(height) * inch)

    def turned(self) -> "PrintArea":
        """The same, rotated by 90 degrees."""
        return PrintArea(self.height, self.width)


class Box(NamedTuple):
    """A rectangle of whole pixels."""

    left: int
    top: int
    width: int
    height: int


class Share(NamedTuple):
    """How much of the print area is covered, from 0 to 1 each way; always in the middle."""

    width: Fraction
    height: Fraction


_ALL: Final = Share(Fraction(1), Fraction(1))


@dataclass(frozen=True, slots=True)
class Placement:
    """A picture placed on a print area."""

    # As a person sees it, after the EXIF orientation.
    picture: Pixels
    area: PrintArea
    sizing: Sizing
    # By a quarter, clockwise, after cropping.
    is_turned: bool
    # The part of the picture that is printed, before it is turned.
    box: Box
    # The part of the print area that it covers; the rest stays white.
    covers: Share

    @property
    def printed(self) -> Pixels:
        """The size of the printed part, as on the paper."""
        size = Pixels(self.box.width, self.box.height)
        return size.turned() if self.is_turned else size

    @property
    def densities(self) -> tuple[Fraction, Fraction]:
        """Pixels of the picture per inch of paper, across and down."""
        return (
            self.printed.width / (self.area.width * self.covers.width),
            self.printed.height / (self.area.height * self.covers.height),
        )

    @property
    def effective_dpi(self) -> Fraction:
        """Pixels per inch of paper, in the direction that has fewer."""
        return min(self.densities)

    @property
    def percent_lost(self) -> Fraction:
        """How much of the picture is cut off."""
        kept = Fraction(self.box.width * self.box.height, self.picture.width * self.picture.height)
        return 100 * (1 - kept)

    @property
    def will_be_cropped(self) -> bool:
        """Whether the shapes differ by more than one per cent: it is cropped, squashed or framed."""
        picture = self.picture.turned() if self.is_turned else self.picture
        return mismatch(picture, self.area) - 1 > SHAPE_TOLERANCE

    def is_too_small(self, recommended: Pixels) -> bool:
        """Whether the printed part has fewer pixels than recommended for what it covers."""
        picture = self.picture.turned() if self.is_turned else self.picture
        # The recommendation of a product may be of a slightly different shape than its area;
        # a picture that follows it to the letter is never too small.
        if picture.width >= recommended.width and picture.height >= recommended.height:
            return False
        return (
            self.printed.width < recommended.width * self.covers.width
            or self.printed.height < recommended.height * self.covers.height
        )

    def canvas(self, dpi: Fraction) -> Pixels:
        """The whole print area, margins included, in pixels of this density."""
        return Pixels(_whole(self.area.width * dpi), _whole(self.area.height * dpi))

    def on(self, canvas: Pixels) -> Box:
        """The place of the picture on a canvas with the shape of the print area."""
        width = _whole(canvas.width * self.covers.width)
        height = _whole(canvas.height * self.covers.height)
        return Box((canvas.width - width) // 2, (canvas.height - height) // 2, width, height)


@lru_cache(REMEMBERED)
def place(picture: Pixels, area: PrintArea, sizing: Sizing) -> Placement:
    """Place a picture on a print area, turned if that fits better."""
    is_turned = mismatch(picture.turned(), area) < mismatch(picture, area)
    # All is calculated for the upright picture; the paper is turned instead.
    paper = area.turned() if is_turned else area
    box = _crop(picture, paper) if sizing is Sizing.CROP else Box(0, 0, *picture)
    covers = _fit(picture, paper) if sizing is Sizing.SHRINK_TO_FIT else _ALL
    return Placement(
        picture=picture,
        area=area,
        sizing=sizing,
        is_turned=is_turned,
        box=box,
        covers=Share(covers.height, covers.width) if is_turned else covers,
    )


@lru_cache(REMEMBERED)
def mismatch(picture: Pixels, area: PrintArea) -> Fraction:
    """How many times wider or narrower the picture is than the area; 1 is the same shape."""
    ratio = Fraction(picture.width, picture.height) / (area.width / area.height)
    return max(ratio, 1 / ratio)


def _crop(picture: Pixels, paper: PrintArea) -> Box:
    ratio = paper.width / paper.height
    width = min(picture.width, _whole(picture.height * ratio))
    height = min(picture.height, _whole(picture.width / ratio))
    return Box((picture.width - width) // 2, (picture.height - height) // 2, width, height)


def _fit(picture: Pixels, paper: PrintArea) -> Share:
    ratio = Fraction(picture.width, picture.height) / (paper.width / paper.height)
    return Share(min(Fraction(1), ratio), min(Fraction(1), 1 / ratio))


def _whole(length: Fraction) -> int:
    """Round half up, and never to zero."""
    return max(1, int(length + Fraction(1, 2)))
