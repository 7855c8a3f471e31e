"""What SQLite knows about the sizes of tables: nothing, on purpose.

Its planner believes statistics until somebody makes new ones. Those of a quiet minute say that the
queue is empty, and every claim reads all jobs: in an hour with 84,000 callbacks, a worker delivered
25,000. Without any, it takes the index that fits, however many rows there are.
PostgreSQL keeps its own up to date.
"""

from sqlalchemy import inspect, text

from printworks.store.engine.database import Database

_KEPT = ("sqlite_stat1", "sqlite_stat4")


def forget_statistics(database: Database) -> bool:
    """Drop the statistics that a tool has left in an SQLite file; return whether there were any.

    Whoever opens the file from then on plans without them.
    """
    if not database.is_sqlite:
        return False
    with database.reading() as db:
        found = [name for name in _KEPT if inspect(db).has_table(name)]
    if found:
        with database.writing() as db:
            for name in found:
                db.execute(text(f"DROP TABLE IF EXISTS {name}"))
    return bool(found)
