"""Statements on PostgreSQL without a cursor: in few messages, and never half a transaction."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import psycopg
import pytest
from sqlalchemy import Connection, text

from printworks.errors import BadInput
from printworks.store.engine import postgresql
from printworks.store.engine.database import Database
from printworks.store.engine.prepared import PreparedStatement

ADD = PreparedStatement(text("INSERT INTO numbers (number) VALUES (:number)"))
COUNT = PreparedStatement(text("SELECT count(*) FROM numbers"))
SELF = PreparedStatement(text("SELECT pg_backend_pid()"))
SUM = PreparedStatement(text("SELECT CAST(:one AS integer) + CAST(:two AS integer)"))


@pytest.fixture
def database(postgresql_database: Database) -> Iterator[Database]:
    url = postgresql_database.url.set(drivername="postgresql")
    with psycopg.connect(url.render_as_string(hide_password=False), autocommit=True) as operator:
        operator.execute("CREATE TABLE numbers (number integer PRIMARY KEY)")
        yield postgresql_database
        operator.execute("DROP TABLE numbers")


def driver_of(db: Connection) -> Any:
    return db.connection.dbapi_connection


def count(database: Database) -> int:
    with database.reading() as db:
        return int(COUNT.one(db, {})[0])


def test_a_statement_that_waits_is_seen_by_the_next_one(database: Database) -> None:
    with database.writing() as db:
        for number in range(3):
            ADD.run(db, {"number": number})
            assert COUNT.one(db, {}) == (number + 1,)
            assert db.execute(text("SELECT count(*) FROM numbers")).scalar_one() == number + 1

    assert count(database) == 3


def test_what_waits_at_the_end_is_committed(database: Database) -> None:
    with database.writing() as db:
        ADD.run(db, {"number": 1})
        ADD.run(db, {"number": 2})
        assert count(database) == 0

    assert count(database) == 2


def test_a_transaction_without_a_statement_sends_nothing(database: Database) -> None:
    with database.writing() as db:
        driver = driver_of(db)

    assert driver.pgconn.transaction_status == psycopg.pq.TransactionStatus.IDLE
    with pytest.raises(BadInput), database.writing():
        raise BadInput("No.")


@pytest.mark.parametrize("how", ["at the end", "statement", "cursor", "many"])
def test_one_that_fails_while_it_waits_undoes_them_all(database: Database, how: str) -> None:
    def fail() -> None:
        with database.writing() as db:
            ADD.run(db, {"number": 1})
            ADD.run(db, {"number": 1})
            if how == "statement":
                COUNT.one(db, {})
            elif how == "cursor":
                db.execute(text("SELECT 1"))
            elif how == "many":
                ADD.run_each(db, [{"number": 2}, {"number": 3}])

    with pytest.raises(Exception, match="numbers_pkey"):
        fail()

    assert count(database) == 0
    with database.writing() as db:
        ADD.run(db, {"number": 1})
    assert count(database) == 1


def test_nothing_is_taken_for_committed_after_a_failure_that_was_ignored(
    database: Database,
) -> None:
    def ignore() -> None:
        with database.writing() as db:
            ADD.run(db, {"number": 1})
            with pytest.raises(psycopg.Error):
                ADD.count(db, {"number": 1})

    with pytest.raises(psycopg.errors.InFailedSqlTransaction):
        ignore()

    assert count(database) == 0


def test_a_statement_outside_a_transaction_does_not_wait(database: Database) -> None:
    with database.reading() as db:
        ADD.run(db, {"number": 1})
        assert count(database) == 1


def test_prepared_statements_outlive_a_rollback(database: Database) -> None:
    with database.reading() as db:
        driver, expected = driver_of(db), SUM.one(db, {"one": 1, "two": 2})

    def refuse() -> None:
        with database.writing() as db:
            assert driver_of(db) is driver
            # Often enough that psycopg prepares it, too.
            for _ in range(10):
                db.execute(text("SELECT 1"))
            with db.begin_nested() as part:
                ADD.run(db, {"number": 1})
                part.rollback()
            assert COUNT.one(db, {}) == (0,)
            raise BadInput("No.")

    with pytest.raises(BadInput):
        refuse()

    with database.reading() as db:
        assert driver_of(db) is driver
        assert SUM.one(db, {"one": 1, "two": 2}) == expected == (3,)


def test_whatever_cursors_run_the_server_does_not_forget_a_statement(database: Database) -> None:
    with database.reading() as db:
        COUNT.one(db, {})
        # Often enough for psycopg to prepare what is run with its cursors.
        for _ in range(10):
            db.execute(text("SELECT 1"))
        db.execute(text("CREATE TEMPORARY TABLE short (number integer)"))
        db.execute(text("DROP TABLE short"))
        db.execute(text("SELECT 1"))

        assert COUNT.one(db, {}) == (0,)


def test_a_server_that_has_forgotten_a_statement_is_told_again(database: Database) -> None:
    with database.reading() as db:
        COUNT.one(db, {})
        db.execute(text("DEALLOCATE ALL"))
        with pytest.raises(psycopg.errors.InvalidSqlStatementName):
            COUNT.one(db, {})

        assert COUNT.one(db, {}) == (0,)


@pytest.mark.parametrize("way", ["reading", "writing"])
def test_a_connection_that_ends_while_it_is_used_leaves_its_place_to_another(
    database: Database, way: str
) -> None:
    alone = Database(database.url.render_as_string(hide_password=False), connections=1)

    def break_off() -> None:
        with getattr(alone, way)() as db:
            end_connection(database, SELF.one(db, {})[0])
            COUNT.one(db, {})

    def break_off_and_be_refused() -> None:
        with getattr(alone, way)() as db:
            end_connection(database, SELF.one(db, {})[0])
            raise BadInput("No.")

    for broken, expected in (
        (break_off, psycopg.OperationalError),
        (break_off_and_be_refused, BadInput),
        (break_off, psycopg.OperationalError),
    ):
        with pytest.raises(expected):
            broken()
        assert count(alone) == 0
    alone.close()


def end_connection(database: Database, number: int) -> None:
    with database.reading() as db:
        assert db.execute(text("SELECT pg_terminate_backend(:n, 5000)"), {"n": number}).scalar()


def test_there_is_a_limit_to_what_the_server_keeps(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgresql, "MOST_PREPARED", 0)
    other = PreparedStatement(text("SELECT 1 + CAST(:number AS integer)"))
    with database.writing() as db:
        assert other.one(db, {"number": 2}) == (3,)
        assert other.one(db, {"number": 3}) == (4,)
        prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE 'SELECT 1 + %'"
        assert db.execute(text(prepared)).scalar_one() == 0


def test_numbers_of_any_size_share_a_statement(database: Database) -> None:
    wanted = PreparedStatement(text("SELECT CAST(:number AS bigint)"))
    with database.reading() as db:
        for number in (1, 100_000, 2**40, -(2**63)):
            assert wanted.one(db, {"number": number}) == (number,)
        prepared = "SELECT count(*) FROM pg_prepared_statements WHERE statement LIKE '%$1 AS big%'"
        assert db.execute(text(prepared)).scalar_one() == 1


@pytest.mark.parametrize("is_alone", [True, False], ids=["alone", "with others"])
def test_a_connection_that_breaks_is_replaced(database: Database, is_alone: bool) -> None:
    end = PreparedStatement(text("SELECT pg_terminate_backend(pg_backend_pid())"))

    def break_off() -> None:
        with database.writing() as db:
            if not is_alone:
                ADD.run(db, {"number": 1})
            else:
                COUNT.one(db, {})
            end.one(db, {})

    with pytest.raises(psycopg.OperationalError):
        break_off()

    assert count(database) == 0


def test_percent_signs_and_repeated_names_are_sent_as_they_are(database: Database) -> None:
    wanted = PreparedStatement(
        text("SELECT CAST(:words AS text) LIKE '%b%', CAST(:words AS text), 7 % 4")
    )
    with database.reading() as db:
        assert wanted.one(db, {"words": "a % b"}) == (True, "a % b", 3)


def test_the_planner_knows_that_reading_a_row_by_its_key_is_cheap(database: Database) -> None:
    with database.reading() as db:
        # It would read rows by bitmap, former versions included.
        assert db.execute(text("SHOW random_page_cost")).scalar_one() == "1.1"


class TestKeptPlans:
    """A statement that is planned once is planned neither for its values nor ever again."""

    BELOW = PreparedStatement(text("SELECT number FROM numbers WHERE number < :below"))
    KEPT = PreparedStatement(
        text("SELECT number AS kept FROM numbers WHERE number < :below"), keeps_plan=True
    )
    HALF = PreparedStatement(text("SELECT 10 / CAST(:by AS integer)"), keeps_plan=True)
    PLANS = text(
        "SELECT generic_plans, custom_plans FROM pg_prepared_statements WHERE name = :name"
    )
    MODE = text("SHOW plan_cache_mode")

    @pytest.mark.parametrize(("statement", "plans"), [(BELOW, (0, 4)), (KEPT, (4, 0))])
    def test_it_has_one_plan_from_the_first_time_on(
        self, database: Database, statement: PreparedStatement, plans: tuple[int, int]
    ) -> None:
        with database.writing() as db:
            ADD.run_each(db, [{"number": number} for number in range(50)])
        with database.reading() as db:
            for below in range(1, 5):
                assert len(statement.all(db, {"below": below})) == below
            name = driver_of(db)._names[statement._find_text(db).encoded].decode()
            assert db.execute(self.PLANS, {"name": name}).one() == plans

    @pytest.mark.parametrize("is_writing", [False, True])
    def test_the_server_chooses_again_afterwards(
        self, database: Database, is_writing: bool
    ) -> None:
        with database.writing() if is_writing else database.reading() as db:
            assert self.HALF.one(db, {"by": 5}) == (2,)
            assert db.execute(self.MODE).scalar_one() == "auto"

    def test_the_server_chooses_again_after_one_that_fails(self, database: Database) -> None:
        with database.reading() as db:
            with pytest.raises(psycopg.errors.DivisionByZero):
                self.HALF.one(db, {"by": 0})
            assert db.execute(self.MODE).scalar_one() == "auto"

        with database.writing() as db:
            ADD.run(db, {"number": 1})
            with pytest.raises(psycopg.errors.DivisionByZero):
                self.HALF.one(db, {"by": 0})
            driver_of(db).undo()
            assert db.execute(self.MODE).scalar_one() == "auto"


def test_a_server_that_vanishes_is_noticed_within_a_minute(postgresql_database: Database) -> None:
    url = postgresql_database.url

    with postgresql_database.reading() as db:
        said = driver_of(db).info.get_parameters()

    waits = ("keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout")
    assert [said[name] for name in waits] == ["30", "10", "3", "30000"]
    # Whoever listens for jobs connects in the same way.
    _, options = postgresql_database.engine.dialect.create_connect_args(url)
    assert {str(options[name]) for name in waits} == {said[name] for name in waits}


def test_an_address_may_say_how_long_to_wait_for_the_server(postgresql_database: Database) -> None:
    url = postgresql_database.url.update_query_dict({"tcp_user_timeout": "5000"})
    address = url.render_as_string(hide_password=False)
    with closing(Database(address, connections=1)) as patient, patient.reading() as db:
        said = driver_of(db).info.get_parameters()

    assert (said["tcp_user_timeout"], said["keepalives_idle"]) == ("5000", "30")
