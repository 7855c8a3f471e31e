"""Watches that whatever is sent to SQLite is sent to PostgreSQL as well.

Most tests of the API, the pages and the commands run on SQLite alone. That proves no less as
long as each place in the program that sends a statement does so on both databases somewhere in
the run. A complete run that finds a place that does not fails, and names it: mark a test that
gets there with `both_databases`.
"""

import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

from sqlalchemy import Connection, Engine, event

import printworks

_PROGRAM: Final = Path(printworks.__file__).parent
# What opens and prepares a database differs between the two by its nature.
_EITHER: Final = tuple(
    str(_PROGRAM / path)
    for path in ("store/engine", "store/tables/migrations", "store/tables/schema.py")
)
# Only SQLite is brought up to date by a command, and has a mode to check.
_SQLITE_ALONE: Final = ("prepare_schema", "_check_sqlite")

Places = set[tuple[str, CodeType, int]]


def watch_statements() -> Places:
    """Remember from now on which place sends a statement to which database."""
    places: Places = set()
    program = str(_PROGRAM)

    def remember(connection: Connection, *_: Any) -> None:
        frame: FrameType | None = sys._getframe(1)
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(program) and not file.startswith(_EITHER):
                places.add((connection.dialect.name, frame.f_code, frame.f_lineno))
                return
            frame = frame.f_back

    event.listen(Engine, "before_cursor_execute", remember)
    return places


def write_places(places: Places) -> list[tuple[str, str]]:
    """Return each database and place as text, to be sent to the process that leads the run."""
    return [
        (database, f"{Path(code.co_filename).relative_to(_PROGRAM)}:{line} ({code.co_qualname})")
        for database, code, line in places
        if not code.co_qualname.startswith(_SQLITE_ALONE)
    ]


def find_untried(places: list[tuple[str, str]]) -> list[str]:
    """Return the places that send statements to SQLite and never did to PostgreSQL."""
    tried: dict[str, set[str]] = {}
    for database, place in places:
        tried.setdefault(database, set()).add(place)
    return sorted(tried.get("sqlite", set()) - tried.get("postgresql", set()))
