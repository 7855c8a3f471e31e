"""Connections that are kept open for the next reader."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import text

from printworks.errors import NotFound
from printworks.store.engine.database import Database


def open_database(folder: Path) -> Database:
    return Database(f"sqlite:///{folder / 'test.db'}", connections=1)


def test_the_next_reader_continues_with_the_same_connection(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    with database.reading() as first:
        first.execute(text("SELECT 1"))
    with pytest.raises(NotFound), database.reading() as second:
        raise NotFound("nothing")
    with database.reading() as third:
        assert third is second is first
        assert not third.in_transaction()
    database.close()


def test_a_connection_that_failed_goes_back_to_the_pool(tmp_path: Path) -> None:
    database = open_database(tmp_path)
    with pytest.raises(ZeroDivisionError), database.reading() as failed:
        raise ZeroDivisionError
    assert failed.closed
    with database.reading() as another:
        assert another.execute(text("SELECT 1")).scalar_one() == 1
    database.close()


def test_readers_that_share_one_connection_all_get_it(tmp_path: Path) -> None:
    database = open_database(tmp_path)

    def read(number: int) -> int:
        with database.reading() as db:
            return int(db.execute(text("SELECT :number"), {"number": number}).scalar_one())

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(read, range(400))) == list(range(400))
    database.close()


def test_a_connection_that_the_server_closed_is_not_used_again(
    postgresql_database: Database,
) -> None:
    with postgresql_database.writing() as db:
        with postgresql_database.reading() as kept:
            (number,) = kept.execute(text("SELECT pg_backend_pid()")).one()
        db.execute(text("SELECT pg_terminate_backend(:number, 5000)"), {"number": number})
    with postgresql_database.reading() as db:
        assert db.execute(text("SELECT pg_backend_pid()")).scalar_one() != number


def test_a_writer_gets_the_connection_that_no_reader_uses(postgresql_url: str) -> None:
    database = Database(postgresql_url, connections=1)
    for number in range(3):
        with database.reading() as db:
            assert db.execute(text("SELECT :number"), {"number": number}).scalar_one() == number
        with database.writing() as db:
            assert db.execute(text("SELECT 1")).scalar_one() == 1
    database.close()


def test_readers_and_writers_that_share_one_connection_all_get_it(postgresql_url: str) -> None:
    database = Database(postgresql_url, connections=1)

    def use(number: int) -> int:
        with database.writing() if number % 2 else database.reading() as db:
            return int(db.execute(text("SELECT :number"), {"number": number}).scalar_one())

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(use, range(400))) == list(range(400))
    database.close()
