"""Write the figures of a result into the documentation: `python -m bench.publish [COMMIT ...]`.

Of several, each part is from the last that has it. Only what lies between the two marks of
docs/operate/performance.md is replaced.
"""

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from bench.budgets import BUDGETS
from bench.report import list_rows, write_cells
from bench.results import Result, find_result
from bench.tools import ROOT

PAGE: Final = ROOT / "docs" / "operate" / "performance.md"
BEGIN: Final = "<!-- figures: written by `python -m bench.publish` -->\n"
END: Final = "<!-- end of figures -->\n"
# By part and database.
Used = dict[tuple[str, str], Result]
FACTS: Final = ("cores", "processor", "memory_gb", "kernel", "python", "sqlite", "flush_ms")


def write_page(page: str, *results: Result) -> str:
    """Return the page with the figures of one or more results."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        message = f"The page lacks {BEGIN.strip()} or {END.strip()}."
        raise ValueError(message)
    return f"{before}{BEGIN}\n{''.join(_write_figures(results))}\n{END}{after}"


def _write_figures(results: Sequence[Result]) -> Iterator[str]:
    used = _find_latest(results)
    result = _merge(results[-1], used)
    loads = [one.load for found in result.parts.values() for one in found.values()]
    yield f"{'. '.join(_name_machines(results, used))}; "
    yield f"load when a part began: at most {max(loads, default=0):g}.\n\n"
    yield "| | database | ours | peer | value | rounds | budget | |\n"
    yield "|---|---|---:|---:|---:|---:|---:|---|\n"
    for row in list_rows(result):
        if row.budget is not None:
            said = f"{row.verdict} {row.line.note}".strip().replace("|", "\\|")
            yield f"| {' | '.join([*write_cells(row), said])} |\n"
    missing = [part for part in BUDGETS if part not in result.parts]
    if missing:
        yield f"\nNot measured at this commit: {', '.join(missing)}.\n"


def _find_latest(results: Sequence[Result]) -> Used:
    """Return the last result that has a part on a database."""
    return {
        (part, database): result
        for result in results
        for part, found in result.parts.items()
        for database in found
    }


def _merge(last: Result, used: Used) -> Result:
    merged = Result(last.commit, last.machine)
    for (part, database), result in used.items():
        merged.add(part, database, result.parts[part][database])
    return merged


def _name_machines(results: Sequence[Result], used: Used) -> Iterator[str]:
    """Say on which machine which commits were measured, and what."""
    machines: dict[str, list[Result]] = {}
    for result in results:
        machines.setdefault(result.machine.get("processor", "?"), []).append(result)
    for measured in machines.values():
        named = ", ".join(_name_parts(measured, used, are_all=len(results) == 1))
        if named:
            machine = measured[-1].machine
            facts = ", ".join(f"{name} {machine.get(name, '?')}" for name in FACTS)
            yield f"Commit {named}; {facts}"


def _name_parts(results: Sequence[Result], used: Used, *, are_all: bool) -> Iterator[str]:
    """Say which parts are from which commit, the oldest first."""
    for result in results:
        named = f"`{result.commit}` of {result.machine.get('date', '?')}"
        parts = dict.fromkeys(part for (part, _), one in used.items() if one is result)
        if are_all:
            yield named
        elif parts:
            yield f"{named} ({', '.join(parts)})"


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="*", default=["HEAD"], help="commits or files")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    try:
        results = [Result.read(find_result(name)) for name in options.results]
    except FileNotFoundError as error:
        sys.exit(str(error))
    options.page.write_text(write_page(options.page.read_text(), *results))


if __name__ == "__main__":
    main()
