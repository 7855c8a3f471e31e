"""Figures by day as bars: where each bar stands is reckoned here, and drawn by a template."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Final, Literal

import msgspec

from printworks.dashboard.site.rendering import Tone

# In the units of the drawing, which grows with its place on the page.
WIDTH: Final = 480
HEIGHT: Final = 170
_LEFT: Final = 50
_RIGHT: Final = 20
_TOP: Final = 10
_BOTTOM: Final = 26
# How much of a day's room its bar takes.
_FILLED: Final = 0.72
_LABEL_EVERY: Final = 7
_STEPS: Final = (2, 4, 6, 8, 10)

Write = Callable[[int], str]
# How bars look: as usual, or as something bad.
Look = Literal["", "bad"]


class Series(msgspec.Struct, frozen=True):
    """One figure of every day; several stand on top of each other."""

    name: str
    values: Sequence[int]
    look: Look = ""


class Bar(msgspec.Struct, frozen=True):
    """A bar as it is drawn."""

    x: float
    y: float
    width: float
    height: float
    look: Look


class Mark(msgspec.Struct, frozen=True):
    """A line across, or a day below, with its label."""

    at: float
    label: str


class ChartRow(msgspec.Struct, frozen=True):
    """The figures of a day, for whoever reads and does not look."""

    day: date
    cells: tuple[str, ...]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A drawing, and the same figures as a table."""

    title: str
    # What the figures come to, in a sentence.
    summary: str
    tone: Tone
    bars: tuple[Bar, ...]
    lines: tuple[Mark, ...]
    days: tuple[Mark, ...]
    # The name and the look of each series, where there are several.
    legend: tuple[tuple[str, Look], ...]
    columns: tuple[str, ...]
    rows: tuple[ChartRow, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to draw."""
        return not self.bars


def draw_bars(
    title: str,
    days: Sequence[date],
    series: Sequence[Series],
    *,
    summary: str = "",
    tone: Tone = "",
    write: Write = "{:,}".format,
    write_axis: Write | None = None,
    more: Sequence[tuple[str, Sequence[str]]] = (),
) -> Chart:
    """Draw figures by day; `more` are columns that only the table has."""
    write_axis = write_axis or write
    totals = [sum(values) for values in zip(*(one.values for one in series), strict=True)]
    top = find_top(max(totals, default=0))
    return Chart(
        title=title,
        summary=summary,
        tone=tone,
        bars=_place_bars(series, len(days), top),
        lines=tuple(
            Mark(_find_y(value, top), write_axis(value)) for value in sorted({0, top // 2, top})
        ),
        days=tuple(
            Mark(_find_x(place + 0.5, len(days)), f"{day:%-d %b}")
            for place, day in enumerate(days)
            if (len(days) - 1 - place) % _LABEL_EVERY == 0
        ),
        legend=tuple((one.name, one.look) for one in series) if len(series) > 1 else (),
        columns=(*(one.name for one in series), *(name for name, _ in more)),
        rows=_list_rows(days, series, write, [cells for _, cells in more]),
    )


def _list_rows(
    days: Sequence[date],
    series: Sequence[Series],
    write: Write,
    more: Sequence[Sequence[str]],
) -> tuple[ChartRow, ...]:
    return tuple(
        ChartRow(
            day,
            (*(write(one.values[place]) for one in series), *(cells[place] for cells in more)),
        )
        for place, day in enumerate(days)
    )


def find_top(largest: int) -> int:
    """Return a round number that nothing is above, and whose half is one too."""
    size = 1
    while True:
        for step in _STEPS:
            if step * size >= largest:
                return step * size
        size *= 10


def _place_bars(series: Sequence[Series], days: int, top: int) -> tuple[Bar, ...]:
    width = (WIDTH - _LEFT - _RIGHT) / max(days, 1)
    bars = []
    for place in range(days):
        below = 0
        for one in series:
            value = one.values[place]
            if value <= 0:
                continue
            y = _find_y(below + value, top)
            height = _find_y(below, top) - y
            x = _find_x(place + (1 - _FILLED) / 2, days)
            bars.append(Bar(x, y, round(width * _FILLED, 1), round(height, 1), one.look))
            below += value
    return tuple(bars)


def _find_x(place: float, days: int) -> float:
    return round(_LEFT + place * (WIDTH - _LEFT - _RIGHT) / max(days, 1), 1)


def _find_y(value: int, top: int) -> float:
    room = HEIGHT - _TOP - _BOTTOM
    return round(_TOP + room * (1 - value / top), 1)
