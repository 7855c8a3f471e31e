"""PostgreSQL as we use it: statements of every request without a cursor, in few messages.

A cursor of psycopg can do much more than most statements need, and costs 85 µs of CPU in our process
for each of them; a call of libpq costs 20. libpq waits for the answer by itself, so that the
interpreter changes hands once and not several times. Values are converted by psycopg, as everywhere.

In a transaction, a statement whose answer nobody needs waits for the next one, and goes with it in
one message; so do BEGIN and COMMIT. Other transactions wait for the locks of this one, and must not
wait for our process to get a processor, too.
"""

import select
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from typing import Any, Final, NamedTuple

import psycopg
from psycopg.abc import Transformer as Converter
from psycopg.adapt import PyFormat, Transformer
from psycopg.errors import InFailedSqlTransaction, InvalidSqlStatementName, error_from_result
from psycopg.pq import ConnStatus, ExecStatus, TransactionStatus
from psycopg.pq.abc import PGresult
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.engine import URL
from sqlalchemy.engine.interfaces import ConnectArgsType

# Statements of a connection that the server keeps prepared; it reads any others each time.
MOST_PREPARED: Final = 300

_FINE: Final = frozenset({ExecStatus.TUPLES_OK, ExecStatus.COMMAND_OK})
_numbers: Final = count()


class Answer:
    """What the server answered to a statement, in the manner of a cursor."""

    __slots__ = ("_converter", "_result")

    def __init__(self, result: PGresult, converter: Converter) -> None:
        self._result = result
        self._converter = converter

    @property
    def rowcount(self) -> int:
        return self._result.command_tuples or 0

    def fetchone(self) -> tuple[Any, ...] | None:
        if not self._result.ntuples:
            return None
        self._converter.set_pgresult(self._result)
        # The type itself: psycopg has a short way for it.
        return self._converter.load_row(0, tuple)

    def fetchall(self) -> list[tuple[Any, ...]]:
        self._converter.set_pgresult(self._result)
        return self._converter.load_rows(0, self._result.ntuples, tuple)

    def close(self) -> None:
        """Do nothing: all of it has been received."""


class _Command(NamedTuple):
    """A statement with its values, as they are sent."""

    sql: bytes
    # None if it is not prepared.
    name: bytes | None
    given: Sequence[Any]


# Between the two a statement has one plan for all values. The server would plan a search anew each
# time: for the values at hand it expects fewer rows than for any, and all plans are the same.
_KEEP_PLANS: Final = b"SET plan_cache_mode = force_generic_plan"
_CHOOSE_PLANS: Final = b"RESET plan_cache_mode"

_BEGIN: Final = _Command(b"BEGIN", None, ())
_COMMIT: Final = _Command(b"COMMIT", None, ())


# Nearly all that is read is in memory, or on a disk that does not turn: the usual 4 makes the
# planner read rows by bitmap, which meets all former versions of a row until it is vacuumed.
_READS_ARE_CHEAP: Final = b"SET random_page_cost = 1.1"


class DirectConnection(psycopg.Connection[Any]):
    """A connection that can also run statements without a cursor.

    Transactions begin and end with the methods below. Psycopg would begin one only for a cursor, and
    makes the server forget all prepared statements when one is rolled back.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._converter: Converter | None = None
        # The names of prepared statements, by their text.
        self._names: dict[bytes, bytes] = {}
        # What goes with the next statement.
        self._waiting: list[_Command] = []
        self._is_open = False
        # What has arrived of the answer to what was sent without waiting.
        self._arrived: PGresult | None = None

    def run(self, sql: bytes, values: Sequence[Any]) -> Answer:
        """Run a statement whose values are written $1, $2 and so on."""
        return self._run(self._make_command(sql, values))

    def run_with_kept_plan(self, sql: bytes, values: Sequence[Any]) -> Answer:
        """Run a statement with the one plan that the server keeps for it, whatever the values."""
        before, after = (self._make_command(each, ()) for each in (_KEEP_PLANS, _CHOOSE_PLANS))
        command = self._make_command(sql, values)
        # If it fails, the setting is undone with the transaction that these are part of.
        *_, result, _ = self._send_all([*self._take_waiting(), before, command, after])
        return Answer(result, self._find_converter())

    def run_later(self, sql: bytes, values: Sequence[Any]) -> None:
        """Run a statement with the next one; at once if there is no transaction to end.

        If it fails, the next one raises that, or the end of the transaction.
        """
        command = self._make_command(sql, values)
        if self._is_open:
            self._waiting.append(command)
        else:
            self._run(command)

    def run_last(self, sql: bytes, values: Sequence[Any]) -> Answer:
        """Run a statement and commit, in one message."""
        self._waiting.append(self._make_command(sql, values))
        *_, result, _ = self._send_all([*self._take_waiting(), _COMMIT])
        self._is_open = False
        return Answer(result, self._find_converter())

    def send(self, sql: bytes, values: Sequence[Any]) -> None:
        """Send a statement outside any transaction; nothing else may be run until it is answered."""
        command = self._make_command(sql, values)
        if command.name is None:
            self.pgconn.send_query_params(command.sql, command.given)
        else:
            self.pgconn.send_query_prepared(command.name, command.given)

    def receive(self) -> Answer | None:
        """Return the answer to what was sent, once all of it is there; never wait for it."""
        libpq = self.pgconn
        libpq.consume_input()
        while not libpq.is_busy():
            result = libpq.get_result()
            if result is None:
                return self._take_arrived()
            self._arrived = result
        return None

    def _take_arrived(self) -> Answer | None:
        arrived, self._arrived = self._arrived, None
        if arrived is None:
            return None
        return Answer(self._check(arrived), self._find_converter())

    def begin(self) -> None:
        """Begin a transaction, with the first statement."""
        self._waiting.append(_BEGIN)
        self._is_open = True

    def end(self) -> None:
        """Commit, unless the last statement did."""
        if not self._is_open:
            return
        waiting = self._take_waiting()
        if _BEGIN not in waiting:
            *_, result = self._send_all([*waiting, _COMMIT])
            if result.command_status == b"ROLLBACK":
                raise InFailedSqlTransaction("A statement had failed, and nothing was committed.")
        elif len(waiting) > 1:
            self._send_all([*waiting, _COMMIT])
        self._is_open = False

    def undo(self) -> None:
        """Roll back; where the connection is broken, the server has done so."""
        self._waiting.clear()
        self._is_open = False
        if self.pgconn.transaction_status != TransactionStatus.IDLE:
            with suppress(psycopg.Error):
                self.pgconn.exec_(b"ROLLBACK")

    def send_waiting(self) -> None:
        """Run what waits for the next statement: that one has a cursor."""
        if self._waiting:
            self._send_all(self._take_waiting())

    def numbered_cursor(self) -> psycopg.RawCursor[Any]:
        """Return a cursor for statements with $1, $2 and so on."""
        self.send_waiting()
        return psycopg.RawCursor(self)

    def _run(self, command: _Command) -> Answer:
        if self._waiting:
            result = self._send_all([*self._take_waiting(), command])[-1]
        elif command.name is None:
            result = self._check(self.pgconn.exec_params(command.sql, command.given))
        else:
            result = self._check(self.pgconn.exec_prepared(command.name, command.given))
        return Answer(result, self._find_converter())

    def _take_waiting(self) -> list[_Command]:
        waiting, self._waiting = self._waiting, []
        return waiting

    def _make_command(self, sql: bytes, values: Sequence[Any]) -> _Command:
        name = self._names.get(sql) or self._prepare(sql)
        # As text of no type: what they are compared with or stored in says what they are. With
        # types, a statement would be prepared again for each size of a number.
        given = self._find_converter().dump_sequence(values, (PyFormat.TEXT,) * len(values))
        return _Command(sql, name, given)

    def _find_converter(self) -> Converter:
        # Not at first: SQLAlchemy says how to read JSON after it has connected.
        if self._converter is None:
            self._converter = Transformer(self)
        return self._converter

    def _prepare(self, sql: bytes) -> bytes | None:
        if len(self._names) >= MOST_PREPARED:
            return None
        # Never the same name again, even if the statements of a connection were forgotten.
        name = b"direct_%d" % next(_numbers)
        self._check(self.pgconn.prepare(name, sql))
        self._names[sql] = name
        return name

    def _send_all(self, commands: Sequence[_Command]) -> list[PGresult]:
        """Run statements that are sent in one message; the first that fails ends it."""
        libpq = self.pgconn
        libpq.enter_pipeline_mode()
        try:
            for sql, name, given in commands:
                if name is None:
                    libpq.send_query_params(sql, given)
                else:
                    libpq.send_query_prepared(name, given)
            libpq.pipeline_sync()
            results = self._receive_all()
        finally:
            # Impossible if the connection is broken.
            with suppress(psycopg.Error):
                libpq.exit_pipeline_mode()
        return [self._check(result) for result in results]

    def _receive_all(self) -> list[PGresult]:
        libpq, ready = self.pgconn, select.poll()
        results: list[PGresult] = []
        while True:
            # libpq could wait too, but it would hold the interpreter meanwhile.
            while (is_unsent := libpq.flush()) or libpq.is_busy():
                ready.register(libpq.socket, select.POLLIN | (select.POLLOUT if is_unsent else 0))
                ready.poll()
                libpq.consume_input()
            result = libpq.get_result()
            if result is None:
                # The end of one statement; nothing else comes of a broken connection.
                if libpq.status != ConnStatus.OK:
                    raise psycopg.OperationalError(libpq.get_error_message())
            elif result.status == ExecStatus.PIPELINE_SYNC:
                return results
            else:
                results.append(result)

    def _check(self, result: PGresult) -> PGresult:
        if result.status in _FINE:
            return result
        if self.pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError(self.pgconn.get_error_message())
        error = error_from_result(result, self.info.encoding)
        if isinstance(error, InvalidSqlStatementName):
            # Somebody has told the server to forget them.
            self._names.clear()
        raise error


# How long a server may be silent, in seconds, the last one in milliseconds. One that does not answer
# must not delay a start for minutes; and if it vanishes without a word, the system would wait
# for its next word for a quarter of an hour, or for two hours if it had nothing to send.
_PATIENCE: Final = {
    "connect_timeout": 10,
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}


class DirectDialect(PGDialect_psycopg):
    """The dialect of these connections."""

    driver = "direct"
    supports_statement_cache = True

    def create_connect_args(self, url: URL) -> ConnectArgsType:
        """Say how to connect; what the address itself says comes first."""
        arguments, options = super().create_connect_args(url)  # type: ignore[no-untyped-call]
        return arguments, {**_PATIENCE, **options}

    def connect(self, *args: Any, **options: Any) -> Any:
        # Statements that psycopg prepares by itself it makes the server forget after a DROP, and
        # ours with them.
        connection = DirectConnection.connect(*args, prepare_threshold=None, **options)
        connection.pgconn.exec_(_READS_ARE_CHEAP)
        return connection

    def do_execute(
        self,
        cursor: Any,
        statement: Any,
        parameters: Any,
        context: Any = None,  # noqa: ARG002
    ) -> None:
        cursor.connection.send_waiting()
        cursor.execute(statement, parameters)

    def do_executemany(
        self,
        cursor: Any,
        statement: Any,
        parameters: Any,
        context: Any = None,  # noqa: ARG002
    ) -> None:
        cursor.connection.send_waiting()
        cursor.executemany(statement, parameters)

    def do_rollback(self, dbapi_connection: Any) -> None:
        dbapi_connection.undo()
        if dbapi_connection.pgconn.status != ConnStatus.OK:
            # Otherwise the pool would take it back, and keep its place for good.
            raise psycopg.OperationalError("The connection is lost.")

    def do_rollback_to_savepoint(self, connection: Any, name: str) -> None:
        # SQLAlchemy numbers them: there is nothing to quote.
        connection.connection.dbapi_connection.run(f"ROLLBACK TO SAVEPOINT {name}".encode(), ())
