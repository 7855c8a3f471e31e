"""The command line as an operator meets it."""

import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Final

from tests.commands import Ended, make_environment, run_here
from tests.programs import PROGRAM, Program, start
from tests.running import Service, find_free_port
from tests.worker.hosts import wait_until

# These fork, listen, wait for signals and set up the logs of their process.
_RUN_UNTIL_STOPPED: Final = {"serve", "web", "work", "listen"}


def run(*words: str | Path, **settings: str) -> Ended:
    """Run a command to its end with settings such as `port="9443"`.

    In the process of the tests, unless it is one of those that run until they are stopped.
    """
    if words[0] in _RUN_UNTIL_STOPPED:
        return _run_fork(*words, env=make_environment(_name(settings)))
    return run_here(*words, settings=_name(settings))


def run_process(*words: str | Path, **settings: str) -> Ended:
    """Run a command to its end in a process that imports everything itself."""
    ended = subprocess.run(
        [PROGRAM, *words],
        capture_output=True,
        text=True,
        timeout=60,
        env=make_environment(_name(settings)),
    )
    return Ended(ended.returncode, ended.stdout, ended.stderr)


def _run_fork(*words: str | Path, env: Mapping[str, str]) -> Ended:
    with TemporaryFile() as output, TemporaryFile() as errors:
        process = start(*words, env=env, output=output, errors=errors)
        try:
            code = process.wait(60)
        finally:
            # One that should have ended must not outlive the test.
            process.kill()
        output.seek(0)
        errors.seek(0)
        return Ended(code, output.read().decode(), errors.read().decode())


@contextmanager
def started(data: Path, *, by_itself: bool = False, **settings: str) -> Iterator[Service]:
    """Run `printworks serve` until its welcome is there; end it with the block, however it is.

    By itself, it imports everything as it does for an operator.
    """
    port = find_free_port()
    log = data.with_name(f"{data.name}.log")
    named = _name({"port": str(port), "web_processes": "1", **settings})
    process: Program | subprocess.Popen[bytes]
    with log.open("wb") as output:
        words, env = ("serve", "--data", data), make_environment(named)
        if by_itself:
            process = subprocess.Popen(
                [PROGRAM, *words],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=env,
            )
        else:
            process = start(*words, env=env, output=output)
    service = Service(data, port, process, log, named)
    try:
        wait_until(lambda: process.poll() is not None or "Ctrl-C stops it." in log.read_text())
        assert process.poll() is None, service.explain()
        yield service
    finally:
        process.terminate()
        process.wait(60)


def _name(settings: Mapping[str, str]) -> dict[str, str]:
    return {f"PRINTWORKS_{name.upper()}": value for name, value in settings.items()}
