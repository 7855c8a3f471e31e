"""A slot for one zygote: starts it when needed, ends it when it does not answer."""

import contextlib
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from typing import Final

import msgspec
import structlog

from printworks.imaging.messages import ChildReport, Confinement, Task

log = structlog.get_logger(__name__)

ZYGOTE: Final = ("-m", "printworks.imaging.zygote")

# A zygote ends a child that is late; if it does not, it is ended itself after this time.
GRACE: Final = 2.0
START: Final = 30.0
LONGEST_REPORT: Final = 262_144

# Nothing else of the environment, so that no secret can leak. One thread per child, since there
# is one child per core; large pictures are not swapped to disk, so the memory limit decides; a
# maximum side above our own, because our error message is better; huge pages, because a child
# touches all of its memory for the first time, and each page costs a page fault.
ENVIRONMENT: Final = {
    "LANG": "C.UTF-8",
    "VIPS_CONCURRENCY": "1",
    "VIPS_DISC_THRESHOLD": "64g",
    "VIPS_MAX_COORD": "65536",
    "VIPS_WARNING": "0",
    "MALLOC_ARENA_MAX": "1",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
}
_KEPT: Final = ("PYTHONPATH", "LD_LIBRARY_PATH")

_read_ready = msgspec.json.Decoder(Confinement).decode
_read_report = msgspec.json.Decoder(ChildReport).decode

_has_warned = threading.Event()


class ZygoteDied(Exception):
    """The zygote ended, or had to be ended, before it answered."""


class ZygoteNotStarted(ZygoteDied):
    """The zygote did not start, so no picture was read: an infrastructure error."""


class Slot:
    """Processes one picture at a time; use it from one thread at a time."""

    def __init__(self, zygote: Sequence[str]) -> None:
        self._program = [sys.executable, "-P", *zygote]
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, task: Task) -> ChildReport:
        """Run the task in a child; raise `ZygoteDied` if that ends the zygote as well."""
        process = self._process or self._start()
        try:
            _write(process, msgspec.json.encode(task) + b"\n")
            return _read_report(_read_line(process, task.limits.wall_seconds + GRACE))
        except (OSError, EOFError, msgspec.DecodeError) as error:
            self.stop()
            raise ZygoteDied(
                f"The zygote died or did not answer: {type(error).__name__}."
            ) from error
        except BaseException:
            # Otherwise its answer would be taken for that to the next task.
            self.stop()
            raise

    def stop(self) -> None:
        """End the zygote and its child, if any."""
        process, self._process = self._process, None
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            return self._spawn()
        except (OSError, EOFError, msgspec.DecodeError) as error:
            self.stop()
            raise ZygoteNotStarted(f"The zygote did not start: {type(error).__name__}.") from error
        except BaseException:
            self.stop()
            raise

    def _spawn(self) -> subprocess.Popen[bytes]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        self._process = subprocess.Popen(  # noqa: S603  (our own program)
            self._program,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={**kept, **ENVIRONMENT},
            # An interrupt at the terminal must not reach it, but ending its process group must.
            start_new_session=True,
        )
        _warn_of_weak_confinement(_read_ready(_read_line(self._process, START)))
        return self._process


def _warn_of_weak_confinement(confinement: Confinement) -> None:
    if (confinement.landlock and confinement.seccomp) or _has_warned.is_set():
        return
    _has_warned.set()
    log.warning(
        "images are decoded without full confinement: the kernel lacks Landlock or seccomp",
        landlock=confinement.landlock,
        seccomp=confinement.seccomp,
    )


def _write(process: subprocess.Popen[bytes], line: bytes) -> None:
    pipe = process.stdin
    if pipe is None:
        raise EOFError
    while line:
        line = line[pipe.write(line) or 0 :]


def _read_line(process: subprocess.Popen[bytes], seconds: float) -> bytes:
    pipe = process.stdout
    if pipe is None:
        raise EOFError
    until = time.monotonic() + seconds
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    line = b""
    while not line.endswith(b"\n"):
        left = until - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            raise TimeoutError
        part = os.read(pipe.fileno(), LONGEST_REPORT)
        if not part or len(line) > LONGEST_REPORT:
            raise EOFError
        line += part
    return line
