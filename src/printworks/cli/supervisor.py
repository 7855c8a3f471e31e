"""Keeps the web process and the worker running until it is told to stop."""

import fcntl
import multiprocessing
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import timedelta
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Final

import structlog

from printworks.settings import BadSetting, Settings
from printworks.web.parents import holding_signals, release_signals, stop_with_parent
from printworks.web.server import find_address

# A process that ends sooner than this after its start is not well.
SHORT_LIFE: Final = timedelta(seconds=5)
MAX_FAILURES: Final = 5
# The process that must answer before it counts as started.
WEB: Final = "web"
# The others start once it answers, or after this long: on a small machine they would slow it down.
SECONDS_ALONE: Final = 1.0
LONGEST_PAUSE: Final = timedelta(seconds=10)
STOP_SIGNALS: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Forked where that is safe: everything is imported already.
_Process: Final = (
    multiprocessing.get_context("fork").Process
    if sys.platform == "linux"
    else multiprocessing.get_context("spawn").Process
)

log = structlog.get_logger()


@contextmanager
def lock_data_folder(data: Path) -> Iterator[None]:
    """Refuse a second `serve` on the same data folder."""
    with (data / "serve.lock").open("a") as file:
        # The processes of a supervisor that was killed need some time to notice.
        deadline = time.monotonic() + 2
        while not _try_lock(file.fileno()):
            if time.monotonic() > deadline:
                raise BadSetting(f"`printworks serve` is already running on {data}.")
            time.sleep(0.05)
        yield


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Child:
    """One process that is started again when it ends."""

    def __init__(self, name: str, run: Callable[[Settings], None], settings: Settings) -> None:
        self.name = name
        self._run = run
        self._settings = settings
        self.process: BaseProcess | None = None
        self.is_well = False
        self.short_lives = 0
        self.started_at = 0.0
        self.start_at = 0.0

    def start(self) -> None:
        """Start the process, in a group of its own so that Ctrl-C reaches the supervisor alone."""
        self.process = _Process(name=self.name, target=_run_child, args=(self._run, self._settings))
        with holding_signals():
            self.process.start()
        self.is_well = False
        self.started_at = time.monotonic()

    def note_end(self) -> None:
        """Decide when to start again: at once, or later and later if it keeps dying young."""
        assert self.process is not None  # noqa: S101
        # First of all: until then, the kernel may not say yet how it ended.
        self.process.join()
        code = self.process.exitcode
        self.process = None
        was_long = time.monotonic() - self.started_at >= SHORT_LIFE.total_seconds()
        # Whatever ends a process that was at work, or kills it from outside, says nothing
        # about whether the program can start.
        if self.is_well or was_long:
            self.short_lives = 0
        elif code != -signal.SIGKILL:
            self.short_lives += 1
        pause = min(0.1 * 2**self.short_lives, LONGEST_PAUSE.total_seconds())
        self.start_at = time.monotonic() + pause
        log.error("process ended", process=self.name, exit_code=code, restart_after=pause)

    def send(self, number: signal.Signals) -> None:
        """Send a signal to the process; a kill goes to those it started, too."""
        if self.process is None or self.process.pid is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if number == signal.SIGKILL:
                os.killpg(self.process.pid, number)
            else:
                os.kill(self.process.pid, number)


def _run_child(run: Callable[[Settings], None], settings: Settings) -> None:
    os.setpgid(0, 0)
    signal.set_wakeup_fd(-1)
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_DFL)
    release_signals()
    stop_with_parent()
    run(settings)


class Supervisor:
    """Starts the processes, starts them again when they die, stops them when asked."""

    def __init__(
        self,
        settings: Settings,
        processes: Mapping[str, Callable[[Settings], None]],
        *,
        when_ready: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._children = [Child(name, run, settings) for name, run in processes.items()]
        self._web = next(child for child in self._children if child.name == WEB)
        self._when_ready = when_ready
        self._stops = 0
        self._delay_others(SECONDS_ALONE)

    def run(self) -> int:
        """Run until a signal comes; return the exit code."""
        with self._listen_to_signals() as woken:
            was_shown = False
            while not self._stops:
                if failure := self._start_those_due():
                    self._stop(woken)
                    sys.stderr.write(f"printworks: {failure}\n")
                    return 1
                if not self._web.is_well and is_answering(self._settings):
                    self._web.is_well = True
                    if not was_shown:
                        was_shown = True
                        self._delay_others(0)
                        self._when_ready()
                self._wait(woken, timeout=None if self._web.is_well else 0.02)
            return self._stop(woken)

    def _delay_others(self, seconds: float) -> None:
        for child in self._children:
            if child is not self._web and not child.started_at:
                child.start_at = time.monotonic() + seconds

    @contextmanager
    def _listen_to_signals(self) -> Iterator[socket.socket]:
        woken, waker = socket.socketpair()
        with woken, waker:
            woken.settimeout(0)
            waker.settimeout(0)
            signal.set_wakeup_fd(waker.fileno(), warn_on_full_buffer=False)
            for number in STOP_SIGNALS:
                signal.signal(number, self._note_stop)
            try:
                yield woken
            finally:
                signal.set_wakeup_fd(-1)

    def _note_stop(self, number: int, _frame: object) -> None:
        # A second Ctrl-C is impatience; a second SIGTERM is two programs passing on one.
        if not self._stops or number == signal.SIGINT:
            self._stops += 1

    def _start_those_due(self) -> str | None:
        for child in self._children:
            if child.short_lives >= MAX_FAILURES:
                return (
                    f"The {child.name} process ended {MAX_FAILURES} times soon after its start; "
                    "the log above says why."
                )
            if child.process is None and child.start_at <= time.monotonic():
                child.start()
        return None

    def _wait(self, woken: socket.socket, *, timeout: float | None) -> None:
        """Wait for a signal, the end of a process or the time to start one again."""
        running = {child.process.sentinel: child for child in self._children if child.process}
        times = [child.start_at - time.monotonic() for child in self._children if not child.process]
        if timeout is not None:
            times.append(timeout)
        for event in wait([woken, *running], max(0.0, min(times)) if times else None):
            if isinstance(event, int):
                running[event].note_end()
            else:
                woken.recv(4096)

    def _stop(self, woken: socket.socket) -> int:
        """Stop the processes, patiently; a second signal or too long a wait kills them."""
        asked = self._stops
        self._send(signal.SIGTERM)
        # A little longer than they give themselves.
        deadline = time.monotonic() + self._settings.time_to_stop.total_seconds() + 2
        while running := self._list_running():
            if self._stops > asked or time.monotonic() > deadline:
                self._send(signal.SIGKILL)
                return 1
            if woken in wait([woken, *(process.sentinel for process in running)], 0.5):
                woken.recv(4096)
        return 0

    def _list_running(self) -> list[BaseProcess]:
        processes = (child.process for child in self._children)
        return [process for process in processes if process and process.is_alive()]

    def _send(self, number: signal.Signals) -> None:
        for child in self._children:
            child.send(number)


def is_answering(settings: Settings) -> bool:
    """Say whether the address in the settings answers."""
    address = find_address(settings)
    try:
        if address.socket is not None:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(str(address.socket))
            return True
        with socket.create_connection((address.host, address.port), timeout=2) as plain:
            if settings.behind_proxy:
                return True
            # Our own child answers; the operator's certificate may be for any name.
            context = ssl._create_unverified_context()  # noqa: S323
            with context.wrap_socket(plain):
                return True
    except OSError:
        return False
