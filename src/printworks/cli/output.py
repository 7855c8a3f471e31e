"""How commands answer: in text for people, or with `--json` for programs."""

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import msgspec

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

Members: TypeAlias = Mapping[str, Any]
# A column of a table shows a member, or what a function makes of them all.
Column: TypeAlias = str | Callable[[Any], object]
# By their headings.
Columns: TypeAlias = Mapping[str, Column]

WIDEST: Final = 240


class Output:
    """Prints one answer, in text or as JSON."""

    def __init__(self, *, is_json: bool) -> None:
        self.is_json = is_json

    def show(self, members: Any, *lines: "RenderableType") -> None:
        """Print lines for people, or the same as members for programs."""
        if self.is_json:
            print_json(members)
        else:
            console = make_console()
            for line in lines:
                console.print(line)

    def done(self, sentence: str, **members: object) -> None:
        """Say that something was done, and to what."""
        self.show({"ok": True, **members}, sentence)

    def show_list(
        self, rows: Sequence[Members], columns: Columns, none: str, *, limit: int | None = None
    ) -> None:
        """Print a table with these columns, or a sentence if there are no rows.

        With a limit, pass one row more, so that people learn of those that are not shown.
        """
        shown = rows[:limit]
        if self.is_json:
            print_json(shown)
        else:
            # Imported here, and below: those that run for long print nothing.
            from rich.table import Table

            table = Table(*columns, box=None)
            for row in shown:
                table.add_row(*(write(_cell(row, column)) for column in columns.values()))
            print_wide(table if shown else none)
        if len(shown) < len(rows):
            note(f"There are more than {limit}; --limit shows more.")


def _cell(row: Members, column: Column) -> object:
    return row[column] if isinstance(column, str) else column(row)


def write(value: object) -> str:
    """Write a value as people read it."""
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case datetime():
            return f"{value:%Y-%m-%d %H:%M:%S} UTC"
        case Mapping():
            return "; ".join(f"{name} {write(part)}" for name, part in value.items())
        case list() | tuple():
            return ", ".join(map(write, value))
        case _:
            return str(value)


def align(facts: Members) -> list[str]:
    """Return a line for each fact, with the values below each other."""
    width = max(map(len, facts))
    return [f"{name:<{width}}  {write(value)}".rstrip() for name, value in facts.items()]


def write_money(amount: int, currency: str) -> str:
    """Write an amount in minor units as people do."""
    return f"{amount / 100:,.2f} {currency}"


def write_count(number: int, one: str, several: str) -> str:
    """Write how many of something there are."""
    return f"{number:,} {one if number == 1 else several}"


def write_debt(owed: int, currency: str) -> str:
    """Write what a merchant owes, or has in its favour, without a sign."""
    if owed < 0:
        return f"nothing, and has {write_money(-owed, currency)} in its favour"
    return write_money(owed, currency) if owed else "nothing"


def pick(thing: Any, *names: str) -> dict[str, Any]:
    """Return some attributes of a thing by their names in JSON, which are in camel case."""
    return {_camel(name): getattr(thing, name) for name in names}


def _camel(name: str) -> str:
    return re.sub("_(.)", lambda found: found[1].upper(), name)


def print_json(value: Any) -> None:
    sys.stdout.write(msgspec.json.encode(value, enc_hook=str).decode() + "\n")


def note(*sentences: str) -> None:
    """Write beside the answer, which a program may be reading."""
    sys.stderr.writelines(f"{sentence}\n" for sentence in sentences)
    sys.stderr.flush()


def print_wide(shown: "RenderableType") -> None:
    """Print a table as wide as it needs to be: half a sku is of no use."""
    console = make_console()
    console.width = max(console.width, WIDEST)
    console.print(shown)


def make_console() -> "Console":
    """Return a console that prints text as it is and breaks no line that will be copied."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
