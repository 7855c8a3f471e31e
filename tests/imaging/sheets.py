"""A sheet of pictures in rows, with a title for each row and a line under each picture."""

from collections.abc import Sequence
from typing import Any, Final

import pyvips

FONT: Final = "DejaVu Sans, Liberation Sans, Arial, sans-serif"
_CELL: Final = 220
_GAP: Final = 24
_LABEL: Final = 40
_ACROSS: Final = _CELL + _GAP
_DOWN: Final = _CELL + _LABEL + _GAP
_TITLE: Final = 190


class Sheet:
    """Takes pictures until it is drawn."""

    def __init__(self, rows: int, columns: int) -> None:
        self._width, self._height = _TITLE + columns * _ACROSS, rows * _DOWN + _GAP
        self._drawn: list[str] = []
        self._pasted: list[tuple[Any, int, int]] = []

    def put(self, image: Any, row: int, column: int, label: str) -> None:
        """Put a picture into a cell, with a frame around it."""
        small = image.thumbnail_image(_CELL, height=_CELL)
        left = _TITLE + column * _ACROSS + (_CELL - small.width) // 2
        top = _GAP + row * _DOWN + (_CELL - small.height) // 2
        self._pasted.append((small, left, top))
        self._drawn.append(
            f'<rect x="{left - 1}" y="{top - 1}" width="{small.width + 2}"'
            f' height="{small.height + 2}" fill="none" stroke="#888" stroke-width="2"/>'
            + _write(label, left + small.width / 2, top + small.height + 20)
        )

    def name_row(self, row: int, lines: Sequence[str]) -> None:
        """Write on the left what is in a row."""
        y = _GAP + row * _DOWN + _CELL / 2
        for number, line in enumerate(lines):
            self._drawn.append(_write(line, 14, y + 20 * number, is_title=True))

    def draw(self) -> Any:
        """Return the whole sheet."""
        ground = '<rect width="100%" height="100%" fill="#fff"/>'
        sheet = draw_svg(self._width, self._height, ground + "".join(self._drawn))
        for image, left, top in self._pasted:
            sheet = sheet.insert(image, left, top)
        return sheet


def draw_svg(width: int, height: int, content: str) -> Any:
    """Draw what is inside an SVG element, on white."""
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}">{content}</svg>'
    )
    image = pyvips.Image.svgload_buffer(svg.encode())
    return image.flatten(background=[255, 255, 255]).copy(interpretation="srgb")


def _write(words: str, x: float, y: float, *, is_title: bool = False) -> str:
    style = 'text-anchor="start" font-weight="bold"' if is_title else 'text-anchor="middle"'
    return (
        f'<text x="{x}" y="{y}" {style} font-size="13" font-family="{FONT}" fill="#222">'
        f"{words}</text>"
    )
