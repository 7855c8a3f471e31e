"""SQLite as we use it: safe settings on every connection, and explicit transactions.

There are two dialects, because the kind of transaction must be known when it begins, and an
engine event would slow down every statement.
"""

from collections.abc import Callable
from typing import Any, Final

from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite

# The same driver under two names, each with an SQLite of its own: wheels for ARM exist only for
# the second. No database is ever encrypted with it.
try:
    from pysqlite3 import dbapi2 as dbapi2
except ImportError:
    from sqlcipher3 import dbapi2 as dbapi2

# Below this, two connections that write and checkpoint at the same time can corrupt a WAL database.
OLDEST: Final = (3, 51, 3)
VERSION: Final[tuple[int, ...]] = dbapi2.sqlite_version_info

# FULL is needed: NORMAL loses acknowledged orders in a power failure.
PRAGMAS: Final = (
    "busy_timeout=30000",
    "journal_mode=WAL",
    "synchronous=FULL",
    "foreign_keys=ON",
    # What is erased is overwritten in the pages that are written anyway, not only unlinked.
    "secure_delete=FAST",
)


class ReadingDialect(SQLiteDialect_pysqlite):
    """Each statement sees what is committed when it runs, without a transaction around it.

    Every call into SQLite releases and takes the interpreter lock, and `BEGIN` and `ROLLBACK`
    would be two calls more than the one query that most reads are.
    """

    supports_statement_cache = True

    @classmethod
    def import_dbapi(cls) -> Any:
        """Use a driver that brings its own, newer SQLite."""
        return dbapi2

    def on_connect(self) -> Callable[[Any], None]:
        inherited = super().on_connect()

        def prepare(connection: Any) -> None:
            inherited(connection)
            # The driver must not begin transactions by itself.
            connection.isolation_level = None
            for pragma in (*PRAGMAS, *self.more_pragmas):
                connection.execute(f"PRAGMA {pragma}")

        return prepare

    # Few pages, in kilobytes: every process has many such connections. The system keeps the file in
    # memory once for all of them, and a connection forgets its pages whenever another one has written.
    more_pragmas: tuple[str, ...] = ("query_only=ON", "cache_size=-250")

    def do_begin(self, dbapi_connection: Any) -> None:
        """Begin nothing."""

    def do_rollback(self, dbapi_connection: Any) -> None:
        """There is nothing to roll back."""


class WritingDialect(ReadingDialect):
    """Takes the write lock at once: no transaction fails half-way because another one writes."""

    supports_statement_cache = True
    # What a transaction changes should fit.
    more_pragmas = ("cache_size=-1000",)

    def do_begin(self, dbapi_connection: Any) -> None:
        """Wait for the write lock and take it."""
        dbapi_connection.execute("BEGIN IMMEDIATE")

    def do_rollback(self, dbapi_connection: Any) -> None:
        dbapi_connection.rollback()


registry.register("sqlite.reading", __name__, "ReadingDialect")
registry.register("sqlite.writing", __name__, "WritingDialect")
