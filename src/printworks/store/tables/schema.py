"""The version of the database, and how to bring it up to date."""

from pathlib import Path
from typing import Final

from sqlalchemy import inspect, text

from printworks.store.engine.database import Database

# The newest file in `migrations/versions`; a test compares the two. It is here because asking
# Alembic would cost every start a fifth of a second.
LATEST: Final = "0001"


def find_revision(database: Database) -> str | None:
    """Return the revision of the database, or None while it is empty."""
    with database.reading() as db:
        if not inspect(db).has_table("alembic_version"):
            return None
        revision = db.execute(text("SELECT version_num FROM alembic_version")).scalar()
        return None if revision is None else str(revision)


def migrate(database: Database, to: str = "head") -> None:
    """Bring the database to the newest version, or another, completely or not at all."""
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    with database.writing() as db:
        config.attributes["connection"] = db
        command.upgrade(config, to)
