"""Draws shapes, shadows and pictures in perspective, for mockups.

Only for use in a jailed child.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import pairwise
from math import ceil, cos, floor, pi, sin
from typing import Any, Final, NamedTuple

import pyvips

from printworks.rules.mockups import Rgb

# The sides of a mockup, in pixels.
SIDE: Final = 800
# Shapes are drawn this many times larger and made smaller, so that their edges are smooth.
_FINER: Final = 3
# From here on, blurring is done on a quarter of the pixels each way.
_COARSE: Final = 8
# Points along a curve.
_STEPS: Final = 24
_TILE: Final = 160
_SHADOW: Final[Rgb] = (38, 34, 30)

# The library operations that mockups need, to be looked up beforehand.
OPERATIONS: Final = (
    "bandjoin",
    "extract_band",
    "gaussblur",
    "gaussnoise",
    "ifthenelse",
    "insert",
    "linear",
    "mapim",
    "shrink",
    "xyz",
)

Point = tuple[float, float]
Outline = Sequence[Point]


def rectangle(left: float, top: float, width: float, height: float) -> Outline:
    right, bottom = left + width, top + height
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


def rounded(left: float, top: float, width: float, height: float, radius: float) -> Outline:
    """Return a rectangle with rounded corners."""
    right, bottom, r = left + width, top + height, radius
    corners = [
        (right - r, top + r, -90),
        (right - r, bottom - r, 0),
        (left + r, bottom - r, 90),
        (left + r, top + r, 180),
    ]
    return [
        (x + r * cos(angle), y + r * sin(angle))
        for x, y, first in corners
        for angle in ((first + 90 * step / _STEPS) * pi / 180 for step in range(_STEPS + 1))
    ]


def ellipse(x: float, y: float, across: float, down: float) -> Outline:
    """Return an ellipse by its middle and its radii."""
    angles = (2 * pi * step / (4 * _STEPS) for step in range(4 * _STEPS))
    return [(x + across * cos(angle), y + down * sin(angle)) for angle in angles]


def curve(start: Point, towards: Point, end: Point) -> Outline:
    """Return a quadratic curve."""
    points = []
    for step in range(_STEPS + 1):
        t = step / _STEPS
        a, b, c = (1 - t) ** 2, 2 * t * (1 - t), t**2
        points.append(
            (
                a * start[0] + b * towards[0] + c * end[0],
                a * start[1] + b * towards[1] + c * end[1],
            )
        )
    return points


def fill(*outlines: Outline) -> Any:
    """Return a mask of what is inside: 255 there, 0 elsewhere; an outline in another is a hole."""
    points = [point for outline in outlines for point in outline]
    left, top = (max(0, floor(min(point[axis] for point in points))) for axis in (0, 1))
    right, bottom = (min(SIDE, ceil(max(point[axis] for point in points))) for axis in (0, 1))
    rows: list[list[float]] = [[] for _ in range((bottom - top) * _FINER)]
    for outline in outlines:
        moved = [((x - left) * _FINER, (y - top) * _FINER) for x, y in outline]
        for start, end in pairwise([*moved, moved[0]]):
            _cross(rows, start, end)
    image = _fill_rows(rows, (right - left) * _FINER).shrink(_FINER, _FINER)
    return image.embed(left, top, SIDE, SIDE, extend="black").copy_memory()


def _fill_rows(rows: list[list[float]], width: int) -> Any:
    mask = bytearray(len(rows) * width)
    for y, crossings in enumerate(rows):
        crossings.sort()
        for left, right in zip(crossings[::2], crossings[1::2], strict=False):
            first, last = max(0, round(left)), min(width, round(right))
            if first < last:
                mask[y * width + first : y * width + last] = b"\xff" * (last - first)
    return pyvips.Image.new_from_memory(mask, width, len(rows), 1, "uchar")


def _cross(rows: list[list[float]], start: Point, end: Point) -> None:
    """Add to each row where the line crosses it."""
    (x0, y0), (x1, y1) = sorted((start, end), key=lambda point: point[1])
    if y0 == y1:
        return
    slope = (x1 - x0) / (y1 - y0)
    for y in range(max(0, round(y0)), min(len(rows), round(y1))):
        rows[y].append(x0 + (y + 0.5 - y0) * slope)


def paint(base: Any, colour: Any, mask: Any) -> Any:
    """Cover the base with a colour or an image of the same size, where the mask is."""
    covering = list(colour) if isinstance(colour, tuple) else colour
    return mask.ifthenelse(covering, base, blend=True).copy_memory()


def cast_shadow(base: Any, mask: Any, *, blur: float, shift: Point, strength: float) -> Any:
    """Darken what lies behind something: softer the further it is away."""
    across, down = (round(length) for length in shift)
    moved = mask.embed(across, down, SIDE, SIDE, extend="black") if across or down else mask
    return paint(base, _SHADOW, (_blur(moved, blur) * strength).cast("uchar"))


def _blur(image: Any, by: float) -> Any:
    """Blur an image; by much, when it is smaller, which looks the same and is faster."""
    if by < _COARSE:
        return image.gaussblur(by)
    return image.shrink(4, 4).gaussblur(by / 4).resize(4, kernel="linear")


def lit_wall(colour: Rgb = (234, 232, 228)) -> Any:
    """Return a plain wall with light from the upper left."""
    x, y = _coordinates()
    distance = (((x - 0.34 * SIDE) ** 2 + (y - 0.26 * SIDE) ** 2) ** 0.5) / SIDE
    return shade(plain(colour), 1.035 - 0.13 * distance)


def plain(colour: Rgb) -> Any:
    return (pyvips.Image.black(SIDE, SIDE, bands=3) + list(colour)).cast("uchar")


def shade(image: Any, light: Any) -> Any:
    """Make each pixel brighter or darker; with a little noise, so that no steps are seen."""
    return _to_rgb(image * light + _noise())


@cache
def _noise() -> Any:
    tile = pyvips.Image.gaussnoise(_TILE, _TILE, sigma=0.7, mean=0, seed=7).copy_memory()
    return tile.replicate(SIDE // _TILE, SIDE // _TILE)


def _to_rgb(image: Any) -> Any:
    return image.cast("uchar").copy(interpretation="srgb").copy_memory()


def folds(depth: float) -> Any:
    """Return the light on cloth: the same each time, about 1, give or take the depth."""
    # Wide and soft ones, longer than they are broad.
    noise = pyvips.Image.gaussnoise(SIDE // 20, SIDE // 40, sigma=1, mean=0, seed=11)
    soft = noise.gaussblur(1.2)
    return 1 + (soft * (depth / soft.deviate())).resize(20, vscale=40, kernel="cubic")


def ramp(start: Point, end: Point) -> Any:
    """Return an image that goes from 0 at one point to 1 at another."""
    x, y = _coordinates()
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = dx * dx + dy * dy
    return ((x - start[0]) * (dx / length) + (y - start[1]) * (dy / length)).cast("float")


def column_lights(lights: Iterable[float]) -> Any:
    """Return how bright each column is, from one brightness for each."""
    values = pyvips.Image.new_from_array([list(lights)])
    return values.replicate(1, SIDE).copy_memory()


def bend(picture: Any, columns: Sequence[float], rows: tuple[float, float], drops: Any) -> Any:
    """Lay a picture around a cylinder.

    `columns` says for each column of the mockup which column of the picture is seen there, `rows`
    where the top and bottom edges are, `drops` how much lower each column is.
    """
    top, bottom = rows
    _, y = _coordinates()
    across = pyvips.Image.new_from_array([list(columns)]).replicate(1, SIDE)
    down = (y - top - drops) * (picture.height / (bottom - top)) - 0.5
    return _look_up(picture, across - 0.5, down)


def _look_up(picture: Any, across: Any, down: Any) -> Any:
    index = across.bandjoin(down).cast("float")
    found = picture.mapim(index, interpolate=pyvips.Interpolate.new("bicubic"), extend="copy")
    return _to_rgb(found)


def _coordinates() -> tuple[Any, Any]:
    places = pyvips.Image.xyz(SIDE, SIDE).cast("float")
    return places[0] + 0.5, places[1] + 0.5


class Spot(NamedTuple):
    """A point in front of the eye: right of it, below it, and away from it."""

    x: float
    y: float
    z: float

    def plus(self, other: "Spot", times: float = 1.0) -> "Spot":
        return Spot(self.x + times * other.x, self.y + times * other.y, self.z + times * other.z)


class Plane(NamedTuple):
    """A rectangle in space: a corner, and the way from it along its upper and its left side."""

    corner: Spot
    across: Spot
    down: Spot

    def project(self, u: float, v: float) -> Point:
        """Return where a point of it is seen, by its share of the way across and down."""
        spot = self.corner.plus(self.across, u).plus(self.down, v)
        return SIDE / 2 + FOCUS * spot.x / spot.z, SIDE / 2 + FOCUS * spot.y / spot.z

    @property
    def outline(self) -> Outline:
        return [self.project(u, v) for u, v in ((0, 0), (1, 0), (1, 1), (0, 1))]

    def show(self, picture: Any) -> Any:
        """Return a mockup on which this rectangle is the picture; paint it by its outline."""
        (a, b, c), (d, e, f), (g, h, i) = self._undo()
        x, y = _coordinates()
        depth = x * g + y * h + i
        across = (x * a + y * b + c) / depth * picture.width - 0.5
        down = (x * d + y * e + f) / depth * picture.height - 0.5
        return _look_up(picture, across, down)

    def _undo(self) -> Sequence[Sequence[float]]:
        """Return the matrix that leads from what is seen to a place on the rectangle."""
        spots = (self.across, self.down, self.corner)
        (a, b, c), (d, e, f) = (
            [FOCUS * value + SIDE / 2 * spot.z for value, spot in zip(values, spots, strict=True)]
            for values in ([spot.x for spot in spots], [spot.y for spot in spots])
        )
        g, h, i = (spot.z for spot in spots)
        # Up to a factor, which the division by the depth removes.
        return (
            (e * i - f * h, c * h - b * i, b * f - c * e),
            (f * g - d * i, a * i - c * g, c * d - a * f),
            (d * h - e * g, b * g - a * h, a * e - b * d),
        )


# How many pixels something is wide that is as wide as it is far away.
FOCUS: Final = 2.2 * SIDE
