"""How a picture is placed on the print area of a product, and how much of it is lost.

The numbers are exact: the proof and the print file are rendered from the same ones.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from fractions import Fraction
from functools import lru_cache
from typing import Final, NamedTuple, Self

from printworks.errors import BadInput


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
    # Whether a picture may lie on its side on it: a mug has an upper edge, a flat print has none.
    may_turn: bool = True

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
        return PrintArea(self.height, self.width, self.may_turn)

    @property
    def long_side(self) -> Fraction:
        return max(self.width, self.height)


class Box(NamedTuple):
    """A rectangle of whole pixels."""

    left: int
    top: int
    width: int
    height: int


class CropPosition(NamedTuple):
    """Which part of a picture fills the print area, if that is not its middle.

    Across and down as in CSS `object-position`: 0 shows the left or upper edge of the upright
    picture, 1 the right or lower one. Zoom 1 shows as much as fills the print area, 2 half of that
    in each direction.
    """

    x: float = 0.5
    y: float = 0.5
    zoom: float = 1.0

    @classmethod
    def of(cls, values: Mapping[str, float]) -> Self:
        """Make one of its members, as they are stored; what is left out is as in the middle."""
        return cls(**values)

    def to_members(self) -> dict[str, float]:
        """Return its members, rounded to what makes no difference on any picture."""
        return {
            name: round(float(value), POSITION_DIGITS) for name, value in self._asdict().items()
        }


class Layout(NamedTuple):
    """How a picture is to be laid on a print area."""

    area: PrintArea
    sizing: Sizing
    # Only a picture that is cropped needs one.
    position: CropPosition | None = None


# What the members of a position may be.
POSITION_RANGES: Final[Mapping[str, tuple[int, int]]] = {"x": (0, 1), "y": (0, 1), "zoom": (1, 4)}
# Of a picture with 30,000 pixels, three pixels.
POSITION_DIGITS: Final = 4


def check_position(position: CropPosition) -> None:
    """Refuse a position that is out of range, with a sentence for each member."""
    wrong = [
        f"`placement.{name}` must be a number from {least} to {most}."
        for name, (least, most) in POSITION_RANGES.items()
        if not least <= getattr(position, name) <= most
    ]
    if wrong:
        raise BadInput(" ".join(wrong))


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
    # Where the box was asked to be; None is in the middle. Only a picture that is cropped has one.
    position: CropPosition | None = None

    @property
    def printed(self) -> Pixels:
        """The size of the printed part, as on the paper."""
        size = Pixels(self.box.width, self.box.height)
        return size.turned() if self.is_turned else size

    @property
    def upright(self) -> "Placement":
        """The same as people look at it: the paper is turned instead of the picture."""
        if not self.is_turned:
            return self
        covers = Share(self.covers.height, self.covers.width)
        return replace(self, area=self.area.turned(), covers=covers, is_turned=False)

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
        zoom = 1 if self.position is None else _exact(self.position.zoom)
        # The recommendation of a product may be of a slightly different shape than its area;
        # a picture that follows it to the letter is never too small.
        if (
            picture.width >= recommended.width * zoom
            and picture.height >= recommended.height * zoom
        ):
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
def place(
    picture: Pixels, area: PrintArea, sizing: Sizing, position: CropPosition | None = None
) -> Placement:
    """Place a picture on a print area, turned if that fits better and is allowed.

    A position matters only if the picture is cropped: otherwise all of it is shown.
    """
    fits_better = mismatch(picture.turned(), area) < mismatch(picture, area)
    is_turned = area.may_turn and fits_better
    # All is calculated for the upright picture; the paper is turned instead.
    paper = area.turned() if is_turned else area
    position = position if sizing is Sizing.CROP else None
    box = _crop(picture, paper, position) if sizing is Sizing.CROP else Box(0, 0, *picture)
    covers = _fit(picture, paper) if sizing is Sizing.SHRINK_TO_FIT else _ALL
    return Placement(
        picture=picture,
        area=area,
        sizing=sizing,
        is_turned=is_turned,
        box=box,
        covers=Share(covers.height, covers.width) if is_turned else covers,
        position=position,
    )


@lru_cache(REMEMBERED)
def mismatch(picture: Pixels, area: PrintArea) -> Fraction:
    """How many times wider or narrower the picture is than the area; 1 is the same shape."""
    ratio = Fraction(picture.width, picture.height) / (area.width / area.height)
    return max(ratio, 1 / ratio)


def _crop(picture: Pixels, paper: PrintArea, position: CropPosition | None) -> Box:
    x, y, zoom = map(_exact, position or CropPosition())
    ratio = paper.width / paper.height
    width = _whole(min(Fraction(picture.width), picture.height * ratio) / zoom)
    height = _whole(min(Fraction(picture.height), picture.width / ratio) / zoom)
    left, top = (picture.width - width) * x, (picture.height - height) * y
    return Box(int(left), int(top), width, height)


def _fit(picture: Pixels, paper: PrintArea) -> Share:
    ratio = Fraction(picture.width, picture.height) / (paper.width / paper.height)
    return Share(min(Fraction(1), ratio), min(Fraction(1), 1 / ratio))


def _exact(number: float) -> Fraction:
    """Return the decimal that was meant: 0.1, not the number that a computer has for it."""
    return Fraction(number).limit_denominator(10**POSITION_DIGITS)


def _whole(length: Fraction) -> int:
    """Round half up, and never to zero."""
    return max(1, int(length + Fraction(1, 2)))
