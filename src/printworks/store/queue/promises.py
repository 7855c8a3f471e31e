"""Whether something was promised, for whoever must not promise it twice."""

from sqlalchemy import Connection, select

from printworks.store.tables import jobs


def is_enqueued(db: Connection, dedupe_key: str) -> bool:
    """Say whether a job with this key is still known."""
    query = select(jobs.c.id).where(jobs.c.dedupe_key == dedupe_key)
    return db.execute(query).first() is not None
