"""Write the figures of a result into the documentation: `python -m bench.publish [COMMIT]`.

Only what lies between the two marks of docs/operate/performance.md is replaced.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from bench.budgets import BUDGETS
from bench.report import list_rows, write_cells
from bench.results import Result, find_result
from bench.tools import ROOT

PAGE: Final = ROOT / "docs" / "operate" / "performance.md"
BEGIN: Final = "<!-- figures: written by `python -m bench.publish` -->\n"
END: Final = "<!-- end of figures -->\n"
FACTS: Final = ("cores", "processor", "memory_gb", "kernel", "python", "sqlite", "flush_ms")


def write_page(page: str, result: Result) -> str:
    """Return the page with the figures of a result."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        message = f"The page lacks {BEGIN.strip()} or {END.strip()}."
        raise ValueError(message)
    return f"{before}{BEGIN}\n{''.join(_write_figures(result))}\n{END}{after}"


def _write_figures(result: Result) -> Iterator[str]:
    facts = ", ".join(f"{name} {result.machine.get(name, '?')}" for name in FACTS)
    loads = [one.load for found in result.parts.values() for one in found.values()]
    yield f"Commit `{result.commit}`, {result.machine.get('date', '?')}; {facts}; "
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


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("result", nargs="?", default="HEAD", help="a commit or a file")
    parser.add_argument("--page", type=Path, default=PAGE)
    options = parser.parse_args()
    try:
        result = Result.read(find_result(options.result))
    except FileNotFoundError as error:
        sys.exit(str(error))
    options.page.write_text(write_page(options.page.read_text(), result))


if __name__ == "__main__":
    main()
