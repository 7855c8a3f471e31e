"""What workers say of themselves every few seconds, so that others notice when they stop."""

from sqlalchemy import Connection, delete, select

from printworks.rules.heartbeats import FORGOTTEN_AFTER, Heartbeat
from printworks.store.engine.rows import columns_of, list_structs
from printworks.store.engine.upsert import insert_or_update
from printworks.store.tables import heartbeats


def write_heartbeat(db: Connection, beat: Heartbeat) -> None:
    """Say that a worker is alive; forget those that have not been heard of for long."""
    changes = {
        "beat_at": beat.beat_at,
        "running": beat.running,
        "finished": beat.finished,
    }
    values = {
        **changes,
        "host": beat.host,
        "process": beat.process,
        "version": beat.version,
        "started_at": beat.started_at,
    }
    db.execute(insert_or_update(db, heartbeats, {"worker": beat.worker}, values, changes))
    db.execute(delete(heartbeats).where(heartbeats.c.beat_at < beat.beat_at - FORGOTTEN_AFTER))


def end_heartbeat(db: Connection, worker: str) -> None:
    """Forget a worker that stops: nobody has to look for it."""
    db.execute(delete(heartbeats).where(heartbeats.c.worker == worker))


def list_heartbeats(db: Connection) -> list[Heartbeat]:
    """Return what each worker last said, the one that was started first at the top."""
    wanted = select(*columns_of(heartbeats, Heartbeat))
    return list_structs(
        db, Heartbeat, wanted.order_by(heartbeats.c.started_at, heartbeats.c.worker)
    )
