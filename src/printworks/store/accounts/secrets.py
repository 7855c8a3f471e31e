"""Secrets that the processes of one deployment share."""

from sqlalchemy import Connection, select

from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import secrets

# Signs the URLs of proofs.
LINKS = "links"
# Not secret, but shared: whether this is a sandbox or live.
ENVIRONMENT = "environment"


def claim_environment(db: Connection, environment: str) -> str:
    """Set the environment of the database, unless it is set; return the one that is set."""
    # Several processes may start at once and find none.
    if find_secret(db, ENVIRONMENT) is None:
        insert_unless_there(db, secrets, name=ENVIRONMENT, value=environment)
    return get_secret(db, ENVIRONMENT)


def get_secret(db: Connection, name: str) -> str:
    """Return the secret with this name, which exists."""
    return str(db.execute(select(secrets.c.value).where(secrets.c.name == name)).scalar_one())


def find_secret(db: Connection, name: str) -> str | None:
    return db.execute(select(secrets.c.value).where(secrets.c.name == name)).scalar()
