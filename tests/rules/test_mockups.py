"""Which drawing shows a product, in which colours, and which way up."""

import pytest

from printworks.catalogue.opening import open_catalogue
from printworks.rules.mockups import (
    COLOURS,
    Mockup,
    MockupPlan,
    Sides,
    Sizes,
    plan_mockup,
    usual_mockup,
)

# A frame of 12 x 16 inches around a picture of 8 x 12, and a canvas that is folded over by 1.5.
FRAMED = Sizes((8, 12), (12, 16))
WRAPPED = Sizes((15, 19), (12, 16))
PLAIN = Sizes((12, 16), (12, 16))


def planned(
    mockup: Mockup,
    sizes: Sizes,
    *,
    colour: str | None = None,
    is_turned: bool = False,
    **chosen: str,
) -> MockupPlan:
    plan = plan_mockup(mockup, sizes, chosen, colour=colour, is_turned=is_turned)
    assert plan is not None
    return plan


class TestTheDrawing:
    @pytest.mark.parametrize(
        ("kind", "mockup"),
        [
            ("mug", Mockup.MUG),
            ("Clothing", Mockup.SHIRT),
            ("fine-art", Mockup.POSTER),
            ("anything else", Mockup.PRINT),
        ],
    )
    def test_it_follows_from_the_kind(self, kind: str, mockup: Mockup) -> None:
        assert usual_mockup(kind) is mockup

    def test_a_product_may_have_none(self) -> None:
        assert plan_mockup(Mockup.NONE, PLAIN, {}, colour=None, is_turned=False) is None

    def test_every_built_in_product_has_one_unless_the_catalogue_says_that_it_has_none(
        self,
    ) -> None:
        catalogue = open_catalogue(None)

        without = {product.kind for product in catalogue.products if product.mockup is Mockup.NONE}

        # The files say why.
        assert without == {"photobook", "keyring"}
        for product in catalogue.products:
            chosen = {one.name: one.valid_values[-1] for one in product.attributes}
            plan = product.plan_mockup(chosen, is_turned=False)
            assert (plan is None) == (product.mockup is Mockup.NONE)


class TestWhichWayIsUp:
    def test_what_hangs_on_a_wall_is_hung_upright(self) -> None:
        plan = planned(Mockup.FRAME, FRAMED, is_turned=True)

        assert (plan.is_lying, plan.area, plan.outer) == (False, (12, 8), (16, 12))

    @pytest.mark.parametrize("mockup", [Mockup.MUG, Mockup.SHIRT, Mockup.CASE])
    def test_on_what_has_a_top_of_its_own_the_picture_lies(self, mockup: Mockup) -> None:
        plan = planned(mockup, PLAIN, is_turned=True)

        assert (plan.is_lying, plan.area) == (True, (12, 16))


class TestColours:
    def test_a_frame_has_the_colour_that_was_chosen(self) -> None:
        assert planned(Mockup.FRAME, FRAMED, frameColour="Natural").colour == COLOURS["natural"]

    def test_without_a_choice_it_has_that_of_the_catalogue_or_is_black(self) -> None:
        assert planned(Mockup.FRAME, FRAMED, colour="gold").colour == COLOURS["gold"]
        assert planned(Mockup.FRAME, FRAMED).colour == COLOURS["black"]

    def test_a_colour_that_nobody_knows_is_drawn_as_the_usual_one(self) -> None:
        assert planned(Mockup.SHIRT, PLAIN, colour="grey", size="L").colour == COLOURS["grey"]
        assert planned(Mockup.SHIRT, PLAIN, Colour="mauve").colour == COLOURS["white"]

    def test_only_a_canvas_may_float_in_a_frame(self) -> None:
        assert planned(Mockup.CANVAS, PLAIN, frameColour="white").frame == COLOURS["white"]
        assert planned(Mockup.CANVAS, PLAIN).frame is None
        assert planned(Mockup.FRAME, PLAIN, frameColour="white").frame is None


class TestTheSidesOfACanvas:
    @pytest.mark.parametrize(
        ("wrap", "sides"),
        [
            ("ImageWrap", Sides.PICTURE),
            ("MirrorWrap", Sides.MIRRORED),
            ("Black", Sides.PLAIN),
        ],
    )
    def test_they_show_what_was_chosen(self, wrap: str, sides: Sides) -> None:
        plan = planned(Mockup.CANVAS, WRAPPED, wrap=wrap)

        assert (plan.sides, plan.front) == (sides, (12, 16))

    def test_without_a_choice_they_show_what_is_folded_over(self) -> None:
        assert planned(Mockup.CANVAS, WRAPPED).sides is Sides.PICTURE

    def test_where_nothing_is_folded_over_they_are_plain(self) -> None:
        plan = planned(Mockup.CANVAS, PLAIN, edge="black")

        assert (plan.sides, plan.colour) == (Sides.PLAIN, COLOURS["black"])
