"""Starts the process that hashes passwords, and asks it."""

import os
import select
import subprocess
import sys
import threading
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
import structlog

from printworks.dashboard.auth.hashing_child import HashAnswer, HashTask, encode
from printworks.errors import ServiceUnavailable

log = structlog.get_logger(__name__)

_PROGRAM: Final = "printworks.dashboard.auth.hashing_child"
# On a machine that is busy with everything else; a hash takes a tenth of a second on an idle one.
_LONGEST_SECONDS: Final = 30
# Nothing else of the environment, so that no secret is where it is not needed.
_KEPT: Final = ("PYTHONPATH", "LD_LIBRARY_PATH", "PATH", "LANG")

_read_answer = msgspec.json.Decoder(HashAnswer).decode


class HashingProcess:
    """Hashes passwords in a process of its own, one at a time; safe to use from many threads."""

    def __init__(self, lock: Path, *, slots: int) -> None:
        self._arguments = [sys.executable, "-P", "-m", _PROGRAM, str(lock), str(slots)]
        self._process: subprocess.Popen[bytes] | None = None
        self._turn = threading.Lock()

    def hash(self, password: str) -> str:
        return self._ask(HashTask(encode(password))).hash

    def is_right(self, kept: str, password: str) -> bool:
        """Compare a password with its hash; an empty hash takes as long, and is never right."""
        return self._ask(HashTask(encode(password), kept)).is_right

    def close(self) -> None:
        """End the process."""
        with self._turn:
            self._stop()

    def _ask(self, task: HashTask) -> HashAnswer:
        line = msgspec.json.encode(task) + b"\n"
        with self._turn:
            # One that was killed is replaced, once.
            for _ in range(2):
                try:
                    return self._try(line)
                except (OSError, EOFError, msgspec.DecodeError) as error:
                    log.warning("the hashing process did not answer", error=type(error).__name__)
                    self._stop()
        raise ServiceUnavailable(
            "Passwords cannot be checked at the moment. Try again in a minute."
        )

    def _try(self, line: bytes) -> HashAnswer:
        process = self._process = self._process or self._start()
        if process.stdin is None or process.stdout is None:
            raise EOFError
        process.stdin.write(line)
        ready = select.poll()
        ready.register(process.stdout, select.POLLIN)
        if not ready.poll(_LONGEST_SECONDS * 1000):
            raise TimeoutError
        return _read_answer(process.stdout.readline())

    def _start(self) -> subprocess.Popen[bytes]:
        return subprocess.Popen(  # noqa: S603  (our own program)
            self._arguments,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            bufsize=0,
            env={name: os.environ[name] for name in _KEPT if name in os.environ},
            # An interrupt at the terminal is for the one that asks.
            start_new_session=True,
        )

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()
