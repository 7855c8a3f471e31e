"""Draws mockups: the proof of an image as it will look on a wall, a table or a shirt.

Only for use in a jailed child. What is drawn is the proof, so crop and colours are those of the
print file.
"""

from collections.abc import Callable, Mapping
from math import cos, pi, sin
from pathlib import Path
from typing import Any, Final

from printworks.imaging.drawing import (
    SIDE,
    Plane,
    Spot,
    cast_shadow,
    fill,
    lit_wall,
    paint,
    plain,
    ramp,
    rectangle,
    rounded,
    shade,
)
from printworks.imaging.formats import Format
from printworks.imaging.messages import MOCKUP, MockupTask, RenderingDone
from printworks.imaging.objects import draw_case, draw_mug, draw_shirt
from printworks.imaging.pictures import decode, open_picture
from printworks.rules.mockups import Inches, Mockup, MockupPlan, Rgb, Sides

QUALITY: Final = 86
_MIDDLE: Final = SIDE / 2
_MOUNT: Final = (248, 246, 241)
# The eye is this far away, where the things that it looks at are about one and a half high.
_DISTANCE: Final = 5.0
_HEIGHT: Final = 1.72


def draw(task: MockupTask) -> RenderingDone:
    """Draw the mockup of a proof."""
    proof = open_picture(Path(task.source), frozenset({Format.JPEG}))
    picture = decode(lambda fail_on: proof.load(fail_on=fail_on).copy_memory())
    if task.plan.is_lying:
        picture = picture.rot90().copy_memory()
    drawn = _SCENES[task.plan.mockup](picture, task.plan)
    data = drawn.jpegsave_buffer(Q=QUALITY, keep="none", subsample_mode="on")
    (Path(task.out) / MOCKUP).write_bytes(data)
    return RenderingDone()


def _draw_poster(picture: Any, plan: MockupPlan) -> Any:
    """Draw a sheet that hangs on a wall by two clips."""
    width, height = _fit(plan.area, 560, 610)
    left, top = round(_MIDDLE - width / 2), round(_MIDDLE - height / 2) + 6
    sheet = fill(rectangle(left, top, width, height))
    base = cast_shadow(lit_wall(), sheet, blur=20, shift=(8, 18), strength=0.3)
    base = cast_shadow(base, sheet, blur=4, shift=(2, 4), strength=0.35)
    light = 1.01 - 0.035 * ramp((left, top), (left + width, top + height))
    base = paint(base, shade(_lay(picture, left, top, width, height), light), sheet)
    for x in (left + width * 0.14, left + width * 0.86):
        clip = fill(rounded(x - 11, top - 15, 22, 27, 4))
        base = cast_shadow(base, clip, blur=3, shift=(2, 4), strength=0.5)
        base = paint(base, (46, 46, 48), clip)
        base = paint(base, (84, 84, 88), fill(rounded(x - 11, top + 4, 22, 4, 2)))
    return base


def _draw_frame(picture: Any, plan: MockupPlan) -> Any:
    """Draw a frame on a wall, with a mount if the frame is larger than the picture."""
    moulding = min(1.6, max(0.55, 0.055 * max(plan.outer)))
    whole = (plan.outer[0] + 2 * moulding, plan.outer[1] + 2 * moulding)
    width, height = _fit(whole, 600, 640)
    scale = width / whole[0]
    left, top, rim = round(_MIDDLE - width / 2), round(_MIDDLE - height / 2), moulding * scale
    outside = rectangle(left, top, width, height)
    inside = rectangle(left + rim, top + rim, width - 2 * rim, height - 2 * rim)
    base = cast_shadow(lit_wall(), fill(outside), blur=24, shift=(12, 26), strength=0.42)
    base = cast_shadow(base, fill(outside), blur=6, shift=(3, 7), strength=0.35)
    base = _paint_moulding(base, outside, inside, plan.colour)
    opening = fill(inside)
    base = paint(base, _MOUNT, opening)
    w, h = (round(length * scale) for length in plan.front)
    x, y = round(_MIDDLE - w / 2), round(_MIDDLE - h / 2)
    if plan.front != plan.outer:
        # The mount is cut at an angle, which shows as a bright and a shaded line.
        base = paint(base, (222, 218, 210), fill(rectangle(x - 3, y - 3, w + 6, h + 6)))
        base = paint(base, (255, 255, 253), fill(rectangle(x - 1, y - 1, w + 4, h + 4)))
    seen = paint(base, _lay(picture, x, y, w, h), fill(rectangle(x, y, w, h)))
    ring = fill(outside, inside)
    return paint(base, cast_shadow(seen, ring, blur=6, shift=(4, 7), strength=0.34), opening)


def _paint_moulding(base: Any, outside: Any, inside: Any, colour: Rgb) -> Any:
    """Paint the four sides of a frame, each in its own light."""
    for side, light in enumerate((1.06, 0.86, 0.78, 0.98)):
        after = (side + 1) % 4
        part = fill([outside[side], outside[after], inside[after], inside[side]])
        base = paint(base, _lighten(colour, light), part)
    (left, top), _, (right, bottom), _ = inside
    lip = fill(inside, rectangle(left - 3, top - 3, right - left + 6, bottom - top + 6))
    base = paint(base, _lighten(colour, 0.6), lip)
    (left, top), _, (right, bottom), _ = outside
    edge = fill(outside, rectangle(left + 1.5, top + 1.5, right - left - 3, bottom - top - 3))
    return paint(base, _lighten(colour, 1.2), (edge * 0.5).cast("uchar"))


def _draw_canvas(picture: Any, plan: MockupPlan) -> Any:
    """Draw a canvas from the right, so that its side is seen; or in the frame that it floats in."""
    if plan.frame is not None:
        return _draw_floating(picture, plan, plan.frame)
    wrap = (plan.area[0] - plan.front[0]) / 2
    depth = wrap * 0.92 if wrap > 0 else min(1.5, 0.09 * max(plan.front))
    return _draw_box(picture, plan, depth)


def _draw_panel(picture: Any, plan: MockupPlan) -> Any:
    """Draw a thin panel in the same way."""
    return _draw_box(picture, plan, max(0.25, 0.035 * max(plan.front)))


def _draw_box(picture: Any, plan: MockupPlan, depth: float) -> Any:
    front, side = _make_box(plan.front, depth, plan.front)
    face, flank = fill(front.outline), fill(side.outline)
    body = (face + flank).cast("uchar")
    base = cast_shadow(lit_wall(), body, blur=24, shift=(-16, 26), strength=0.4)
    base = cast_shadow(base, body, blur=7, shift=(-4, 8), strength=0.35)
    flank_seen = _cut_side(picture, plan)
    coloured = plain(plan.colour) if flank_seen is None else side.show(flank_seen)
    base = paint(base, shade(coloured, 0.66), flank)
    light = 0.97 + 0.04 * ramp((0, 0), (SIDE, 0))
    return paint(base, shade(front.show(_cut_front(picture, plan)), light), face)


def _draw_floating(picture: Any, plan: MockupPlan, colour: Rgb) -> Any:
    longest = max(plan.front)
    gap, moulding = 0.018 * longest, max(0.35, 0.022 * longest)
    grown = [[length + 2 * by for length in plan.front] for by in (gap, gap + moulding)]
    whole: Inches = (grown[1][0], grown[1][1])
    frame, side = _make_box(whole, 0.06 * longest, whole)
    opening, _ = _make_box((grown[0][0], grown[0][1]), 0, whole)
    canvas, _ = _make_box(plan.front, 0, whole)
    body = (fill(frame.outline) + fill(side.outline)).cast("uchar")
    base = cast_shadow(lit_wall(), body, blur=24, shift=(-16, 26), strength=0.42)
    base = paint(base, _lighten(colour, 0.7), fill(side.outline))
    base = paint(base, colour, fill(frame.outline))
    base = paint(base, (30, 29, 28), fill(opening.outline))
    return paint(base, canvas.show(_cut_front(picture, plan)), fill(canvas.outline))


def _make_box(size: Inches, depth: float, whole: Inches) -> tuple[Plane, Plane]:
    """Return the front and the right side of a box, turned so that both are seen."""
    angle = 30 * pi / 180
    # What is in the middle is `whole`, so that several boxes may lie around each other.
    unit = min(_HEIGHT / whole[1], _HEIGHT * 1.1 / (whole[0] * cos(angle) + depth * sin(angle)))
    across = Spot(cos(angle), 0, -sin(angle))
    away = Spot(sin(angle), 0, cos(angle))
    width, height = size[0] * unit, size[1] * unit
    middle = Spot(-depth * unit * sin(angle) / 2, 0, _DISTANCE)
    corner = middle.plus(across, -width / 2).plus(Spot(0, 1, 0), -height / 2)
    down = Spot(0, height, 0)
    front = Plane(corner, Spot(0, 0, 0).plus(across, width), down)
    right = corner.plus(across, width)
    return front, Plane(right, Spot(0, 0, 0).plus(away, depth * unit), down)


def _cut_front(picture: Any, plan: MockupPlan) -> Any:
    """Return the part of the proof that is seen from the front."""
    width = round(picture.width * plan.front[0] / plan.area[0])
    height = round(picture.height * plan.front[1] / plan.area[1])
    left, top = (picture.width - width) // 2, (picture.height - height) // 2
    return _shrink(picture.crop(left, top, width, height))


def _cut_side(picture: Any, plan: MockupPlan) -> Any | None:
    """Return what is folded over the right edge; None if that is plain."""
    if plan.sides is Sides.PLAIN:
        return None
    wrap = round(picture.width * (1 - plan.front[0] / plan.area[0]) / 2)
    height = round(picture.height * plan.front[1] / plan.area[1])
    top, right = (picture.height - height) // 2, picture.width - wrap
    if plan.sides is Sides.MIRRORED:
        return _shrink(picture.crop(right - wrap, top, wrap, height).fliphor())
    return _shrink(picture.crop(right, top, wrap, height))


def _draw_print(picture: Any, plan: MockupPlan) -> Any:
    """Draw a sheet that lies on a table, a little askew, with another one below it."""
    base = lit_wall((226, 222, 215))
    for turn, is_below in ((5, True), (-4, False)):
        sheet = _lay_down(plan.area, turn)
        mask = fill(sheet.outline)
        base = cast_shadow(base, mask, blur=14, shift=(6, 14), strength=0.3)
        base = cast_shadow(base, mask, blur=3, shift=(1, 3), strength=0.35)
        if is_below:
            base = paint(base, (246, 245, 242), mask)
        else:
            light = 1.01 - 0.03 * ramp((0, 0), (SIDE, SIDE))
            base = paint(base, shade(sheet.show(_shrink(picture)), light), mask)
    return base


def _lay_down(size: Inches, turn: float) -> Plane:
    """Return a sheet on a table that is seen from above and in front."""
    tilt, angle = 24 * pi / 180, turn * pi / 180
    unit = min(_HEIGHT * 1.02 / size[1], _HEIGHT * 0.98 / size[0])
    right, near = Spot(1, 0, 0), Spot(0, cos(tilt), -sin(tilt))
    nowhere = Spot(0, 0, 0)
    across = nowhere.plus(right, cos(angle)).plus(near, sin(angle))
    down = nowhere.plus(right, -sin(angle)).plus(near, cos(angle))
    width, height = size[0] * unit, size[1] * unit
    corner = Spot(0, 0, _DISTANCE).plus(across, -width / 2).plus(down, -height / 2)
    return Plane(corner, nowhere.plus(across, width), nowhere.plus(down, height))


def _fit(size: Inches, width: float, height: float) -> tuple[int, int]:
    """Return a size in pixels that fits into these."""
    scale = min(width / size[0], height / size[1])
    return max(1, round(size[0] * scale)), max(1, round(size[1] * scale))


def _lay(picture: Any, left: int, top: int, width: int, height: int) -> Any:
    """Return a mockup with the picture in this place, to be painted by a mask."""
    sized = picture.resize(width / picture.width, vscale=height / picture.height)
    return sized.copy_memory().embed(left, top, SIDE, SIDE, extend="copy")


def _shrink(picture: Any) -> Any:
    """Make a picture that is seen in perspective not much larger than it is seen."""
    scale = min(1.0, 0.9 * SIDE / max(picture.width, picture.height))
    return picture.resize(scale).copy_memory() if scale < 1 else picture.copy_memory()


def _lighten(colour: Rgb, light: float) -> Rgb:
    """Return a colour in more or less light; black becomes brighter, too."""
    lift = max(0.0, light - 1) * 60
    red, green, blue = (min(255, round(part * light + lift)) for part in colour)
    return red, green, blue


_SCENES: Final[Mapping[Mockup, Callable[[Any, MockupPlan], Any]]] = {
    Mockup.FRAME: _draw_frame,
    Mockup.CANVAS: _draw_canvas,
    Mockup.PANEL: _draw_panel,
    Mockup.POSTER: _draw_poster,
    Mockup.PRINT: _draw_print,
    Mockup.MUG: draw_mug,
    Mockup.SHIRT: draw_shirt,
    Mockup.CASE: draw_case,
}
