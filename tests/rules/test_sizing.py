"""A picture laid on a print area: what is kept, what is cut, what stays white."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import BadInput
from printworks.rules.sizing import (
    IN_INCHES,
    Box,
    CropPosition,
    Pixels,
    Placement,
    PrintArea,
    Share,
    Sizing,
    Units,
    check_position,
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
areas = st.builds(PrintArea, sides, sides, st.just(value=True))
upright_areas = st.builds(PrintArea, sides, sides, st.just(value=False))
sizings = st.sampled_from(Sizing)
shares = st.floats(0, 1)
positions = st.builds(CropPosition, shares, shares, st.floats(1, 4))
placements = st.builds(place, pictures, areas, sizings, st.none() | positions)


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
    position = placement.position
    mirrored = position and CropPosition(position.y, position.x, position.zoom)
    picture, area = placement.picture.turned(), placement.area.turned()
    other = place(picture, area, placement.sizing, mirrored)

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


@given(pictures, areas)
def test_the_middle_at_zoom_one_is_where_a_picture_is_cropped_anyway(
    picture: Pixels, area: PrintArea
) -> None:
    usual, asked = place(picture, area, CROP), place(picture, area, CROP, CropPosition())

    assert (asked.box, asked.is_turned, asked.densities) == (
        *(usual.box, usual.is_turned),
        usual.densities,
    )


@pytest.mark.parametrize(
    ("picture", "area", "position", "box"),
    [
        # 0 is the left edge, 1 the right one; down there is nothing to choose.
        (Pixels(4000, 2000), LANDSCAPE, CropPosition(0, 0.9, 1), Box(0, 0, 3000, 2000)),
        (Pixels(4000, 2000), LANDSCAPE, CropPosition(1, 0.9, 1), Box(1000, 0, 3000, 2000)),
        (Pixels(4000, 2000), LANDSCAPE, CropPosition(0.25, 0, 1), Box(250, 0, 3000, 2000)),
        # Twice as large shows half in each direction, and can be moved in both.
        (Pixels(3600, 2400), LANDSCAPE, CropPosition(0.5, 0.5, 2), Box(900, 600, 1800, 1200)),
        (Pixels(3600, 2400), LANDSCAPE, CropPosition(1, 0, 2), Box(1800, 0, 1800, 1200)),
        (Pixels(3600, 2400), LANDSCAPE, CropPosition(0, 1, 4), Box(0, 1800, 900, 600)),
        # Of the upright picture, even if it is turned on the paper.
        (Pixels(4000, 2000), PORTRAIT, CropPosition(1, 0.5, 1), Box(1000, 0, 3000, 2000)),
        # A tenth is a tenth, whatever a computer makes of it.
        (Pixels(4000, 2000), LANDSCAPE, CropPosition(0.1, 0.5, 1), Box(100, 0, 3000, 2000)),
    ],
)
def test_a_position_moves_and_enlarges_the_part_that_is_printed(
    picture: Pixels, area: PrintArea, position: CropPosition, box: Box
) -> None:
    assert place(picture, area, CROP, position).box == box


@given(pictures, areas, positions)
def test_a_part_of_the_picture_has_the_shape_of_the_print_wherever_it_is(
    picture: Pixels, area: PrintArea, position: CropPosition
) -> None:
    placement = place(picture, area, CROP, position)

    printed, ratio = placement.printed, area.width / area.height
    off_by = min(
        abs(printed.width - printed.height * ratio), abs(printed.height - printed.width / ratio)
    )
    # Each of its sides is rounded.
    assert off_by <= Fraction(1, 2) * (1 + min(ratio, 1 / ratio)) or 1 in printed


def test_an_enlarged_part_has_as_many_fewer_pixels_to_the_inch() -> None:
    usual = place(Pixels(3600, 2400), LANDSCAPE, CROP)
    enlarged = place(Pixels(3600, 2400), LANDSCAPE, CROP, CropPosition(0.2, 0.7, 2))

    assert [usual.effective_dpi, enlarged.effective_dpi] == [300, 150]
    assert [usual.percent_lost, enlarged.percent_lost] == [0, 75]
    recommended = Pixels(2400, 1600)
    assert (usual.is_too_small(recommended), enlarged.is_too_small(recommended)) == (False, True)
    assert not place(Pixels(4800, 3200), LANDSCAPE, CROP, CropPosition(0, 0, 2)).is_too_small(
        recommended
    )


@given(pictures, areas, positions)
@pytest.mark.parametrize("sizing", [FIT, EXACT])
def test_where_the_whole_picture_is_shown_a_position_has_no_effect(
    sizing: Sizing, picture: Pixels, area: PrintArea, position: CropPosition
) -> None:
    assert place(picture, area, sizing, position) == place(picture, area, sizing)


@given(positions)
def test_a_position_within_its_ranges_is_accepted_and_stored_as_it_is(
    position: CropPosition,
) -> None:
    check_position(position)

    members = position.to_members()
    assert CropPosition.of(members).to_members() == members
    assert all(abs(members[name] - getattr(position, name)) <= 0.0001 for name in members)


def test_a_position_out_of_range_is_refused_with_a_sentence_for_each_member() -> None:
    with pytest.raises(BadInput) as refusal:
        check_position(CropPosition(-0.1, 0.5, 4.5))

    assert refusal.value.message == (
        "`placement.x` must be a number from 0 to 1. `placement.zoom` must be a number from 1 to 4."
    )
    with pytest.raises(BadInput, match=r"`placement\.y` must"):
        check_position(CropPosition(0, float("nan"), 1))


@given(pictures, upright_areas, sizings, st.none() | positions)
def test_where_it_may_not_be_turned_a_picture_never_is(
    picture: Pixels, area: PrintArea, sizing: Sizing, position: CropPosition | None
) -> None:
    placement = place(picture, area, sizing, position)

    assert not placement.is_turned
    assert placement.upright is placement
    assert area.turned().may_turn is False


@given(placements)
def test_upright_it_is_the_same_print_on_paper_that_is_turned(placement: Placement) -> None:
    upright = placement.upright

    assert not upright.is_turned
    assert (upright.box, upright.effective_dpi) == (placement.box, placement.effective_dpi)
    assert upright.percent_lost == placement.percent_lost
    assert upright.will_be_cropped == placement.will_be_cropped
    assert sorted(upright.densities) == sorted(placement.densities)
    assert upright.area.long_side == placement.area.long_side
    if placement.is_turned:
        assert upright.printed == placement.printed.turned()
