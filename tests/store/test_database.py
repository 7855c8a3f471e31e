"""One transaction for several: each wholly or not at all, and none without the commit."""

import subprocess
import sys
import threading
from collections.abc import Callable

import psycopg
import pytest
from sqlalchemy import Connection, text

from printworks.errors import BadInput
from printworks.store.engine.database import Database, DatabaseUnusable
from tests.factories import a_merchant


def add(name: str) -> Callable[[Connection], str]:
    return lambda db: a_merchant(db, name).name


def add_and_refuse(db: Connection) -> str:
    a_merchant(db, "refused")
    message = "No."
    raise BadInput(message)


def names(database: Database) -> list[str]:
    with database.reading() as db:
        return list(db.execute(text("SELECT name FROM merchants ORDER BY id")).scalars())


def test_what_one_of_several_is_refused_takes_nothing_from_the_others(database: Database) -> None:
    first, refusal, last = database.write_together([add("first"), add_and_refuse, add("last")])

    assert (first, last) == ("first", "last")
    assert isinstance(refusal, BadInput)
    assert names(database) == ["first", "last"]


def test_who_is_refused_before_writing_stops_nobody(database: Database) -> None:
    def refuse(_: Connection) -> str:
        message = "No."
        raise BadInput(message)

    first, refusal, last = database.write_together([add("first"), refuse, add("last")])

    assert (first, last) == ("first", "last")
    assert isinstance(refusal, BadInput)
    assert names(database) == ["first", "last"]


def test_nothing_together_is_nothing(database: Database) -> None:
    assert database.write_together([]) == []


def test_when_the_transaction_itself_ends_none_of_them_happened(sqlite_database: Database) -> None:
    def end_everything(db: Connection) -> str:
        # As a full disk does: SQLite rolls the whole transaction back.
        db.connection.dbapi_connection.rollback()  # type: ignore[union-attr]
        message = "database or disk is full"
        raise OSError(message)

    with pytest.raises(OSError, match="full"):
        sqlite_database.write_together([add("first"), end_everything, add("last")])

    assert names(sqlite_database) == []
    assert sqlite_database.write_together([add("later")]) == ["later"]


def test_a_transaction_that_raises_leaves_nothing(database: Database) -> None:
    with pytest.raises(BadInput), database.writing() as db:
        add_and_refuse(db)

    assert names(database) == []


@pytest.mark.parametrize("trust", [3600.0, -1.0], ids=["just used", "long idle"])
def test_connections_that_the_server_has_ended_cost_nobody_a_transaction(
    postgresql_database: Database, monkeypatch: pytest.MonkeyPatch, trust: float
) -> None:
    monkeypatch.setattr("printworks.store.engine.database.SECONDS_OF_TRUST", trust)
    others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    with postgresql_database.writing(), postgresql_database.reading() as db:
        before = db.execute(text("SELECT pg_backend_pid()")).scalar()
    with psycopg.connect(_address_of(postgresql_database), autocommit=True) as operator:
        operator.execute(f"SELECT pg_terminate_backend(pid, 5000) {others}")

    with postgresql_database.writing() as first, postgresql_database.reading() as second:
        pids = [db.execute(text("SELECT pg_backend_pid()")).scalar() for db in (first, second)]

    assert before not in pids


def _address_of(database: Database) -> str:
    return database.url.set(drivername="postgresql").render_as_string(hide_password=False)


def test_a_reader_cannot_write(sqlite_database: Database) -> None:
    with pytest.raises(Exception, match="readonly"), sqlite_database.reading() as db:
        a_merchant(db)


def test_many_writers_wait_in_line_and_none_is_turned_away(database: Database) -> None:
    def write() -> None:
        for _ in range(10):
            with database.writing() as db:
                a_merchant(db)

    threads = [threading.Thread(target=write) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(names(database)) == 80


def test_a_database_that_is_no_file_is_refused() -> None:
    with pytest.raises(DatabaseUnusable, match="must be a file"):
        Database("sqlite:///:memory:")


WRITE_ELSEWHERE = """
import sys
from printworks.store.engine.database import Database
from tests.factories import a_merchant
database = Database(sys.argv[1])
with database.writing() as db:
    a_merchant(db, "elsewhere")
database.close()
"""


@pytest.mark.slow
def test_writers_of_two_processes_wait_for_each_other(sqlite_database: Database) -> None:
    url = sqlite_database.url.render_as_string()
    with sqlite_database.writing() as db:
        a_merchant(db, "here")
        other = subprocess.Popen([sys.executable, "-c", WRITE_ELSEWHERE, url])
        a_merchant(db, "here again")

    assert other.wait(60) == 0
    assert names(sqlite_database) == ["here", "here again", "elsewhere"]
