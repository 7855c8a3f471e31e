"""Opens the database for a command: with the tables of this version, in its own environment."""

from collections.abc import Iterator
from contextlib import contextmanager

from printworks.actions.accounts.secrets import prepare_secrets
from printworks.actions.services import Services
from printworks.settings import Settings
from printworks.store.accounts.secrets import ENVIRONMENT, claim_environment, find_secret
from printworks.store.engine.database import Database, DatabaseUnusable
from printworks.store.engine.statistics import forget_statistics
from printworks.store.tables import schema
from printworks.store.tables.schema import SchemaFit, SchemaState
from printworks.store.tables.transfer.copies import find_copy


def make_data_folder(settings: Settings) -> None:
    """Make the data folder, for its owner alone, if it does not exist."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)


@contextmanager
def open_services(settings: Settings) -> Iterator[Services]:
    """Open the services, and a database with the tables of this version, for the block.

    SQLite is brought up to date on the way; PostgreSQL, which other processes may be using, only
    by `printworks migrate`.
    """
    make_data_folder(settings)
    services = Services(settings, connections=2)
    try:
        prepare_schema(services.database)
        _check_whole(services.database)
        _check_environment(services.database, settings.environment)
        prepare_secrets(services.database, services.vault)
        yield services
    finally:
        services.close()


def _check_whole(database: Database) -> None:
    """Refuse a database that is still being copied to."""
    with database.reading() as db:
        state = find_copy(db)
    if state is not None:
        raise DatabaseUnusable(
            "This database is an unfinished copy; run the same `printworks copy` again, to its end."
        )


def _check_environment(database: Database, environment: str) -> None:
    """Refuse a database that was begun in the other environment: nothing may leak between them."""
    with database.reading() as db:
        found = find_secret(db, ENVIRONMENT)
    if found is None:
        with database.writing() as db:
            found = claim_environment(db, environment)
    if found != environment:
        raise DatabaseUnusable(
            f"This database was begun as {found}, and the setting `environment` is {environment}; "
            "use another database."
        )


def prepare_schema(database: Database) -> None:
    """Bring SQLite up to date; raise `DatabaseUnusable` if PostgreSQL is not."""
    found = find_usable_schema(database)
    forget_statistics(database)
    if found.fit is not SchemaFit.TOO_OLD:
        return
    if not database.is_sqlite:
        raise DatabaseUnusable(
            f"The database is {'empty' if found.revision is None else f'at {found.describe()}'}, "
            f"and this program needs revision {schema.LATEST}; run `printworks migrate`."
        )
    schema.migrate(database)


def find_usable_schema(database: Database) -> SchemaState:
    """Return the state of the tables; raise `DatabaseUnusable` if they are too new."""
    found = schema.find_schema(database)
    if found.fit is SchemaFit.TOO_NEW:
        raise DatabaseUnusable(
            f"The database is at {found.describe()}, and this program is of revision "
            f"{schema.LATEST}; install a newer program, or restore the backup that was made "
            "before the upgrade."
        )
    return found
