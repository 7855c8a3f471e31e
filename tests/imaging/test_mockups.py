"""Mockups: the same crop as proof and print file, drawn on the product."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.imaging.drawing import SIDE
from printworks.imaging.manifest import plan_print
from printworks.imaging.processor import (
    DrawnMockup,
    ImageProcessor,
    Invalid,
    PreparedImage,
    Rendered,
)
from printworks.rules.mockups import Mockup, MockupPlan, Sides
from printworks.rules.sizing import Layout, Sizing
from tests.imaging.pictures import (
    BLUE,
    CORNERS,
    GREEN,
    RED,
    YELLOW,
    a_picture,
    as_jpeg,
    corners,
    read,
    written,
)

Colour = tuple[int, int, int]
# Where the four fields of the picture are seen, as shares of the mockup: top left, top right,
# bottom left, bottom right.
Places = tuple[tuple[float, float], ...]
USUAL: Places = ((0.42, 0.42), (0.58, 0.42), (0.42, 0.58), (0.58, 0.58))
# One of each drawing, with the choices that change it most.
PRODUCTS: Mapping[str, tuple[dict[str, str], Places]] = {
    "FRA-CLA-12X16-8X12": ({"frameColour": "white"}, USUAL),
    "EU-CAN-8X8": ({"wrap": "ImageWrap"}, USUAL),
    "GLOBAL-CAN-FLOAT-16X24": ({"frameColour": "natural"}, USUAL),
    "PANEL-8X10": ({}, USUAL),
    "GLOBAL-POS-10X15": ({"finish": "lustre"}, USUAL),
    "GLOBAL-PHO-4X6-PRO": ({"finish": "lustre"}, USUAL),
    "WEAR-TEE-SOFT": (
        {"size": "M", "colour": "navy"},
        ((0.4, 0.3), (0.6, 0.3), (0.4, 0.62), (0.6, 0.62)),
    ),
    "CASE-I6": ({"finish": "matte"}, ((0.42, 0.4), (0.58, 0.4), (0.42, 0.6), (0.58, 0.6))),
    # The left half is on the left mug, the right half on the right one.
    "MUG-10OZ-WHITE": ({}, ((0.27, 0.5), (0.73, 0.5), (0.27, 0.68), (0.73, 0.68))),
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return open_catalogue(None)


def prepare(
    processor: ImageProcessor, catalogue: Catalogue, sku: str, source: Path, out: Path
) -> tuple[PreparedImage, Any]:
    product = catalogue.find_product(sku)
    assert product is not None
    prepared = processor.prepare(source, Layout(product.print_area, Sizing.CROP), out)
    assert isinstance(prepared, PreparedImage), prepared
    return prepared, product


def draw(processor: ImageProcessor, preview: Path, plan: MockupPlan | None, out: Path) -> Any:
    assert plan is not None
    drawn = processor.draw_mockup(preview, plan, out)
    assert isinstance(drawn, DrawnMockup), drawn
    return read(drawn.file)


def nearest(image: Any, place: tuple[float, float]) -> Colour:
    """Return which of the four colours is seen there, in whatever light."""
    return name_colour(image.getpoint(round(place[0] * SIDE), round(place[1] * SIDE)))


def name_colour(seen: Sequence[float]) -> Colour:
    """Return the colour that was meant."""
    distances = {
        colour: sum((one - other) ** 2 for one, other in zip(seen, colour, strict=True))
        for colour in CORNERS
    }
    found = min(CORNERS, key=lambda colour: distances[colour])
    assert distances[found] < 90**2, seen
    return found


@pytest.mark.parametrize("sku", PRODUCTS)
def test_the_picture_is_seen_as_it_is_printed(
    sku: str, processor: ImageProcessor, catalogue: Catalogue, tmp_path: Path, out: Path
) -> None:
    chosen, places = PRODUCTS[sku]
    product = catalogue.find_product(sku)
    assert product is not None
    area = product.print_area
    width, height = (round(float(side) * 60) for side in (area.width, area.height))
    source = written(tmp_path, as_jpeg(a_picture(width, height)))
    prepared, product = prepare(processor, catalogue, sku, source, out)

    image = draw(
        processor, prepared.proofs.preview, product.plan_mockup(chosen, is_turned=False), out
    )

    assert (image.width, image.height) == (SIDE, SIDE)
    assert tuple(nearest(image, place) for place in places) == (RED, GREEN, BLUE, YELLOW)
    rendered = processor.render(source, plan_print(prepared.placement), out)
    assert isinstance(rendered, Rendered)
    for other in (rendered.file, prepared.proofs.preview):
        assert tuple(map(name_colour, corners(read(other)))) == (RED, GREEN, BLUE, YELLOW)


def test_the_crop_is_that_of_the_proof(
    processor: ImageProcessor, catalogue: Catalogue, tmp_path: Path, out: Path
) -> None:
    # Of a picture that is much too wide only the middle is printed, where all colours meet.
    stripes = a_picture(300, 900)
    wide = stripes.embed(900, 0, 2100, 900, extend="background", background=[128])
    source = written(tmp_path, as_jpeg(wide))
    prepared, product = prepare(processor, catalogue, "GLOBAL-PHO-3X3-PRO", source, out)

    image = draw(processor, prepared.proofs.preview, product.plan_mockup({}, is_turned=False), out)

    proof = read(prepared.proofs.preview)
    edge = proof.width * 0.5 - proof.height * 150 / 900
    assert proof.getpoint(round(edge) - 12, 20) == pytest.approx([128] * 3, abs=12)
    assert nearest(image, (0.46, 0.44)) == RED
    assert image.getpoint(round(0.36 * SIDE), round(0.5 * SIDE)) == pytest.approx([128] * 3, abs=16)


@pytest.mark.parametrize("sku", ["GLOBAL-POS-10X15", "FRA-CLA-12X16-8X12", "EU-CAN-12X16"])
def test_a_print_that_is_turned_is_shown_upright(
    sku: str, processor: ImageProcessor, catalogue: Catalogue, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_picture(900, 600)))
    prepared, product = prepare(processor, catalogue, sku, source, out)
    assert prepared.placement.is_turned
    chosen = {one.name: one.valid_values[0] for one in product.attributes}

    image = draw(
        processor, prepared.proofs.preview, product.plan_mockup(chosen, is_turned=True), out
    )

    assert tuple(nearest(image, place) for place in USUAL) == (RED, GREEN, BLUE, YELLOW)


@pytest.mark.parametrize(
    ("sides", "upper"),
    [(Sides.PICTURE, GREEN), (Sides.MIRRORED, GREEN), (Sides.PLAIN, None)],
)
def test_the_side_of_a_canvas_shows_what_is_folded_over(
    sides: Sides, upper: Colour | None, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    preview = written(tmp_path, as_jpeg(a_picture(900, 900)))
    plan = MockupPlan(
        mockup=Mockup.CANVAS,
        is_lying=False,
        area=(15, 15),
        front=(9, 9),
        outer=(9, 9),
        colour=(20, 20, 20),
        sides=sides,
    )

    image = draw(processor, preview, plan, out)

    red, green, blue = image.getpoint(round(0.87 * SIDE), round(0.4 * SIDE))
    if upper is None:
        assert max(red, green, blue) < 40
    else:
        # In the shade.
        assert green > 1.8 * max(red, blue)


def test_the_same_proof_gives_the_same_bytes(
    processor: ImageProcessor, catalogue: Catalogue, tmp_path: Path, out: Path
) -> None:
    preview = written(tmp_path, as_jpeg(a_picture(600, 900)))
    product = catalogue.find_product("WEAR-TEE-SOFT")
    assert product is not None
    plan = product.plan_mockup({}, is_turned=False)

    first = draw(processor, preview, plan, out).write_to_memory()

    assert draw(processor, preview, plan, out).write_to_memory() == first


def test_what_is_no_proof_is_refused(
    processor: ImageProcessor, catalogue: Catalogue, tmp_path: Path, out: Path
) -> None:
    product = catalogue.find_product("MUG-10OZ-WHITE")
    assert product is not None
    plan = product.plan_mockup({}, is_turned=False)
    assert plan is not None

    refused = processor.draw_mockup(written(tmp_path, b"<html>"), plan, out)

    assert isinstance(refused, Invalid)
    assert list(out.iterdir()) == []
