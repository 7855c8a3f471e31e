"""The version of the database, and how to bring it up to date.

A migration says which is the oldest program that works with its tables (`serves_from`). That is
stored beside the revision, because a program knows nothing of the migrations that follow its own:
it can go on, or be started again, while the database has moved ahead of it.
"""

from enum import StrEnum
from pathlib import Path
from typing import Any, Final, NamedTuple

from sqlalchemy import inspect, text
from sqlalchemy.exc import OperationalError

from printworks.starting import doing_without
from printworks.store.engine.database import Database, DatabaseUnusable

# The newest file in `migrations/versions`; a test compares the two. It is here because asking
# Alembic would cost every start a fifth of a second.
LATEST: Final = "0001"
MIGRATIONS: Final = Path(__file__).parent / "migrations"

# Whoever changes a table keeps everybody out of it, and those who wait for a long transaction
# stop all who come after them. So it gives way soon, and tries again.
LOCK_TIMEOUT: Final = "3s"
ATTEMPTS: Final = 10
# Any number that nothing else in the database uses.
_ONE_AT_A_TIME: Final = "SELECT pg_advisory_xact_lock(5797421886)"


class SchemaFit(StrEnum):
    """How the tables fit this program."""

    TOO_OLD = "too old"
    CURRENT = "current"
    AHEAD = "ahead"  # of a newer program, and still good for this one
    TOO_NEW = "too new"


class SchemaState(NamedTuple):
    """The revision of a database, and the oldest program that works with it; None if empty."""

    revision: str | None
    serves_from: str | None

    @property
    def fit(self) -> SchemaFit:
        """Say how the tables fit this program."""
        if self.revision is None or self.revision < LATEST:
            return SchemaFit.TOO_OLD
        if self.revision == LATEST:
            return SchemaFit.CURRENT
        serves = self.serves_from is not None and self.serves_from <= LATEST
        return SchemaFit.AHEAD if serves else SchemaFit.TOO_NEW

    @property
    def is_usable(self) -> bool:
        """Say whether this program works with the tables as they are."""
        return self.fit in {SchemaFit.CURRENT, SchemaFit.AHEAD}

    def describe(self) -> str:
        """Name the revision, and whom it serves if that is another."""
        if self.serves_from in {None, self.revision}:
            return f"revision {self.revision}"
        return (
            f"revision {self.revision}, which serves programs from revision {self.serves_from} on"
        )


def find_schema(database: Database) -> SchemaState:
    """Return the state of the tables."""
    with database.reading() as db:
        if not inspect(db).has_table("alembic_version"):
            return SchemaState(None, None)
        row = db.execute(text("SELECT version_num, serves_from FROM alembic_version")).first()
        return SchemaState(None, None) if row is None else SchemaState(*row)


def find_revision(database: Database) -> str | None:
    """Return the revision of the database, or None while it is empty."""
    return find_schema(database).revision


def migrate(database: Database, migrations: Path = MIGRATIONS, to: str = "head") -> None:
    """Bring the database to the newest version, or another, while others use it.

    Completely or not at all.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _migrate(database, migrations, to)
        except OperationalError as error:
            if getattr(error.orig, "sqlstate", None) != "55P03":  # lock_not_available
                raise
            if attempt == ATTEMPTS:
                raise DatabaseUnusable(
                    "A table is in use by a long transaction, and could not be changed in "
                    f"{ATTEMPTS} attempts of {LOCK_TIMEOUT}. Nothing was changed; end that "
                    "transaction (pg_stat_activity shows it) and try again."
                ) from error
    raise AssertionError


def _migrate(database: Database, migrations: Path, to: str) -> None:
    # It would import all that colours its errors: 0.04 s and 5 MB of each process of a new service.
    with doing_without("pygments"):
        from alembic.config import Config
        from alembic.runtime.environment import EnvironmentContext
        from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(migrations))
    scripts = ScriptDirectory.from_config(config)
    wanted = scripts.get_revision(to)

    # Alembic's own command would read all files once more, which takes as long as the tables do.
    def list_steps(revision: Any, _context: object) -> Any:
        return scripts._upgrade_revs(to, revision)

    with database.writing() as db:
        if not database.is_sqlite:
            db.execute(text(_ONE_AT_A_TIME))
            db.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
        config.attributes["connection"] = db
        with EnvironmentContext(config, scripts, fn=list_steps, destination_rev=to):
            scripts.run_env()
        promise = {"serves_from": wanted.module.serves_from}
        db.execute(text("UPDATE alembic_version SET serves_from = :serves_from"), promise)
