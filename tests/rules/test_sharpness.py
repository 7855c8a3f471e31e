"""How sharp a picture will look, by its pixels on an inch."""

from fractions import Fraction

import pytest

from printworks.rules.sharpness import Sharpness, SharpnessLimits, count_dpi, judge_sharpness


@pytest.mark.parametrize(
    ("dpi", "sharpness"),
    [
        (12, Sharpness.BLURRED),
        (69, Sharpness.BLURRED),
        (70, Sharpness.SOFT),
        (149, Sharpness.SOFT),
        (150, Sharpness.SHARP),
        (600, Sharpness.SHARP),
    ],
)
def test_the_usual_limits_are_70_and_150(dpi: int, sharpness: Sharpness) -> None:
    assert judge_sharpness(dpi, SharpnessLimits()) is sharpness


def test_an_operator_may_have_others() -> None:
    assert judge_sharpness(100, SharpnessLimits(40, 90)) is Sharpness.SHARP
    assert judge_sharpness(100, SharpnessLimits(101, 300)) is Sharpness.BLURRED


def test_what_is_judged_is_the_number_that_people_read() -> None:
    assert count_dpi(Fraction(1499, 10)) == 150
