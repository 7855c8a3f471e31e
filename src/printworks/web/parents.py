"""Ends a process with the one that started it."""

import multiprocessing
import os
import signal
import threading


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
