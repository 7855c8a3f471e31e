"""The sheet of proofs in the documentation shows what the sizing rules say."""

from collections.abc import Iterator
from typing import Any

import pytest

from printworks.imaging.processor import ImageProcessor
from printworks.rules.sizing import Pixels, Placement, place
from tests.imaging.pictures import WHITE
from tests.imaging.proof_sheet import MARKS, PICTURES, PRODUCTS, SHEET, Cell, draw_cells

# Where, beside its white number, the colour of a mark can be seen: from its middle, as a share
# of the picture's shorter side.
BESIDE = 0.045
TOLERANCE = 24


@pytest.fixture(scope="module")
def cells(processor: ImageProcessor) -> list[Cell]:
    return list(draw_cells(processor))


def test_there_is_a_cell_for_every_combination(cells: list[Cell]) -> None:
    assert len({(cell.sizing, cell.product, cell.picture) for cell in cells}) == 18


def test_each_preview_has_the_shape_of_its_product_held_upright(cells: list[Cell]) -> None:
    for cell in cells:
        area = cell.placement.upright.area
        shape = cell.preview.width / cell.preview.height
        assert shape == pytest.approx(float(area.width / area.height), abs=0.005), cell[:3]


def test_each_cell_lies_as_the_rules_say(cells: list[Cell]) -> None:
    for cell in cells:
        ruled = place(PICTURES[cell.picture], PRODUCTS[cell.product], cell.sizing)
        assert cell.placement == ruled
        for where, colour in find_marks(
            ruled.upright, Pixels(cell.preview.width, cell.preview.height)
        ):
            assert is_like(cell.preview.getpoint(*where), colour), (*cell[:3], where)


def test_what_is_not_covered_is_white(cells: list[Cell]) -> None:
    for cell in cells:
        canvas = Pixels(cell.preview.width, cell.preview.height)
        box = cell.placement.upright.on(canvas)
        for x in (1, canvas.width - 2):
            for y in (1, canvas.height - 2):
                is_inside = (
                    box.left <= x < box.left + box.width and box.top <= y < box.top + box.height
                )
                assert is_like(cell.preview.getpoint(x, y), WHITE) is not is_inside, cell[:3]


def test_the_sheet_is_there_and_not_too_heavy() -> None:
    assert SHEET.read_bytes().startswith(b"\x89PNG")
    assert SHEET.stat().st_size <= 400_000


def find_marks(
    placement: Placement, canvas: Pixels
) -> Iterator[tuple[tuple[int, int], tuple[int, int, int]]]:
    """Reckon where on a proof each mark must be, from the rules alone."""
    width, height = placement.picture
    box, on = placement.box, placement.on(canvas)
    for (x, y), colour in MARKS.items():
        across = (x * width + BESIDE * min(width, height) - box.left) / box.width
        down = (y * height - BESIDE * min(width, height) - box.top) / box.height
        yield (round(on.left + across * on.width), round(on.top + down * on.height)), colour


def is_like(some: Any, colour: tuple[int, int, int]) -> bool:
    """Whether two colours are the same, but for what JPEG does to them."""
    return all(abs(one - other) <= TOLERANCE for one, other in zip(some, colour, strict=True))
