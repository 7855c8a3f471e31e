"""What the processes of one deployment share and nobody else may know."""

from sqlalchemy import Connection, insert, select

from printworks.store.tables import secrets

# Signs the addresses of proofs.
LINKS = "links"


# Not secret, but shared: whether this is a sandbox or live.
ENVIRONMENT = "environment"


def claim_environment(db: Connection, environment: str) -> str:
    """Note to which environment the database belongs, if nobody has; return that."""
    found = find_secret(db, ENVIRONMENT)
    if found is None:
        db.execute(insert(secrets).values(name=ENVIRONMENT, value=environment))
    return found or environment


def get_secret(db: Connection, name: str) -> str:
    """Return a secret; the migrations made it."""
    return str(db.execute(select(secrets.c.value).where(secrets.c.name == name)).scalar_one())


def find_secret(db: Connection, name: str) -> str | None:
    """Return a secret, or None if there is none of this name."""
    return db.execute(select(secrets.c.value).where(secrets.c.name == name)).scalar()
