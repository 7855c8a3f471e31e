"""Draws `docs/proofs.png`: every sizing rule on every shape of product, as the studio proofs it.

Run it with `python -m tests.imaging.proof_sheet`. The sheet is drawn by the same studio that
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
from printworks.rules.sizing import Pixels, Placement, PrintArea, Sizing, Units
from tests.imaging.pictures import BLUE, GREEN, RED, YELLOW, as_jpeg, written

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

CELL: Final = 220
GAP: Final = 24
LABEL: Final = 40
ROW_TITLE: Final = 190
FONT: Final = "DejaVu Sans, Liberation Sans, Arial, sans-serif"


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
            prepared = processor.prepare(source, PRODUCTS[on], sizing, folder)
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
    return _draw(
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


def _draw(width: int, height: int, content: str) -> Any:
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{content}</svg>'
    )
    image = pyvips.Image.svgload_buffer(svg.encode())
    return image.flatten(background=[255, 255, 255]).copy(interpretation="srgb")


def compose(cells: list[Cell]) -> Any:
    """Lay the cells on one sheet, with the pictures as they came above them."""
    columns, rows = len(PICTURES), len(Sizing) * len(PRODUCTS)
    across, down = CELL + GAP, CELL + LABEL + GAP
    width, height = ROW_TITLE + columns * across, (rows + 1) * down + GAP
    frames: list[str] = []
    pasted: list[tuple[Any, int, int]] = []

    def put(image: Any, row: int, column: int, label: str) -> None:
        small = image.thumbnail_image(CELL, height=CELL)
        left = ROW_TITLE + column * across + (CELL - small.width) // 2
        top = GAP + row * down + (CELL - small.height) // 2
        pasted.append((small, left, top))
        frames.append(
            f'<rect x="{left - 1}" y="{top - 1}" width="{small.width + 2}"'
            f' height="{small.height + 2}" fill="none" stroke="#888" stroke-width="2"/>'
            + _write(label, left + small.width / 2, top + small.height + 20)
        )

    for column, (name, size) in enumerate(PICTURES.items()):
        put(draw_source(size), 0, column, name)
    for number, cell in enumerate(cells):
        row, column = divmod(number, columns)
        put(cell.preview, row + 1, column, _describe(cell.placement))
        if column == 0:
            y = GAP + (row + 1) * down + CELL / 2
            frames.append(_write(cell.sizing, 14, y, is_title=True))
            frames.append(_write(cell.product, 14, y + 20, is_title=True))
    frames.append(_write("The picture as it came", 14, GAP + CELL / 2, is_title=True))
    sheet = _draw(width, height, f'<rect width="100%" height="100%" fill="#fff"/>{"".join(frames)}')
    for image, left, top in pasted:
        sheet = sheet.insert(image, left, top)
    return sheet


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


def _write(words: str, x: float, y: float, *, is_title: bool = False) -> str:
    style = 'text-anchor="start" font-weight="bold"' if is_title else 'text-anchor="middle"'
    return (
        f'<text x="{x}" y="{y}" {style} font-size="13" font-family="{FONT}" fill="#222">'
        f"{words}</text>"
    )


def main(target: Path) -> None:
    """Draw the sheet."""
    with ImageProcessor(slots=1) as processor:
        sheet = compose(list(draw_cells(processor)))
    sheet.pngsave(str(target), palette=True, Q=90, dither=0, effort=10, keep="none")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SHEET)
