"""What every command shares: the data folder, its settings and its database."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

    from printworks.settings import Settings
    from printworks.store.engine.database import Database

Data = Annotated[
    Path | None,
    typer.Option("--data", metavar="DIR", help="The folder in which everything lives."),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]


def load_settings(context: typer.Context, data: Path | None) -> "Settings":
    """Read the settings of the data folder named by the command, or before it, or by default."""
    from printworks.settings import Settings

    return Settings.load(data or context.find_root().obj or Path("data"), os.environ)


def make_data_folder(settings: "Settings") -> None:
    """Make the data folder, for its owner alone, if it does not exist."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)


@contextmanager
def open_database(settings: "Settings") -> Iterator["Database"]:
    """Open the database, with the tables of this version, for the length of the block.

    SQLite is brought up to date on the way; PostgreSQL, which others may be using, only
    by `printworks migrate`.
    """
    from printworks.store.engine.database import Database

    make_data_folder(settings)
    database = Database(settings.database_url, connections=2)
    try:
        prepare_schema(database)
        _check_environment(database, settings.environment)
        yield database
    finally:
        database.close()


def _check_environment(database: "Database", environment: str) -> None:
    """Refuse a database that was begun in the other environment: nothing may leak between them."""
    from printworks.store.accounts.secrets import ENVIRONMENT, claim_environment, find_secret
    from printworks.store.engine.database import DatabaseUnusable

    with database.reading() as db:
        found = find_secret(db, ENVIRONMENT)
    if found is None:
        with database.writing() as db:
            found = claim_environment(db, environment)
    if found != environment:
        message = (
            f"This database was begun as {found}, and the setting `environment` is {environment}; "
            "use another database."
        )
        raise DatabaseUnusable(message)


def prepare_schema(database: "Database") -> None:
    """Bring SQLite up to date; raise `DatabaseUnusable` if PostgreSQL is not."""
    from printworks.store.engine.database import DatabaseUnusable
    from printworks.store.tables import schema

    found = find_usable_revision(database)
    if found == schema.LATEST:
        return
    if not database.is_sqlite:
        message = (
            f"The database is {'empty' if found is None else f'at revision {found}'}, "
            f"and this program needs revision {schema.LATEST}; run `printworks migrate`."
        )
        raise DatabaseUnusable(message)
    schema.migrate(database)


def find_usable_revision(database: "Database") -> str | None:
    """Return the revision the database is at; raise `DatabaseUnusable` if we are too old for it."""
    from printworks.store.engine.database import DatabaseUnusable
    from printworks.store.tables import schema

    found = schema.find_revision(database)
    if found is not None and found > schema.LATEST:
        message = (
            f"The database is at revision {found}, which is newer than this program's "
            f"{schema.LATEST}; install the newer program."
        )
        raise DatabaseUnusable(message)
    return found


def print_json(value: Any) -> None:
    """Print one line of JSON."""
    import msgspec

    sys.stdout.write(msgspec.json.encode(value, enc_hook=str).decode() + "\n")


def make_console() -> "Console":
    """Return a console that prints text as it is and breaks no line that will be copied."""
    from rich.console import Console

    return Console(highlight=False, markup=False, emoji=False, soft_wrap=True)
