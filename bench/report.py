"""Tables for people: what a part has measured, and all budgets at the end."""

from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from bench.budgets import BUDGETS, INCONCLUSIVE, MET, MISSED, Budget
from bench.lines import Line
from bench.results import PartResult, Result

QUIET_LOAD: Final = 0.5
FAILED: Final = "failed"
COLOURS: Final = {MET: "green", MISSED: "red", INCONCLUSIVE: "yellow", FAILED: "red"}
# Each figure, where it was measured, with its heading and format.
FIGURES: Final = {
    "per_second": ("requests/s", ",.0f"),
    "cpu_us": ("CPU µs each", ",.0f"),
    "p50_ms": ("p50 ms", ".2f"),
    "p95_ms": ("p95 ms", ".2f"),
    "p99_ms": ("p99 ms", ".2f"),
    "most_ms": ("longest ms", ".1f"),
    "statements_ms": ("before the commit, ms", ".2f"),
    "least_cpu_ms": ("least CPU ms", ".1f"),
    "cpu_ms": ("CPU ms", ".1f"),
    "wall_ms": ("wall ms", ".1f"),
    "peak_mb": ("peak MB", ".0f"),
    "few_ms": ("few, ms", ".2f"),
    "many_ms": ("many, ms", ".2f"),
    "count": ("count", ",.0f"),
}


class Row(NamedTuple):
    """A line of the final table: a budget on a database, and what became of it."""

    part: str
    line: Line
    budget: Budget | None
    verdict: str


def list_rows(result: Result) -> Iterator[Row]:
    """Return every budget of the parts that were run, met or not, and the other lines."""
    for part, found in result.parts.items():
        budgets = BUDGETS.get(part, {})
        for database, one in found.items():
            yield from _list_measured(part, database, one, budgets)
            if one.failure:
                yield from _list_failed(part, database, one, budgets)


def _list_measured(
    part: str, database: str, found: PartResult, budgets: Mapping[str, Budget]
) -> Iterator[Row]:
    for line in found.lines:
        budget = budgets.get(line.name)
        if budget and (line.database or database) not in budget.databases:
            budget = None
        yield Row(part, line, budget, budget.judge(line) if budget else "")


def _list_failed(
    part: str, database: str, found: PartResult, budgets: Mapping[str, Budget]
) -> Iterator[Row]:
    measured = {(line.name, line.database) for line in found.lines}
    reason = found.failure.splitlines()[0]
    for name, budget in budgets.items():
        for one in budget.databases:
            if database in ("", one) and (name, one) not in measured:
                yield Row(part, Line(name, None, note=reason, database=one), budget, FAILED)


def show_part(console: Console, part: str, database: str, found: PartResult) -> None:
    """Print what a part has measured."""
    title = f"{part}, {database}" if database else part
    for name, lines in found.figures.items():
        console.print(_draw_figures(f"{title}: {name}", lines))
    alone = Result("", parts={part: {database: found}})
    if found.lines:
        console.print(draw_lines(title, alone))
    if found.failure:
        console.print(
            f"[red]{title} failed[/red] after {found.seconds:.0f} s:", escape(found.failure)
        )


def show_all(console: Console, result: Result) -> None:
    """Print the final table."""
    console.print(draw_lines(f"budgets at {result.commit}", result, only_budgets=True))
    loads = [one.load for found in result.parts.values() for one in found.values()]
    if max(loads, default=0) > QUIET_LOAD:
        console.print("[yellow]The machine was busy: do not trust any single ratio.")


def draw_lines(title: str, result: Result, *, only_budgets: bool = False) -> Table:
    """Draw ours, the peer's, the ratio and the budget of every line."""
    table = Table("", "database", title=title, title_justify="left")
    for heading in ("ours", "peer", "value", "rounds", "budget"):
        table.add_column(heading, justify="right")
    table.add_column("")
    for row in list_rows(result):
        if only_budgets and row.budget is None:
            continue
        colour = COLOURS.get(row.verdict, "default")
        said = escape(" ".join(word for word in (row.verdict, row.line.note) if word))
        table.add_row(*write_cells(row), f"[{colour}]{said}")
    return table


def write_cells(row: Row) -> list[str]:
    """Return name, database, ours, peer, value, spread and budget as text."""
    line = row.line
    spread = " to ".join(map(write_figure, line.spread)) if line.spread else ""
    figures = [write_figure(one) for one in (line.ours, line.peer, line.value)]
    return [line.name, line.database, *figures, spread, str(row.budget or "")]


def write_figure(figure: float | None) -> str:
    """Write a figure with three digits that count, and none that do not."""
    if figure is None:
        return ""
    return f"{figure:,.0f}" if abs(figure) >= 100 else f"{figure:.3g}"


def _draw_figures(title: str, lines: Mapping[str, Mapping[str, Any]]) -> Table:
    shown = {
        key: how for key, how in FIGURES.items() if any(key in line for line in lines.values())
    }
    table = Table("what", title=title, title_justify="left")
    for heading, _ in shown.values():
        table.add_column(heading, justify="right")
    for name, line in lines.items():
        figures = {key: line.get(key) for key in shown}
        cells = [
            f"{figure:{FIGURES[key][1]}}" if isinstance(figure, int | float) else ""
            for key, figure in figures.items()
        ]
        table.add_row(name, *cells)
    return table
