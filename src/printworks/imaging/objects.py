"""Draws the things that have a shape of their own: mugs, shirts and cases for telephones.

Only for use in a jailed child.
"""

from math import asin, cos, pi, sin
from typing import Any, Final

from printworks.imaging.drawing import (
    SIDE,
    Outline,
    Point,
    bend,
    cast_shadow,
    column_lights,
    curve,
    ellipse,
    fill,
    folds,
    lit_wall,
    paint,
    plain,
    ramp,
    rectangle,
    rounded,
    shade,
)
from printworks.rules.mockups import MockupPlan

_MIDDLE: Final = SIDE / 2
# How far around a mug goes for each part of it that is printed; the rest is for the handle.
_AROUND: Final = 1.27
# How much higher a mug is than its print.
_HIGHER: Final = 1.15
# The picture's middle is opposite the handle: seen from this far to either side of it.
_VIEW: Final = 62 * pi / 180
# How deep a circle looks that is seen from a little above.
_DEPTH: Final = 0.22
# The right half of a shirt, as shares of its height, from the collar down.
_SHIRT: Final = 700
_SHIRT_TOP: Final = 52


def draw_mug(picture: Any, plan: MockupPlan) -> Any:
    """Draw a mug from both sides, so that the whole picture is seen around it."""
    width, height = plan.area
    body = height * _HIGHER
    radius = width * _AROUND / (2 * pi)
    scale = min(340 / body, 150 / radius)
    table = 430.0
    base = lit_wall()
    wood = fill(rectangle(0, table, SIDE, SIDE - table))
    base = paint(
        base,
        shade(plain((222, 214, 203)), 1.04 - 0.1 * ramp((0, table), (0, SIDE))),
        wood.gaussblur(2),
    )
    mug = _Mug(radius * scale, body * scale, 600.0)
    sized = _limit(picture)
    for side in (-1, 1):
        base = mug.draw(base, sized, side)
    return base


class _Mug:
    """A mug, in pixels; its foot stands at this height."""

    def __init__(self, radius: float, height: float, foot: float) -> None:
        self.radius = radius
        self.top, self.foot = foot - height, foot
        self.depth = radius * _DEPTH

    def draw(self, base: Any, picture: Any, side: int) -> Any:
        """Draw it left or right of the middle, with the handle on that side."""
        x = _MIDDLE + side * (self.radius + 16)
        ground = fill(
            ellipse(x + 10, self.foot + self.depth * 0.7, self.radius * 1.06, self.depth * 1.2)
        )
        base = cast_shadow(base, ground, blur=16, shift=(8, 6), strength=0.5)
        base = cast_shadow(base, ground, blur=5, shift=(0, -2), strength=0.4)
        base = self._draw_handle(base, x, side)
        white = shade(plain((250, 249, 247)), self._light(x))
        base = paint(base, white, fill(self._outline(x)))
        base = self._draw_print(base, picture, x, side)
        return self._draw_rim(base, x)

    def _outline(self, x: float) -> Outline:
        lower = [
            (x + self.radius * cos(a), self.foot + self.depth * sin(a))
            for a in (pi * step / 48 for step in range(49))
        ]
        return [
            *lower,
            *(
                (x + self.radius * cos(a), self.top + self.depth * sin(a))
                for a in (pi + pi * step / 48 for step in range(49))
            ),
        ]

    def _light(self, x: float) -> Any:
        """Return how bright each column of a cylinder is in light from the left."""
        lights = []
        for column in range(SIDE):
            turn = self._turn(column + 0.5, x)
            lights.append(0.74 + 0.27 * max(0.0, cos(turn + 0.55)))
        return column_lights(lights)

    def _turn(self, column: float, x: float) -> float:
        return asin(max(-1.0, min(1.0, (column - x) / self.radius)))

    def _draw_print(self, base: Any, picture: Any, x: float, side: int) -> Any:
        span = 2 * pi / _AROUND
        columns, drops = [], []
        for column in range(SIDE):
            turn = self._turn(column + 0.5, x)
            columns.append((0.5 + (side * _VIEW + turn) / span) * picture.width)
            drops.append(self.depth * cos(turn))
        inset = (self.foot - self.top) * (1 - 1 / _HIGHER) / 2
        rows = (self.top + inset, self.foot - inset)
        seen = bend(picture, columns, rows, column_lights(drops))
        # It ends where the paper does, or where the mug curves away.
        ends = sorted(
            (max(-pi / 2, -span / 2 - side * _VIEW), min(pi / 2, span / 2 - side * _VIEW))
        )
        angles = [ends[0] + (ends[1] - ends[0]) * step / 60 for step in range(61)]
        upper = [self._at(x, angle, rows[0]) for angle in angles]
        lower = [self._at(x, angle, rows[1]) for angle in reversed(angles)]
        return paint(base, shade(seen, self._light(x)), fill([*upper, *lower]))

    def _at(self, x: float, angle: float, y: float) -> Point:
        return x + self.radius * sin(angle), y + self.depth * cos(angle)

    def _draw_rim(self, base: Any, x: float) -> Any:
        base = paint(base, (252, 251, 250), fill(ellipse(x, self.top, self.radius, self.depth)))
        hollow = fill(ellipse(x, self.top + 1.5, self.radius - 6, self.depth - 3.5))
        dark = shade(
            plain((236, 233, 229)), 0.72 + 0.3 * ramp((x - self.radius, 0), (x + self.radius, 0))
        )
        return paint(base, dark, hollow)

    def _draw_handle(self, base: Any, x: float, side: int) -> Any:
        height = self.foot - self.top
        middle = (x + side * self.radius * 0.98, self.top + height * 0.52)
        outer = ellipse(*middle, self.radius * 0.52, height * 0.36)
        inner = ellipse(*middle, self.radius * 0.52 - 25, height * 0.36 - 27)
        ring = fill(outer, inner)
        base = cast_shadow(base, ring, blur=8, shift=(5, 8), strength=0.25)
        light = 1.0 - 0.2 * ramp(
            (middle[0] - 80, middle[1] - 90), (middle[0] + 80, middle[1] + 110)
        )
        base = paint(base, shade(plain((246, 245, 243)), light), ring)
        # Its inner face lies in the shade.
        lip = fill(
            inner, ellipse(middle[0], middle[1], self.radius * 0.52 - 20, height * 0.36 - 22)
        )
        return paint(base, (206, 203, 199), (lip * 0.6).cast("uchar"))


def draw_shirt(picture: Any, plan: MockupPlan) -> Any:
    """Draw a shirt that lies flat, with the picture on its chest."""
    base = lit_wall((229, 227, 223))
    body = fill(_outline_shirt())
    base = cast_shadow(base, body, blur=20, shift=(8, 18), strength=0.34)
    base = cast_shadow(base, body, blur=4, shift=(2, 4), strength=0.3)
    light = folds(0.022) * (1.03 - 0.1 * ramp((200, 80), (620, 760)))
    cloth = shade(plain(plan.colour), light)
    base = paint(base, cloth, body)
    base = _draw_seams(base, plan)
    scale = min(252 / plan.area[0], 330 / plan.area[1])
    width, height = round(plan.area[0] * scale), round(plan.area[1] * scale)
    left, top = round(_MIDDLE - width / 2), 218
    sized = picture.resize(width / picture.width, vscale=height / picture.height).copy_memory()
    seen = shade(sized.embed(left, top, SIDE, SIDE, extend="copy"), folds(0.016))
    return paint(base, seen, fill(rectangle(left, top, width, height)))


def _on_shirt(x: float, y: float) -> Point:
    return _MIDDLE + x * _SHIRT, _SHIRT_TOP + y * _SHIRT


def _outline_shirt() -> Outline:
    right = [
        *curve((0.115, 0.035), (0.2, 0.055), (0.3, 0.1)),
        *curve((0.3, 0.1), (0.37, 0.14), (0.485, 0.34)),
        (0.365, 0.415),
        *curve((0.365, 0.415), (0.325, 0.36), (0.292, 0.325)),
        *curve((0.292, 0.325), (0.282, 0.6), (0.298, 0.965)),
    ]
    hem = curve((0.298, 0.965), (0.0, 0.99), (-0.298, 0.965))
    left = [(-x, y) for x, y in reversed(right)]
    collar = curve((-0.115, 0.035), (0.0, 0.155), (0.115, 0.035))
    return [_on_shirt(x, y) for x, y in (*right, *hem, *left, *collar)]


def _draw_seams(base: Any, plan: MockupPlan) -> Any:
    """Draw the collar, and lines where sleeves and hem are sewn."""
    inside = [
        *curve((-0.115, 0.035), (0.0, 0.155), (0.115, 0.035)),
        *curve((0.115, 0.035), (0.0, 0.015), (-0.115, 0.035)),
    ]
    red, green, blue = (round(part * 0.72) for part in plan.colour)
    base = paint(base, (red, green, blue), fill([_on_shirt(x, y) for x, y in inside]))
    upper = curve((-0.115, 0.035), (0.0, 0.155), (0.115, 0.035))
    lower = curve((0.138, 0.04), (0.0, 0.2), (-0.138, 0.04))
    rib = fill([_on_shirt(x, y) for x, y in (*upper, *lower)])
    edge = (20, 20, 22) if sum(plan.colour) > 240 else (120, 120, 124)
    base = paint(base, edge, (rib * 0.07).cast("uchar"))
    lines = [_line(curve((0.138, 0.04), (0.0, 0.2), (-0.138, 0.04)))]
    for side in (-1, 1):
        seam = curve((side * 0.3, 0.1), (side * 0.262, 0.2), (side * 0.292, 0.325))
        hem = [(side * 0.474, 0.322), (side * 0.352, 0.398)]
        lines += [_line(seam), _line(hem)]
    lines.append(_line(curve((0.297, 0.945), (0.0, 0.97), (-0.297, 0.945))))
    for line in lines:
        base = paint(base, edge, (fill(line) * 0.2).cast("uchar"))
    return base


def _line(points: Outline) -> Outline:
    """Return an outline around a line that is one and a half pixels thick."""
    there = [_on_shirt(x, y) for x, y in points]
    return [*there, *((x + 1.2, y + 1.2) for x, y in reversed(there))]


def draw_case(picture: Any, plan: MockupPlan) -> Any:
    """Draw the back of a telephone in its case."""
    height = 610
    width = round(height * plan.area[0] / plan.area[1])
    if width > 420:
        width, height = 420, round(420 * plan.area[1] / plan.area[0])
    left, top = round(_MIDDLE - width / 2), round(_MIDDLE - height / 2)
    radius = min(width, height) * 0.15
    body = fill(rounded(left, top, width, height, radius))
    base = cast_shadow(lit_wall((228, 226, 222)), body, blur=24, shift=(12, 26), strength=0.42)
    base = cast_shadow(base, body, blur=6, shift=(3, 7), strength=0.4)
    sized = picture.resize(width / picture.width, vscale=height / picture.height).copy_memory()
    seen = sized.embed(left, top, SIDE, SIDE, extend="copy")
    base = paint(base, seen, body)
    # The case curves away at its edge: bright where the light comes from, dark on the other side.
    for inset, shift, colour, strength in (
        (9, (-5, -5), (30, 28, 26), 0.42),
        (7, (4, 4), (255, 255, 255), 0.4),
    ):
        inner = fill(
            rounded(
                left + shift[0] + inset / 2,
                top + shift[1] + inset / 2,
                width - inset,
                height - inset,
                radius - 3,
            )
        )
        rim = (body.cast("short") - inner.gaussblur(3)).clamp(min=0, max=255)
        base = paint(base, colour, (rim * strength).cast("uchar"))
    return _draw_camera(base, left + width * 0.07, top + width * 0.07, width * 0.4)


def _draw_camera(base: Any, left: float, top: float, size: float) -> Any:
    height = size * 0.5
    hole = fill(rounded(left, top, size, height, height * 0.42))
    base = paint(base, (22, 22, 24), hole)
    for share in (0.27, 0.66):
        x, y = left + size * share, top + height / 2
        base = paint(base, (58, 60, 66), fill(ellipse(x, y, height * 0.33, height * 0.33)))
        base = paint(base, (10, 11, 16), fill(ellipse(x, y, height * 0.25, height * 0.25)))
        glint = fill(ellipse(x - height * 0.08, y - height * 0.09, height * 0.07, height * 0.07))
        base = paint(base, (120, 132, 160), glint)
    x, y = left + size * 0.88, top + height * 0.5
    return paint(base, (240, 232, 206), fill(ellipse(x, y, height * 0.1, height * 0.1)))


def _limit(picture: Any) -> Any:
    """Make a picture not much larger than it is seen around a mug."""
    scale = min(1.0, 0.95 * SIDE / max(picture.width, picture.height))
    return picture.resize(scale).copy_memory() if scale < 1 else picture
