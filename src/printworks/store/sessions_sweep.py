"""Forgetting sessions and invitations that nobody can use any more."""

from datetime import datetime

from sqlalchemy import ColumnElement, Connection, Table, delete, select

from printworks.store.tables import invitations, sessions


def forget_sessions(db: Connection, *, now: datetime, limit: int) -> int:
    """Forget sessions that have expired, the oldest first; return how many those are."""
    return _forget(db, sessions, sessions.c.expires_at <= now, limit=limit)


def forget_invitations(db: Connection, *, before: datetime, limit: int) -> int:
    """Forget invitations that expired before then, used or not; return how many those are."""
    return _forget(db, invitations, invitations.c.expires_at < before, limit=limit)


def _forget(db: Connection, table: Table, is_old: ColumnElement[bool], *, limit: int) -> int:
    oldest = select(table.c.hash).where(is_old).order_by(table.c.expires_at).limit(limit)
    return db.execute(delete(table).where(table.c.hash.in_(oldest))).rowcount
