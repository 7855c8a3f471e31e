"""Bars stand where their figures say, and nothing is drawn outside of the drawing."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.dashboard.shared.charts import (
    HEIGHT,
    WIDTH,
    ChartOptions,
    Series,
    find_top,
    make_chart,
)

FIRST = date(2026, 11, 1)
figures = st.lists(st.integers(0, 10**12), min_size=1, max_size=40)


@pytest.mark.parametrize(
    ("largest", "top"), [(0, 2), (1, 2), (3, 4), (9, 10), (10, 10), (11, 20), (21, 40), (81, 100)]
)
def test_the_axis_ends_with_a_round_number(largest: int, top: int) -> None:
    assert find_top(largest) == top


@given(figures)
def test_every_bar_is_within_the_drawing_and_as_high_as_its_figure(values: list[int]) -> None:
    days = [FIRST + timedelta(days=place) for place in range(len(values))]

    chart = make_chart("Orders", days, [Series("Orders", values)], ChartOptions())

    assert len(chart.bars) == sum(1 for value in values if value)
    for bar in chart.bars:
        assert bar.x >= chart.left
        assert bar.x + bar.width <= WIDTH
        assert bar.y >= 0
        assert bar.y + bar.height <= HEIGHT
    top = find_top(max(values))
    room = chart.lines[0].at - chart.lines[-1].at
    highest = max((bar.height for bar in chart.bars), default=0)
    assert highest == pytest.approx(room * max(values) / top, abs=0.2)
    drawn = "".join(path for _, path in chart.paths)
    assert drawn == "".join(bar.outline for bar in chart.bars)


def test_series_stand_on_top_of_each_other_and_are_all_in_the_table() -> None:
    chart = make_chart(
        "Production",
        [FIRST],
        [Series("In time", [3]), Series("Late", [1], "bad")],
        ChartOptions(more=[("Hours", ["12 hours"])]),
    )

    lower, upper = chart.bars
    assert upper.y + upper.height == pytest.approx(lower.y, abs=0.2)
    assert lower.height == pytest.approx(3 * upper.height, abs=0.5)
    assert (lower.look, upper.look) == ("", "bad")
    assert dict(chart.paths) == {"": lower.outline, "bad": upper.outline}
    assert chart.columns == ("In time", "Late", "Hours")
    assert [row.cells for row in chart.rows] == [("3", "1", "12 hours")]


def test_days_without_figures_draw_nothing() -> None:
    assert make_chart("Orders", [FIRST], [Series("Orders", [0])], ChartOptions()).is_empty
