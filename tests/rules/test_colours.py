"""Colours can be read wherever they are used, whichever the operator chooses."""

import re
from importlib import resources

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from printworks.rules.colours import (
    DARK_GROUNDS,
    LIGHT_GROUNDS,
    READABLE,
    find_contrast,
    find_dark_tones,
    find_least_contrast,
    find_light_tones,
    read_colour,
)

COLOURS = st.integers(0, 0xFFFFFF).map(lambda number: f"#{number:06x}")


@pytest.mark.parametrize(
    ("one", "other", "contrast"),
    [("#000000", "#ffffff", 21.0), ("#ffffff", "#ffffff", 1.0), ("#777777", "#ffffff", 4.48)],
)
def test_the_contrast_is_that_of_the_guidelines(one: str, other: str, contrast: float) -> None:
    assert find_contrast(one, other) == pytest.approx(contrast, abs=0.005)


@given(one=COLOURS, other=COLOURS)
def test_a_contrast_is_mutual_and_within_its_bounds(one: str, other: str) -> None:
    assert find_contrast(one, other) == find_contrast(other, one)
    assert 1 <= find_contrast(one, other) <= 21.0001


@given(accent=COLOURS)
def test_every_accent_has_readable_tones_on_dark_pages(accent: str) -> None:
    tones = find_dark_tones(accent)

    assert find_least_contrast(tones.accent, DARK_GROUNDS) >= READABLE
    assert find_least_contrast(tones.strong, DARK_GROUNDS) >= READABLE
    assert find_contrast(tones.accent, tones.on) >= READABLE


@given(accent=COLOURS)
def test_an_accent_that_is_accepted_is_readable_on_light_pages_in_each_tone(accent: str) -> None:
    assume(find_least_contrast(accent, LIGHT_GROUNDS) >= READABLE)
    tones = find_light_tones(accent)

    assert tones.accent == accent
    assert find_least_contrast(tones.strong, LIGHT_GROUNDS) >= READABLE
    assert find_contrast(accent, tones.on) >= READABLE


@given(accent=COLOURS)
def test_no_colour_could_be_read_on_light_and_dark_pages_alike(accent: str) -> None:
    light = find_least_contrast(accent, LIGHT_GROUNDS)

    assert light < READABLE or find_least_contrast(accent, DARK_GROUNDS) < READABLE


@pytest.mark.parametrize(
    ("text", "colour"),
    [
        ("#2443B8", "#2443b8"),
        (" 2443b8 ", "#2443b8"),
        ("#abc", "#aabbcc"),
        ("red", None),
        ("#12345", None),
        ("", None),
    ],
)
def test_a_colour_is_read_with_or_without_its_sign(text: str, colour: str | None) -> None:
    assert read_colour(text) == colour


def test_the_grounds_are_those_of_the_style_sheet() -> None:
    style = resources.files("printworks.dashboard").joinpath("static", "style.css").read_text()
    names = ("paper", "card", "sunken", "ok-ground", "warn-ground", "bad-ground")

    found = [re.findall(rf"--{name}: (#[0-9a-f]{{6}});", style) for name in names]

    assert tuple(light for light, _ in found) == LIGHT_GROUNDS
    assert tuple(dark for _, dark in found) == DARK_GROUNDS
