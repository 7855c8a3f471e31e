"""Colours of a page: how well one can be read on another, and tones of one colour.

The contrast is that of the Web Content Accessibility Guidelines (WCAG 2), from 1 to 21; level AA
asks for 4.5 between a text and what is behind it.
"""

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

READABLE: Final = 4.5
# What is behind texts and buttons in the accent colour, as `style.css` has it.
LIGHT_GROUNDS: Final = ("#f5f4f0", "#ffffff", "#eeece6", "#e6f4ea", "#fdf1d8", "#fdebec")
DARK_GROUNDS: Final = ("#121419", "#1b1e25", "#262a33", "#14301f", "#35270c", "#3d171b")

_COLOUR: Final = re.compile(r"#?([0-9a-f]{3}|[0-9a-f]{6})")
_BLACK: Final = "#10131a"
_WHITE: Final = "#ffffff"
# In so many steps a colour becomes white or black.
_STEPS: Final = 20


class Tones(NamedTuple):
    """A colour as text and ground, a stronger tone of it, and what is written on it."""

    accent: str
    strong: str
    on: str


def read_colour(text: str) -> str | None:
    """Return a colour as `#rrggbb`; None if the text is none."""
    found = _COLOUR.fullmatch(text.strip().lower())
    if found is None:
        return None
    digits = found[1]
    return f"#{digits}" if len(digits) == 6 else "#" + "".join(2 * digit for digit in digits)


def find_contrast(one: str, other: str) -> float:
    """Return the contrast of two colours."""
    lighter, darker = sorted((_find_luminance(one), _find_luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def find_least_contrast(colour: str, grounds: Iterable[str]) -> float:
    """Return the contrast of a colour with the ground on which it is read worst."""
    return min(find_contrast(colour, ground) for ground in grounds)


def find_light_tones(accent: str) -> Tones:
    """Return the tones of an accent colour on a light page, where it is used as it is."""
    return Tones(accent, _mix(accent, "#000000", 5), _choose_on(accent))


def find_dark_tones(accent: str) -> Tones:
    """Return the tones of an accent colour on a dark page: as much lighter as it takes."""
    # White itself, in the last step, is readable on each of them.
    lighter = (_mix(accent, _WHITE, step) for step in range(_STEPS + 1))
    shown = next(tone for tone in lighter if find_least_contrast(tone, DARK_GROUNDS) >= READABLE)
    return Tones(shown, _mix(shown, _WHITE, 8), _choose_on(shown))


def _choose_on(ground: str) -> str:
    return max(_WHITE, _BLACK, key=lambda ink: find_contrast(ink, ground))


def _mix(colour: str, other: str, step: int) -> str:
    pairs = zip(_split(colour), _split(other), strict=True)
    mixed = (round(one + (two - one) * step / _STEPS) for one, two in pairs)
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _split(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def _find_luminance(colour: str) -> float:
    red, green, blue = (_straighten(part / 255) for part in _split(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _straighten(part: float) -> float:
    # As sRGB says; the standard's own bound differs where no colour of 8 bits is.
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
