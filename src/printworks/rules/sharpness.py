"""How sharp a picture will look in print, by its pixels on an inch of paper."""

from enum import StrEnum
from fractions import Fraction
from typing import NamedTuple


class Sharpness(StrEnum):
    """What people will see."""

    SHARP = "sharp"
    SOFT = "soft"
    BLURRED = "blurred"


class SharpnessLimits(NamedTuple):
    """Below which density a picture looks blurred, and from which it looks sharp."""

    blurred_below: int = 70
    sharp_from: int = 150


def count_dpi(density: Fraction) -> int:
    """Return a density as people read it, which is also what is judged."""
    return round(density)


def judge_sharpness(dpi: int, limits: SharpnessLimits) -> Sharpness:
    """Return how a picture with so many pixels on an inch will look."""
    if dpi < limits.blurred_below:
        return Sharpness.BLURRED
    return Sharpness.SOFT if dpi < limits.sharp_from else Sharpness.SHARP
