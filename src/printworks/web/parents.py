"""Starts processes that hear every signal, and ends them with the one that started them."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

_STOPPING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def holding_signals() -> Iterator[None]:
    """Let signals wait while a process is forked, in both; the new one must `release_signals`.

    One that comes before the new process has handlers of its own would call those of its parent, and
    be lost: it would go on until it is killed.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOPPING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def release_signals() -> None:
    """Hear the signals that have waited, now that this process has handlers of its own."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOPPING)


def stop_with_parent() -> None:
    """Stop this process when the one that started it dies, however it dies."""
    parent = multiprocessing.parent_process()
    if parent is None:
        return

    def watch() -> None:
        # Processes that were forked later hold the other end of the pipe that `join` waits for, so
        # the parent's id is checked as well.
        while os.getppid() == parent.pid:
            parent.join(0.5)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, name="parent-watch", daemon=True).start()
