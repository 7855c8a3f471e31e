"""Runs the web processes: starts those that die again, and stops all of them when asked."""

import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Final

import structlog

from printworks.web.parents import holding_signals, release_signals

log = structlog.get_logger(__name__)

# A process that is started again and dies sooner than this will not get well by itself.
_SHORT_LIFE: Final = 5.0

# Forked where that is safe: everything is imported already, and its memory shared.
_Process: Final = (
    multiprocessing.get_context("fork").Process
    if sys.platform == "linux"
    else multiprocessing.get_context("spawn").Process
)


class ProcessGroup:
    """Several processes that do the same."""

    def __init__(
        self,
        run: Callable[[int], None],
        count: int,
        shut: Callable[[], None],
        stop_timeout: timedelta,
    ) -> None:
        self._run = run
        self._count = count
        # Lets nobody in any more; once the processes know that they have to stop.
        self._shut = shut
        self._stop_timeout = max(1.0, stop_timeout.total_seconds())
        self._processes: dict[int, BaseProcess] = {}
        self._restarted_at: dict[int, float] = {}
        self._is_stopping = threading.Event()

    def run(self) -> int:
        """Run until SIGTERM or SIGINT; return 1 if the processes keep dying."""
        woken, waker = os.pipe()
        os.set_blocking(waker, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        for stopping in (signal.SIGTERM, signal.SIGINT):
            signal.signal(stopping, lambda *_: self._is_stopping.set())
        for number in range(self._count):
            self._start(number)
        is_well = True
        while is_well and not self._is_stopping.is_set():
            numbers = {process.sentinel: n for n, process in self._processes.items()}
            ended = [numbers[each] for each in wait([woken, *numbers]) if each in numbers]
            for number in [] if self._is_stopping.is_set() else ended:
                is_well = self._start_again(number)
        self._stop()
        return 0 if is_well else 1

    def _start(self, number: int) -> None:
        process = _Process(name=f"web-{number + 1}", target=_begin, args=(self._run, number))
        with holding_signals():
            process.start()
        self._processes[number] = process

    def _start_again(self, number: int) -> bool:
        ended = self._processes.pop(number)
        ended.join()
        log.error("web process ended", number=number + 1, exit_code=ended.exitcode)
        now = time.monotonic()
        if now - self._restarted_at.get(number, -_SHORT_LIFE) < _SHORT_LIFE:
            log.error("web process keeps ending", number=number + 1)
            return False
        self._restarted_at[number] = now
        self._start(number)
        return True

    def _stop(self) -> None:
        for process in self._processes.values():
            process.terminate()
        deadline = time.monotonic() + self._stop_timeout
        self._shut()
        for number, process in self._processes.items():
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                log.warning("web process killed", number=number + 1)
                process.kill()
                process.join()


def _begin(run: Callable[[int], None], number: int) -> None:
    signal.set_wakeup_fd(-1)
    # Ctrl-C reaches every process of a terminal; the one that started this one decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    release_signals()
    run(number)
