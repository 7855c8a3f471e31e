"""Mockups: which drawing shows a product with its picture on it, and in which colours."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

# Red, green and blue, from 0 to 255.
Rgb = tuple[int, int, int]
# A width and a height in inches.
Inches = tuple[float, float]


class Mockup(StrEnum):
    """The drawings that there are."""

    FRAME = "frame"
    CANVAS = "canvas"
    PANEL = "panel"
    POSTER = "poster"
    PRINT = "print"
    MUG = "mug"
    SHIRT = "shirt"
    CASE = "case"
    NONE = "none"


class Sides(StrEnum):
    """What is seen on the sides of a canvas."""

    PICTURE = "picture"
    MIRRORED = "mirrored"
    PLAIN = "plain"


class MockupPlan(msgspec.Struct, frozen=True, kw_only=True):
    """All that is needed to draw a mockup from a proof; sizes are as the thing hangs or stands."""

    mockup: Mockup
    # Whether the picture lies on its side, a quarter clockwise of the proof, which is upright.
    is_lying: bool
    # What the proof shows, what of it is in front, and the whole thing with frame and mount.
    area: Inches
    front: Inches
    outer: Inches
    # Of the frame, the fabric or the plain sides.
    colour: Rgb
    sides: Sides = Sides.PLAIN
    # The frame around a canvas that floats in it.
    frame: Rgb | None = None


# By the kind of a product, where the catalogue does not say it.
USUAL_MOCKUPS: Final[Mapping[str, Mockup]] = {
    "frame": Mockup.FRAME,
    "canvas": Mockup.CANVAS,
    "acrylic": Mockup.PANEL,
    "panel": Mockup.PANEL,
    "poster": Mockup.POSTER,
    "fine-art": Mockup.POSTER,
    "print": Mockup.PRINT,
    "sticker": Mockup.PRINT,
    "magnet": Mockup.PRINT,
    "mug": Mockup.MUG,
    "clothing": Mockup.SHIRT,
    "case": Mockup.CASE,
}

# These have a top of their own, so that a picture that is printed turned is seen lying on its side.
STANDING: Final = frozenset({Mockup.MUG, Mockup.SHIRT, Mockup.CASE})

COLOURS: Final[Mapping[str, Rgb]] = {
    "black": (34, 33, 33),
    "white": (244, 243, 240),
    "grey": (150, 152, 155),
    "silver": (186, 187, 190),
    "gold": (196, 160, 92),
    "natural": (205, 172, 128),
    "brown": (98, 66, 43),
    "navy": (36, 46, 76),
    "blue": (98, 142, 196),
    "pink": (240, 184, 198),
    "red": (178, 44, 46),
    "green": (62, 116, 78),
    "yellow": (232, 190, 62),
}
_USUAL_COLOUR: Final[Mapping[Mockup, str]] = {Mockup.FRAME: "black"}
# The choices that decide about a colour, and about the sides of a canvas, by their names.
_FRAME_CHOICE: Final = "framecolour"
_SIDES_CHOICES: Final = ("wrap", "edge")
_COLOUR_CHOICE: Final = "colour"
_SIDES: Final[Mapping[str, Sides]] = {
    "imagewrap": Sides.PICTURE,
    "mirrorwrap": Sides.MIRRORED,
}


def usual_mockup(kind: str) -> Mockup:
    """Return how products of a kind are drawn; what is not known lies flat, like a print."""
    return USUAL_MOCKUPS.get(kind.casefold(), Mockup.PRINT)


class Sizes(msgspec.Struct, frozen=True):
    """What is printed and what is sold, in inches, as in the catalogue."""

    printed: Inches
    whole: Inches


def plan_mockup(
    mockup: Mockup,
    sizes: Sizes,
    chosen: Mapping[str, str],
    *,
    colour: str | None,
    is_turned: bool,
) -> MockupPlan | None:
    """Plan the drawing of a product as it was chosen; None if there is none for it."""
    if mockup is Mockup.NONE:
        return None
    is_lying = is_turned and mockup in STANDING
    area, whole = sizes.printed, sizes.whole
    if is_turned and not is_lying:
        area, whole = _turn(area), _turn(whole)
    choices = {name.casefold(): value.casefold() for name, value in chosen.items()}
    frame = choices.get(_FRAME_CHOICE)
    sides = next((choices[name] for name in _SIDES_CHOICES if name in choices), "")
    named = {
        Mockup.FRAME: frame,
        Mockup.CANVAS: sides,
        Mockup.SHIRT: choices.get(_COLOUR_CHOICE),
    }.get(mockup)
    usual = colour or _USUAL_COLOUR.get(mockup, "white")
    return MockupPlan(
        mockup=mockup,
        is_lying=is_lying,
        area=area,
        # A picture that is folded over the edges is larger than what it covers.
        front=(min(area[0], whole[0]), min(area[1], whole[1])),
        outer=whole,
        colour=COLOURS.get(named or usual, COLOURS[usual]),
        sides=_find_sides(sides, area, whole),
        frame=COLOURS.get(frame or "") if mockup is Mockup.CANVAS else None,
    )


def _find_sides(choice: str, area: Inches, whole: Inches) -> Sides:
    if area[0] <= whole[0] or area[1] <= whole[1]:
        return Sides.PLAIN
    # Without a choice, what is folded over is the picture.
    return _SIDES.get(choice, Sides.PLAIN if choice in COLOURS else Sides.PICTURE)


def _turn(size: Inches) -> Inches:
    return size[1], size[0]
