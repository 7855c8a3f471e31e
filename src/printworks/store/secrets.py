"""What the processes of one deployment share and nobody else may know."""

from sqlalchemy import Connection, select

from printworks.store.tables import secrets

# Signs the addresses of proofs.
LINKS = "links"


def get_secret(db: Connection, name: str) -> str:
    """Return a secret; the migrations made it."""
    return str(db.execute(select(secrets.c.value).where(secrets.c.name == name)).scalar_one())
