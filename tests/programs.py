"""Processes of the program that need not import it again.

Importing all of it keeps a processor busy for more than a second, and the tests start hundreds of
services and workers. So there is a process that has imported it once, for all processes of the tests
that are forked later: every program is a fork of that one, and runs the same file as a shell would.
That this file starts by itself, too, is proved in `tests/cli`. `multiprocessing` could fork as well,
but the program uses it for its own processes, and has to find itself at their head.
"""

import atexit
import gc
import importlib
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, NoReturn

PROGRAM: Final = Path(sys.executable).with_name("printworks")
# What `serve`, `web` and `work` import, each when it needs it.
IMPORTED: Final = (
    "alembic.context",
    "alembic.runtime.environment",
    "alembic.script",
    "cryptography.hazmat.backends.openssl.backend",
    "holidays.countries",
    "printworks.cli.app",
    "printworks.cli.demo",
    "printworks.cli.opening",
    "printworks.cli.screen",
    "printworks.cli.supervisor",
    "printworks.files.drafts",
    "printworks.files.folder",
    "printworks.labs.simulated",
    "printworks.web.app",
    "printworks.web.server",
    "printworks.web.site",
    "printworks.web.tls",
    "printworks.worker.main",
    "rich.console",
    "trustme",
    "typer._adapters",
)
LONGEST_MESSAGE: Final = 2**17


class Program:
    """A program that was started: as much of `subprocess.Popen` as the tests use."""

    def __init__(self, told: int) -> None:
        self._told = os.fdopen(told, "rb", buffering=0)
        self.pid = self._read()
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its exit code; nothing while it runs."""
        if self.returncode is None and self._has_ended(0):
            self.wait()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended, and return its exit code: a negative one is a signal's."""
        if self.returncode is None:
            if not self._has_ended(timeout):
                raise subprocess.TimeoutExpired([PROGRAM], timeout or 0)
            self.returncode = self._read()
            self._told.close()
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it is known to have ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Ask it to end."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """End it without a warning."""
        self.send_signal(signal.SIGKILL)

    def _has_ended(self, within: float | None) -> bool:
        # Not `select`, which knows no more than a thousand files.
        waiting = select.poll()
        waiting.register(self._told, select.POLLIN)
        return bool(waiting.poll(None if within is None else within * 1000))

    def _read(self) -> int:
        told = self._told.readline()
        assert told, "The process that starts programs has ended."
        return int(told)


def start(
    *words: str | Path,
    env: Mapping[str, str],
    output: IO[bytes],
    errors: IO[bytes] | None = None,
) -> Program:
    """Start `printworks ...` in a session of its own, with these variables and no others.

    What it complains about goes where its output goes, unless there is a place for it.
    """
    told, tells = os.pipe()
    asked = json.dumps({"words": [str(word) for word in words], "env": dict(env)}).encode()
    try:
        socket.send_fds(
            open_starter(), [asked], [output.fileno(), (errors or output).fileno(), tells]
        )
    finally:
        os.close(tells)
    return Program(told)


@cache
def open_starter() -> socket.socket:
    """Return where the process that starts programs is asked; start it if need be."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with theirs:
        starter = subprocess.Popen(
            [sys.executable, "-X", "faulthandler", "-m", __name__, str(theirs.fileno())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,
        )

    def end() -> None:
        ours.close()
        starter.wait()

    atexit.register(end)
    return ours


def _start_all(asking: socket.socket) -> None:
    """Start one program after another, in a process that does nothing else."""
    _import_the_program()
    # Nobody waits for those that watch a program.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        asked, files, _, _ = socket.recv_fds(asking, LONGEST_MESSAGE, 3)
        if not asked:
            return
        if os.fork() == 0:
            asking.close()
            _watch(json.loads(asked), *files)
        for file in files:
            os.close(file)


def _import_the_program() -> None:
    from printworks.starting import doing_without

    # As the program itself does.
    with doing_without("rich"):
        importlib.import_module("structlog")
    for name in IMPORTED:
        importlib.import_module(name)
    importlib.import_module("printworks.catalogue.opening").open_catalogue(None)
    importlib.import_module("printworks.api.tags").hash_program()
    gc.collect()
    gc.freeze()
    assert threading.active_count() == 1, "A fork would lack the other threads."


def _watch(asked: dict[str, Any], output: int, errors: int, tells: int) -> NoReturn:
    """Fork the program, and tell its number and then its exit code."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    number = os.fork()
    if number == 0:
        os.close(tells)
        _become(asked["words"], asked["env"], output, errors)
    os.close(output)
    os.close(errors)
    os.write(tells, b"%d\n" % number)
    _, status = os.waitpid(number, 0)
    os.write(tells, b"%d\n" % os.waitstatus_to_exitcode(status))
    os._exit(0)


def _become(words: list[str], env: dict[str, str], output: int, errors: int) -> NoReturn:
    os.setsid()
    os.dup2(output, 1)
    os.dup2(errors, 2)
    os.close(output)
    os.close(errors)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = [str(PROGRAM), *words]
    sys.path[0] = str(PROGRAM.parent)
    runpy.run_path(str(PROGRAM), run_name="__main__")
    sys.exit()


if __name__ == "__main__":
    _start_all(socket.socket(fileno=int(sys.argv[1])))
