"""A picture laid on a print area: what is kept, what is cut, what stays white."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.sizing import (
    IN_INCHES,
    Box,
    Pixels,
    Placement,
    PrintArea,
    Share,
    Sizing,
    Units,
    mismatch,
    place,
)

CROP, FIT, EXACT = Sizing.CROP, Sizing.SHRINK_TO_FIT, Sizing.SHRINK_TO_EXACT_FIT

LANDSCAPE = PrintArea.of(12, 8, Units.INCHES)
PORTRAIT = PrintArea.of(8, 12, Units.INCHES)
SQUARE = PrintArea.of(10, 10, Units.INCHES)
ONE_BY_TEN = PrintArea(Fraction(1), Fraction(10))
ALL = Share(Fraction(1), Fraction(1))

pictures = st.builds(Pixels, st.integers(1, 30_000), st.integers(1, 30_000))
# From a stamp to a banner, in tenths of a millimetre.
sides = st.integers(100, 30_000).map(lambda tenths: Fraction(tenths, 254))
areas = st.builds(PrintArea, sides, sides)
sizings = st.sampled_from(Sizing)
placements = st.builds(place, pictures, areas, sizings)


@pytest.mark.parametrize(
    ("picture", "area", "is_turned", "box"),
    [
        # The same shape: nothing happens.
        (Pixels(3600, 2400), LANDSCAPE, False, Box(0, 0, 3600, 2400)),
        # Too tall, too wide: both ends lose the same.
        (Pixels(4000, 3000), LANDSCAPE, False, Box(0, 166, 4000, 2667)),
        (Pixels(4000, 2000), LANDSCAPE, False, Box(500, 0, 3000, 2000)),
        # A landscape picture for a portrait product is turned, and the other way round.
        (Pixels(3600, 2400), PORTRAIT, True, Box(0, 0, 3600, 2400)),
        (Pixels(2000, 4000), LANDSCAPE, True, Box(0, 500, 2000, 3000)),
        # Nothing is gained by turning a square, nor on a square.
        (Pixels(3000, 3000), PORTRAIT, False, Box(500, 0, 2000, 3000)),
        (Pixels(4000, 3000), SQUARE, False, Box(500, 0, 3000, 3000)),
        # One pixel is still a picture.
        (Pixels(1, 1), LANDSCAPE, False, Box(0, 0, 1, 1)),
        (Pixels(30_000, 1), SQUARE, False, Box(14_999, 0, 1, 1)),
    ],
)
def test_crop_centres_and_cuts(picture: Pixels, area: PrintArea, is_turned: bool, box: Box) -> None:
    placement = place(picture, area, CROP)

    assert (placement.is_turned, placement.box) == (is_turned, box)
    assert placement.covers == ALL


@pytest.mark.parametrize(
    ("picture", "area", "is_turned", "covers"),
    [
        (Pixels(3600, 2400), LANDSCAPE, False, (1, 1)),
        (Pixels(3000, 3000), LANDSCAPE, False, (Fraction(2, 3), 1)),
        (Pixels(3000, 1000), LANDSCAPE, False, (1, Fraction(1, 2))),
        (Pixels(3000, 1000), PORTRAIT, True, (Fraction(1, 2), 1)),
        (Pixels(1000, 2000), SQUARE, False, (Fraction(1, 2), 1)),
    ],
)
def test_shrink_to_fit_leaves_white_space_on_one_pair_of_sides(
    picture: Pixels, area: PrintArea, is_turned: bool, covers: tuple[Fraction, Fraction]
) -> None:
    placement = place(picture, area, FIT)

    assert (placement.is_turned, placement.covers) == (is_turned, covers)
    assert placement.percent_lost == 0


@pytest.mark.parametrize(
    ("picture", "area", "lost"),
    [
        (Pixels(3600, 2400), LANDSCAPE, 0),
        (Pixels(4000, 2000), LANDSCAPE, 25),
        (Pixels(4000, 2000), PORTRAIT, 25),
        (Pixels(2000, 1000), SQUARE, 50),
    ],
)
def test_the_loss_is_the_share_of_the_picture_that_is_cut_off(
    picture: Pixels, area: PrintArea, lost: int
) -> None:
    assert place(picture, area, CROP).percent_lost == lost


@pytest.mark.parametrize("sizing", Sizing)
@pytest.mark.parametrize(
    ("picture", "is_warned"),
    [
        (Pixels(3600, 2400), False),
        (Pixels(2400, 3600), False),
        (Pixels(3636, 2400), False),
        (Pixels(3637, 2400), True),
        (Pixels(3600, 2424), False),
        (Pixels(3600, 2425), True),
        (Pixels(4000, 3000), True),
    ],
)
def test_a_shape_that_differs_by_more_than_one_per_cent_is_warned_of(
    sizing: Sizing, picture: Pixels, is_warned: bool
) -> None:
    assert place(picture, LANDSCAPE, sizing).will_be_cropped is is_warned


@pytest.mark.parametrize(
    ("picture", "sizing", "is_too_small"),
    [
        (Pixels(2400, 1600), CROP, False),
        (Pixels(1600, 2400), CROP, False),
        (Pixels(2399, 1600), CROP, True),
        (Pixels(2400, 1599), CROP, True),
        # Wide enough in all, but not the part that is printed.
        (Pixels(9000, 1500), CROP, True),
        # A strip that is printed small needs fewer.
        (Pixels(2400, 400), FIT, False),
        (Pixels(2300, 400), FIT, True),
        # Stretched: the side that is short decides.
        (Pixels(9000, 400), EXACT, True),
        (Pixels(2400, 1600), EXACT, False),
    ],
)
def test_too_small_is_what_has_fewer_pixels_than_recommended_where_it_is_printed(
    picture: Pixels, sizing: Sizing, is_too_small: bool
) -> None:
    placement = place(picture, LANDSCAPE, sizing)

    assert placement.is_too_small(Pixels(2400, 1600)) is is_too_small


def test_a_picture_of_the_recommended_size_is_never_too_small() -> None:
    # 10 x 15 cm is not quite the shape of what is recommended for it.
    placement = place(Pixels(1181, 1790), PrintArea.of(10, 15, Units.CM), CROP)

    assert not placement.is_too_small(Pixels(1181, 1790))


@pytest.mark.parametrize(
    ("picture", "sizing", "dpi"),
    [
        (Pixels(3600, 2400), CROP, 300),
        (Pixels(2400, 3600), CROP, 300),
        (Pixels(4032, 2688), CROP, 336),
        (Pixels(1200, 400), FIT, 100),
        (Pixels(1200, 400), EXACT, 50),
    ],
)
def test_the_effective_density_is_that_of_the_poorer_direction(
    picture: Pixels, sizing: Sizing, dpi: int
) -> None:
    assert place(picture, LANDSCAPE, sizing).effective_dpi == dpi


def test_every_unit_is_known_in_inches() -> None:
    assert set(IN_INCHES) == set(Units)
    assert PrintArea.of(1, 10, Units.INCHES) == ONE_BY_TEN
    assert PrintArea.of("2.54", "25.4", Units.CM) == ONE_BY_TEN


@given(pictures, areas)
def test_crop_covers_all_and_keeps_the_centre(picture: Pixels, area: PrintArea) -> None:
    placement = place(picture, area, CROP)

    left, top, width, height = placement.box
    assert placement.covers == ALL
    assert abs(picture.width - 2 * left - width) <= 1
    assert abs(picture.height - 2 * top - height) <= 1
    # One pair of sides loses nothing.
    assert width == picture.width or height == picture.height


@given(pictures, areas)
def test_crop_keeps_the_shape_within_half_a_pixel(picture: Pixels, area: PrintArea) -> None:
    placement = place(picture, area, CROP)

    printed, ratio = placement.printed, area.width / area.height
    off_by = min(
        abs(printed.width - printed.height * ratio), abs(printed.height - printed.width / ratio)
    )
    assert off_by <= Fraction(1, 2) or 1 in printed


@given(pictures, areas)
def test_shrink_to_fit_fits_within_and_touches_one_pair_of_sides(
    picture: Pixels, area: PrintArea
) -> None:
    placement = place(picture, area, FIT)

    assert max(placement.covers) == 1
    assert min(placement.covers) > 0
    assert placement.box == Box(0, 0, *picture)
    # Keeps its shape: as dense across as down.
    across, down = placement.densities
    assert across == down


@given(pictures, areas)
def test_shrink_to_exact_fit_fills_and_keeps_everything(picture: Pixels, area: PrintArea) -> None:
    placement = place(picture, area, EXACT)

    assert placement.covers == ALL
    assert placement.box == Box(0, 0, *picture)


@given(placements, st.integers(1, 1200))
def test_nothing_ever_exceeds_the_picture_or_the_canvas(placement: Placement, dpi: int) -> None:
    left, top, width, height = placement.box
    assert 0 <= left < left + width <= placement.picture.width
    assert 0 <= top < top + height <= placement.picture.height

    canvas = placement.canvas(Fraction(dpi))
    left, top, width, height = placement.on(canvas)
    assert 0 <= left < left + width <= canvas.width
    assert 0 <= top < top + height <= canvas.height
    assert width == canvas.width or height == canvas.height


@given(placements, st.integers(1, 1200))
def test_the_canvas_is_the_print_area_to_half_a_pixel(placement: Placement, dpi: int) -> None:
    canvas = placement.canvas(Fraction(dpi))

    assert abs(canvas.width - placement.area.width * dpi) <= Fraction(1, 2) or canvas.width == 1
    assert abs(canvas.height - placement.area.height * dpi) <= Fraction(1, 2) or canvas.height == 1


@given(placements)
def test_rotation_never_makes_it_worse(placement: Placement) -> None:
    picture, area = placement.picture, placement.area
    chosen = mismatch(picture.turned() if placement.is_turned else picture, area)

    assert chosen == min(mismatch(picture, area), mismatch(picture.turned(), area))


@given(placements)
def test_turning_picture_and_area_together_changes_nothing(placement: Placement) -> None:
    other = place(placement.picture.turned(), placement.area.turned(), placement.sizing)

    left, top, width, height = placement.box
    assert other.box == Box(top, left, height, width)
    assert other.covers == (placement.covers.height, placement.covers.width)
    assert other.is_turned == placement.is_turned
    assert other.effective_dpi == placement.effective_dpi
    assert other.percent_lost == placement.percent_lost
    assert other.will_be_cropped == placement.will_be_cropped


@given(pictures, areas, sizings)
def test_turning_only_the_picture_gives_the_same_print(
    picture: Pixels, area: PrintArea, sizing: Sizing
) -> None:
    one, other = place(picture, area, sizing), place(picture.turned(), area, sizing)

    if Fraction(*picture) != 1 and area.width != area.height:
        assert one.printed == other.printed
        assert one.covers == other.covers


@given(placements)
def test_a_loss_is_a_percentage(placement: Placement) -> None:
    assert 0 <= placement.percent_lost < 100
