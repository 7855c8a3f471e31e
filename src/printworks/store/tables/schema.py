"""Is the database at the version that this program needs, and how to bring it there."""

from pathlib import Path
from typing import Final

from sqlalchemy import inspect, text

from printworks.store.engine.database import Database

# The newest file in `migrations/versions`; a test compares the two. Kept here because
# asking Alembic would cost every start a fifth of a second.
LATEST: Final = "0008"


def find_revision(database: Database) -> str | None:
    """Return the revision the database is at, or None while it is empty."""
    with database.reading() as db:
        if not inspect(db).has_table("alembic_version"):
            return None
        revision = db.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return None if revision is None else str(revision)


def is_current(database: Database) -> bool:
    """Say whether the tables are those of this program."""
    return find_revision(database) == LATEST


def migrate(database: Database, to: str = "head") -> None:
    """Bring the tables to the newest version, or to another; all of it or nothing."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with database.writing() as db:
        config.attributes["connection"] = db
        command.upgrade(config, to)
