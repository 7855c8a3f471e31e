"""Runs the tests in several processes that share one collection: `pytest --processes N`.

Importing, instrumenting and collecting everything takes longer than half a minute of a processor.
So one process does it, forks the others when it knows all tests, and hands out one file after the
other: slow ones first, since `tests/conftest.py` puts them there. What the processes report goes
through the usual hooks. One that dies fails its test, and another takes its place; one that says
nothing for long is ended, with the traces of its threads.
"""

import os
import signal
import sys
import time
import traceback
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from pathlib import Path
from typing import Any, Final, NoReturn, cast

import pytest

# Marks the tests of a folder that shares what takes long to start, such as a browser.
TOGETHER: Final = "together"
# Says to a test which of the processes it runs in, for whatever they must not share.
NUMBER: Final = "TEST_PROCESS"

# After so long without a report, in seconds, a process has hung, and even its own alarm cannot end it.
SILENCE: Final = 600.0

# Places in the list of all tests.
Chunk = list[int]


class Hooks:
    """What other plugins may add to the end of a process."""

    @pytest.hookspec
    def pytest_process_summary(self, config: pytest.Config) -> tuple[str, Any]:
        """Return a name, and whatever a process of the tests has found out, to be pickled."""
        raise NotImplementedError

    @pytest.hookspec
    def pytest_process_ended(self, config: pytest.Config, summary: dict[str, Any]) -> None:
        """Take in what a process of the tests has found out."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Ask for the number of processes."""
    parser.addoption("--processes", type=int, default=0, help="run the tests in N forks")
    parser.addoption("--silence", type=float, default=SILENCE, help="seconds until a fork has hung")


def pytest_addhooks(pluginmanager: pytest.PytestPluginManager) -> None:
    """Let other plugins know of the end of a process."""
    pluginmanager.add_hookspecs(Hooks)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Run all tests in forks, if there shall be any."""
    count = min(session.config.option.processes, len(session.items))
    if session.testsfailed or session.config.option.collectonly or count < 1:
        return None
    # Else the forks would share a folder that each believes to be its own.
    session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]
    threads = [task.joinpath("comm").read_text() for task in Path("/proc/self/task").iterdir()]
    assert len(threads) == 1, f"A fork would lack the other threads: {threads}"
    _Leader(session).run(count)
    return True


@dataclass
class _Fork:
    """A process of the tests, as the one that leads them sees it."""

    number: int
    pid: int
    connection: Connection
    chunk: deque[int] = field(default_factory=deque)
    heard_at: float = field(default_factory=time.monotonic)


class _Leader:
    """Hands out the tests, and passes on what is said of them."""

    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._hook = session.config.hook
        self._silence: float = session.config.option.silence
        self._chunks = deque(_cut(session.items))
        self._forks: dict[Connection, _Fork] = {}

    def run(self, count: int) -> None:
        """Run all tests, and return when every process has ended."""
        try:
            for number in range(count):
                self._start(number)
            while self._forks:
                for connection in wait(list(self._forks), self._silence / 10):
                    self._listen(self._forks[cast(Connection, connection)])
                self._end_early()
                self._end_hung()
        finally:
            # They end when there is nobody to ask for more.
            for fork in self._forks.values():
                fork.connection.close()
                os.waitpid(fork.pid, 0)

    def _start(self, number: int) -> None:
        ours, theirs = Pipe()
        sys.stdout.flush()
        sys.stderr.flush()
        pid = os.fork()
        if pid == 0:
            for connection in (ours, *self._forks):
                connection.close()
            _work(self._session, number, theirs)
        theirs.close()
        self._forks[ours] = _Fork(number, pid, ours)

    def _listen(self, fork: _Fork) -> None:
        fork.heard_at = time.monotonic()
        try:
            what, said = fork.connection.recv()
        except (EOFError, ConnectionError):
            self._bury(fork)
            return
        match what:
            case "ready":
                self._hand_out(fork)
            case "report":
                self._report(said)
            case "done":
                fork.chunk.popleft()
            case "summary":
                self._hook.pytest_process_ended(config=self._session.config, summary=said)
            case _:
                message = f"A process of the tests failed:\n{said}"
                raise RuntimeError(message)

    def _hand_out(self, fork: _Fork) -> None:
        fork.chunk = deque(self._chunks.popleft() if self._chunks else ())
        with suppress(ConnectionError):
            fork.connection.send(list(fork.chunk))

    def _report(self, said: dict[str, Any]) -> None:
        report = self._hook.pytest_report_from_serializable(config=self._session.config, data=said)
        self._hook.pytest_runtest_logreport(report=report)

    def _bury(self, fork: _Fork) -> None:
        del self._forks[fork.connection]
        fork.connection.close()
        _, status = os.waitpid(fork.pid, 0)
        if not fork.chunk:
            assert status == 0, f"A process of the tests ended with {status} after its tests."
            return
        test = self._session.items[fork.chunk.popleft()]
        ended = f"The process of this test ended with {os.waitstatus_to_exitcode(status)}."
        report = pytest.TestReport(test.nodeid, test.location, {}, "failed", ended, "call")
        self._hook.pytest_runtest_logreport(report=report)
        if fork.chunk:
            self._chunks.appendleft(list(fork.chunk))
        self._start(fork.number)

    def _end_hung(self) -> None:
        latest = time.monotonic() - self._silence
        for fork in self._forks.values():
            if fork.heard_at < latest:
                fork.heard_at = time.monotonic()
                # pytest lets it write where each of its threads is.
                os.kill(fork.pid, signal.SIGABRT)

    def _end_early(self) -> None:
        if self._session.shouldfail:
            raise self._session.Failed(self._session.shouldfail)
        if self._session.shouldstop:
            raise self._session.Interrupted(self._session.shouldstop)


def _cut(tests: list[pytest.Item]) -> Iterator[Chunk]:
    """Cut the list of tests into files, or folders that stay together: they share a service."""

    def find_place(place: int) -> Path:
        test = tests[place]
        return test.path.parent if test.get_closest_marker(TOGETHER) else test.path

    for _, chunk in groupby(range(len(tests)), key=find_place):
        yield list(chunk)


def _work(session: pytest.Session, number: int, connection: Connection) -> NoReturn:
    """Be a process of the tests until there are none left."""
    code = 1
    try:
        os.environ[NUMBER] = str(number)
        _take_over(session, connection)
        _run_chunks(session, connection)
        connection.send(("summary", dict(_summarize(session.config))))
        code = 0
    except (EOFError, ConnectionError):
        # The process that leads has ended.
        session._setupstate.teardown_exact(None)
    except BaseException:  # noqa: BLE001  (nobody else would say it)
        with suppress(ConnectionError):
            connection.send(("failed", traceback.format_exc()))
    finally:
        os._exit(code)


def _take_over(session: pytest.Session, connection: Connection) -> None:
    """Capture output by itself, and report to the process that leads and to nobody else."""
    config, plugins = session.config, session.config.pluginmanager
    capture = plugins.getplugin("capturemanager")
    assert capture is not None
    capture.stop_global_capturing()
    nowhere = Path(os.devnull).open("w")  # noqa: SIM115  (until the process ends)
    silent = pytest.TerminalReporter(config, nowhere)
    plugins.unregister(name="terminalreporter")
    plugins.register(silent, "terminalreporter")
    silent.pytest_sessionstart(session)
    plugins.register(_Messenger(config, connection))
    capture.start_global_capturing()
    capture.suspend_global_capture()


class _Messenger:
    """Tells the process that leads what became of each test."""

    def __init__(self, config: pytest.Config, connection: Connection) -> None:
        self._config = config
        self._connection = connection

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Send a report as any plugin would store it."""
        data = self._config.hook.pytest_report_to_serializable(config=self._config, report=report)
        self._connection.send(("report", data))


def _run_chunks(session: pytest.Session, connection: Connection) -> None:
    # What the session shares stays until there is nothing left to run.
    stays = cast(pytest.Item, session)
    while chunk := _ask(connection):
        tests = [session.items[place] for place in chunk]
        for test, following in zip(tests, [*tests[1:], stays], strict=True):
            test.config.hook.pytest_runtest_protocol(item=test, nextitem=following)
            connection.send(("done", None))
    session._setupstate.teardown_exact(None)


def _ask(connection: Connection) -> Chunk:
    connection.send(("ready", None))
    return cast(Chunk, connection.recv())


def _summarize(config: pytest.Config) -> list[tuple[str, Any]]:
    return cast(list[tuple[str, Any]], config.hook.pytest_process_summary(config=config))
