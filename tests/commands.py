"""An operator's commands, run to their end inside the process of the tests.

A process of its own for each command would import everything again, which takes a second. What
only a process can prove (signals, exit codes, what is imported, who listens) is in
`tests/cli/test_processes.py`, `test_serve.py` and `test_listen.py`.
"""

import logging
import os
import sys
import threading
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import structlog
from typer.testing import CliRunner

from printworks.catalogue.opening import open_catalogue
from printworks.cli import main

# A command sees nothing else of the environment of the tests.
_INHERITED: Final = ("PATH", "HOME", "TMPDIR")
# The streams and the environment belong to the process: one command at a time.
_turn: Final = threading.Lock()
_configure_structlog: Final = structlog.configure
_catalogues: Final[dict[Path, set[tuple[Path, int, int]]]] = {}


@dataclass(frozen=True)
class Ended:
    """What a command said, and how it ended."""

    code: int
    said: str
    complained: str


def run_here(*words: str | Path, settings: Mapping[str, str]) -> Ended:
    """Run `printworks ...` as a process with these variables would."""
    with _turn, _new_process(words, settings), CliRunner().isolation() as (said, complained, _):
        code = _run_main()
        # What is still in the streams' own buffers is part of what was said.
        sys.stdout.flush()
        sys.stderr.flush()
        return Ended(code, said.getvalue().decode(), complained.getvalue().decode())


def make_environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Return the variables of a command with these settings."""
    inherited = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**inherited, **settings}


@contextmanager
def _new_process(words: tuple[str | Path, ...], settings: Mapping[str, str]) -> Iterator[None]:
    """Undo with the block whatever a command does to its process."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    log = structlog.get_config()
    mask = os.umask(0o022)
    _drop_a_changed_catalogue(Path(settings.get("PRINTWORKS_CATALOGUE", "")))
    try:
        with (
            patch.object(sys, "argv", ["printworks", *map(str, words)]),
            # Else it would be called `python -m pytest`.
            patch.object(sys.modules["__main__"], "__package__", None),
            patch.object(structlog, "configure", _configure),
            patch.dict(os.environ, make_environment(settings), clear=True),
        ):
            yield
    finally:
        os.umask(mask)
        _configure_structlog(**log)
        root.handlers[:] = handlers
        root.setLevel(level)


def _configure(**chosen: Any) -> None:
    # A logger that is kept would write to the streams of a command that has ended.
    _configure_structlog(**{**chosen, "cache_logger_on_first_use": False})


def _drop_a_changed_catalogue(folder: Path) -> None:
    """Let a folder that was written since the last command be read again, as a process would.

    Only then: the built-in catalogue, which takes longest to read, would have to be as well.
    """
    files = {(file, file.stat().st_mtime_ns, file.stat().st_size) for file in folder.glob("*.toml")}
    if _catalogues.setdefault(folder, files) != files:
        open_catalogue.cache_clear()
        _catalogues[folder] = files


def _run_main() -> int:
    try:
        main()
    except SystemExit as ended:
        return ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except Exception:  # noqa: BLE001  (the interpreter would do the same)
        traceback.print_exc()
        return 1
    return 0
