"""What the processes of one deployment share and nobody else may know."""

from sqlalchemy import Connection, select

from printworks.store.engine.upsert import insert_unless_there
from printworks.store.tables import secrets

# Signs the addresses of proofs.
LINKS = "links"
# Not secret, but shared: whether this is a sandbox or live.
ENVIRONMENT = "environment"


def claim_environment(db: Connection, environment: str) -> str:
    """Note to which environment the database belongs, if nobody has; return that."""
    # Several processes may start at once, none of which finds anything there.
    if find_secret(db, ENVIRONMENT) is None:
        insert_unless_there(db, secrets, name=ENVIRONMENT, value=environment)
    return get_secret(db, ENVIRONMENT)


def get_secret(db: Connection, name: str) -> str:
    """Return a secret; there is one of this name."""
    return str(db.execute(select(secrets.c.value).where(secrets.c.name == name)).scalar_one())


def find_secret(db: Connection, name: str) -> str | None:
    """Return a secret, or None if there is none of this name."""
    return db.execute(select(secrets.c.value).where(secrets.c.name == name)).scalar()
