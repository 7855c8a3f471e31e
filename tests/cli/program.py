"""The command line as an operator meets it."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.running import PROGRAM, Service, find_free_port


@dataclass(frozen=True)
class Ended:
    """What a command said, and how it ended."""

    code: int
    said: str
    complained: str


def run(*words: str | Path, **settings: str) -> Ended:
    """Run a command to its end with settings such as `port="9443"`."""
    environment = _environment(_name(settings))
    ended = subprocess.run(
        [PROGRAM, *words], capture_output=True, text=True, timeout=60, env=environment
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


@contextmanager
def started(data: Path, **settings: str) -> Iterator[Service]:
    """Run `printworks serve` until its welcome is there; end it with the block, however it is."""
    port = find_free_port()
    log = data.with_name(f"{data.name}.log")
    named = _name({"port": str(port), **settings})
    with log.open("wb") as output:
        process = subprocess.Popen(
            [PROGRAM, "serve", "--data", data],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=_environment(named),
        )
    service = Service(data, port, process, log, named)
    try:
        wait_until(lambda: process.poll() is not None or "Ctrl-C stops it." in log.read_text())
        assert process.poll() is None, service.explain()
        yield service
    finally:
        process.terminate()
        process.wait(60)


def wait_until(is_true: Callable[[], bool]) -> None:
    """Look again and again, for at most half a minute."""
    deadline = time.monotonic() + 30
    while not is_true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def _name(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"PRINTWORKS_{name.upper()}": value for name, value in settings.items()}


def _environment(named: Mapping[str, str]) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {**kept, **named}
