"""Bar charts by day: positions are calculated here and rendered by a template."""

from collections.abc import Callable, Sequence
from datetime import date
from typing import Final, Literal

import msgspec

from printworks.dashboard.shared.dates import write_date, write_day_of_year
from printworks.dashboard.shared.labels import Tone

# In the units of the chart, which scales with the page.
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
# The style of bars: normal, or bad.
Look = Literal["", "bad"]


class Series(msgspec.Struct, frozen=True):
    """One figure of every day; several stand on top of each other."""

    name: str
    values: Sequence[int]
    look: Look = ""


class Bar(msgspec.Struct, frozen=True):
    """The position of a bar."""

    x: float
    y: float
    width: float
    height: float
    look: Look

    @property
    def outline(self) -> str:
        """The bar as part of a path."""
        return f"M{self.x} {self.y}h{self.width}v{self.height}h-{self.width}z"


class Mark(msgspec.Struct, frozen=True):
    """A line across, or a day below, with its label."""

    at: float
    label: str


class ChartRow(msgspec.Struct, frozen=True):
    """The figures of a day, for the table below the chart."""

    day: str
    cells: tuple[str, ...]


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """A chart, and the same figures as a table."""

    title: str
    # What the figures come to, in a sentence.
    summary: str
    tone: Tone
    bars: tuple[Bar, ...]
    lines: tuple[Mark, ...]
    days: tuple[Mark, ...]
    # The name and the style of each series, if there are several.
    legend: tuple[tuple[str, Look], ...]
    columns: tuple[str, ...]
    rows: tuple[ChartRow, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = _LEFT
    right: int = WIDTH - _RIGHT

    @property
    def is_empty(self) -> bool:
        """Whether all figures are zero."""
        return not self.bars

    @property
    def paths(self) -> tuple[tuple[Look, str], ...]:
        """All bars of a style as one path: a page has hundreds of them."""
        outlines: dict[Look, list[str]] = {}
        for bar in self.bars:
            outlines.setdefault(bar.look, []).append(bar.outline)
        return tuple((look, "".join(parts)) for look, parts in outlines.items())


class ChartOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What else a chart shows, and how it writes its figures."""

    summary: str = ""
    tone: Tone = ""
    write: Write = "{:,}".format
    write_axis: Write | None = None
    # Columns that only the table has.
    more: Sequence[tuple[str, Sequence[str]]] = ()


def make_chart(
    title: str, days: Sequence[date | str], series: Sequence[Series], options: ChartOptions
) -> Chart:
    """Return a bar chart of figures by day; what is no day has a name instead."""
    write_axis = options.write_axis or options.write
    totals = [sum(values) for values in zip(*(one.values for one in series), strict=True)]
    top = find_top(max(totals, default=0))
    return Chart(
        title=title,
        summary=options.summary,
        tone=options.tone,
        bars=_place_bars(series, len(days), top),
        lines=tuple(
            Mark(_find_y(value, top), write_axis(value)) for value in sorted({0, top // 2, top})
        ),
        days=tuple(
            Mark(
                _find_x(place + 0.5, len(days)),
                day if isinstance(day, str) else write_day_of_year(day),
            )
            for place, day in enumerate(days)
            if (len(days) - 1 - place) % _LABEL_EVERY == 0
        ),
        legend=tuple((one.name, one.look) for one in series) if len(series) > 1 else (),
        columns=(*(one.name for one in series), *(name for name, _ in options.more)),
        rows=_list_rows(days, series, options),
    )


def _list_rows(
    days: Sequence[date | str], series: Sequence[Series], options: ChartOptions
) -> tuple[ChartRow, ...]:
    columns = [
        *([options.write(value) for value in one.values] for one in series),
        *(cells for _, cells in options.more),
    ]
    return tuple(
        ChartRow(
            day if isinstance(day, str) else write_date(day),
            tuple(cells[place] for cells in columns),
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
