"""Draws `docs/proofs.png`: every sizing rule on every shape of product, as it is proofed.

Run it with `python -m tests.imaging.proof_sheet`. The sheet is drawn by the same image processor that
draws the proofs of merchants; a test holds its cells to the sizing rules.
"""

import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyvips

from printworks.imaging.processor import ImageProcessor, PreparedImage
from printworks.rules.sizing import Layout, Pixels, Placement, PrintArea, Sizing, Units
from tests.imaging.pictures import BLUE, GREEN, RED, YELLOW, as_jpeg, written
from tests.imaging.sheets import FONT, Sheet, draw_svg

SHEET: Final = Path(__file__).parents[2] / "docs" / "proofs.png"

PICTURES: Final = {
    "upright picture, 2:3": Pixels(800, 1200),
    "lying picture, 3:2": Pixels(1200, 800),
    "square picture": Pixels(1000, 1000),
}
PRODUCTS: Final = {
    "upright product, 4:5": PrintArea.of(8, 10, Units.INCHES),
    "lying product, 5:4": PrintArea.of(10, 8, Units.INCHES),
}

# Coloured squares: where their middle lies in the picture, from 0 to 1 each way. However a
# picture is cropped here, they stay.
MARKS: Final = {
    (0.22, 0.22): RED,
    (0.78, 0.22): GREEN,
    (0.22, 0.78): BLUE,
    (0.78, 0.78): YELLOW,
}
MARK: Final = 0.12


class Cell(NamedTuple):
    """One proof on the sheet."""

    sizing: Sizing
    product: str
    picture: str
    placement: Placement
    # The preview, in memory.
    preview: Any


def draw_cells(processor: ImageProcessor) -> Iterator[Cell]:
    """Have every combination proofed, row by row."""
    for sizing, on, what in product(Sizing, PRODUCTS, PICTURES):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            source = written(folder, as_jpeg(draw_source(PICTURES[what])))
            prepared = processor.prepare(source, Layout(PRODUCTS[on], sizing), folder)
            assert isinstance(prepared, PreparedImage), prepared
            data = prepared.proofs.preview.read_bytes()
        preview = pyvips.Image.new_from_buffer(data, "").copy_memory()
        yield Cell(sizing, on, what, prepared.placement, preview)


def draw_source(size: Pixels) -> Any:
    """Draw a picture that shows what was done to it.

    A dark frame that cropping cuts off, a grid and a circle that squashing distorts, an arrow
    that says where up is, and a number in each corner.
    """
    width, height = size
    short = min(size)
    step = short / 10
    lines = [f'<path d="M{x * step} 0V{height}"/>' for x in range(1, round(width / step))] + [
        f'<path d="M0 {y * step}H{width}"/>' for y in range(1, round(height / step))
    ]
    marks = [
        _draw_mark(x * width, y * height, short * MARK, colour, number)
        for number, ((x, y), colour) in enumerate(MARKS.items(), start=1)
    ]
    middle = f"translate({width / 2} {height / 2}) scale({short / 100})"
    return draw_svg(
        width,
        height,
        f'<rect width="{width}" height="{height}" fill="#e9eef5"/>'
        f'<g stroke="#b9c4d4" stroke-width="2">{"".join(lines)}</g>'
        f'<rect width="{width}" height="{height}" fill="none" stroke="#38465c"'
        f' stroke-width="{short * 0.06}"/>'
        f"{''.join(marks)}"
        f'<g transform="{middle}"><circle r="19" fill="white" stroke="#38465c"/>'
        '<path d="M0 -15L9 -3H4V8H-4V-3H-9Z" fill="#38465c"/>'
        f'<text y="15" text-anchor="middle" font-size="6" font-family="{FONT}"'
        ' font-weight="bold" fill="#38465c">UP</text></g>',
    )


def _draw_mark(x: float, y: float, side: float, colour: tuple[int, int, int], number: int) -> str:
    return (
        f'<rect x="{x - side / 2}" y="{y - side / 2}" width="{side}" height="{side}"'
        f' fill="rgb{colour}"/>'
        f'<text x="{x}" y="{y + side * 0.3}" text-anchor="middle" font-size="{side * 0.8}"'
        f' font-family="{FONT}" font-weight="bold" fill="white">{number}</text>'
    )


def compose(cells: list[Cell]) -> Any:
    """Lay the cells on one sheet, with the pictures as they came above them."""
    columns, rows = len(PICTURES), len(Sizing) * len(PRODUCTS)
    sheet = Sheet(rows + 1, columns)
    sheet.name_row(0, ["The picture as it came"])
    for column, (name, size) in enumerate(PICTURES.items()):
        sheet.put(draw_source(size), 0, column, name)
    for number, cell in enumerate(cells):
        row, column = divmod(number, columns)
        sheet.put(cell.preview, row + 1, column, _describe(cell.placement))
        if column == 0:
            sheet.name_row(row + 1, [cell.sizing, cell.product])
    return sheet.draw()


def _describe(placement: Placement) -> str:
    words = ["turned"] if placement.is_turned else []
    if placement.percent_lost > 0:
        words.append(f"{float(placement.percent_lost):.0f} % cut off")
    if min(placement.covers) < 1:
        words.append(f"{100 - float(100 * min(placement.covers)):.0f} % margin")
    across, down = placement.densities
    if max(across, down) / min(across, down) > 1 + 1 / 100:
        words.append("squashed")
    return ", ".join(words) or "as it is"


def main(target: Path) -> None:
    """Draw the sheet."""
    with ImageProcessor(slots=1) as processor:
        sheet = compose(list(draw_cells(processor)))
    sheet.pngsave(str(target), palette=True, Q=90, dither=0, effort=10, keep="none")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SHEET)
