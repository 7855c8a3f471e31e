"""Show what changed between two results: `python -m bench.compare OLD NEW`.

Each is a commit, however Git may call it, or the path of a file.
"""

import argparse
import sys
from collections.abc import Iterator
from typing import Final, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.report import COLOURS, Row, list_rows, write_figure
from bench.results import Result, find_result

BETTER: Final = "better"
WORSE: Final = "worse"
SAME: Final = "within the rounds"


class Change(NamedTuple):
    """A line of both results; one of them may lack it."""

    name: str
    database: str
    old: Row | None
    new: Row | None

    @property
    def by(self) -> float | None:
        """By how much the value has changed, as a fraction of the old one."""
        old, new = self._values()
        return None if not old or new is None else new / old - 1

    @property
    def direction(self) -> str:
        """Whether it is better or worse than the rounds of both can explain."""
        if self.old is None or self.new is None or not self.by:
            return ""
        budget = self.new.budget
        if budget is None:
            return ""
        (low, high), (new_low, new_high) = (_find_spread(row) for row in (self.old, self.new))
        if new_low <= high and low <= new_high:
            return SAME
        return BETTER if (self.by > 0) == (budget.at_least is not None) else WORSE

    def _values(self) -> tuple[float | None, float | None]:
        return (
            None if self.old is None else self.old.line.value,
            None if self.new is None else self.new.line.value,
        )


def _find_spread(row: Row) -> tuple[float, float]:
    value = row.line.value or 0.0
    return row.line.spread or (value, value)


def list_changes(old: Result, new: Result) -> Iterator[Change]:
    """Return every line of either result, in the order of the new one."""
    before, after = ({_key(row): row for row in list_rows(one)} for one in (old, new))
    for part, name, database in dict.fromkeys([*after, *before]):
        key = (part, name, database)
        yield Change(name, database, before.get(key), after.get(key))


def _key(row: Row) -> tuple[str, str, str]:
    return row.part, row.line.name, row.line.database


def draw_changes(old: Result, new: Result) -> Table:
    """Draw both values of every line, and the verdict on the change."""
    table = Table("", "database", title=f"{old.commit} → {new.commit}", title_justify="left")
    for heading in ("old", "new", "change", "budget"):
        table.add_column(heading, justify="right")
    table.add_column("then")
    table.add_column("now")
    table.add_column("")
    for change in list_changes(old, new):
        rows = (change.old, change.new)
        values = [write_figure(row.line.value) if row else "" for row in rows]
        by = "" if change.by is None else f"{change.by:+.0%}"
        budgets = [str(row.budget) for row in reversed(rows) if row and row.budget]
        verdicts = [
            f"[{COLOURS.get(row.verdict, 'default')}]{row.verdict}" if row else "" for row in rows
        ]
        table.add_row(
            change.name,
            change.database,
            *values,
            by,
            *(budgets or [""])[:1],
            *verdicts,
            change.direction,
        )
    return table


def main() -> None:
    """Compare two results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("old")
    parser.add_argument("new")
    options = parser.parse_args()
    try:
        old, new = (Result.read(find_result(name)) for name in (options.old, options.new))
    except FileNotFoundError as error:
        sys.exit(str(error))
    console = Console(width=None if sys.stdout.isatty() else 160)
    console.print(draw_changes(old, new))
    different = {
        name: (value, new.machine.get(name))
        for name, value in old.machine.items()
        if name not in ("date", "flush_ms") and value != new.machine.get(name)
    }
    for name, (before, after) in different.items():
        console.print(f"[yellow]Not the same machine: {name} was {before} and is {after}.")


if __name__ == "__main__":
    main()
