"""Keeps what slipcover has instrumented, as Python keeps bytecode: for other processes and runs.

To instrument the whole program takes a quarter of a minute, in each process of a run. A probe
lives in memory, so code is kept with a stand-in for each, which a process replaces.
"""

import ast
import importlib.util
import marshal
import os
import sys
import threading
from hashlib import sha256
from pathlib import Path
from types import CodeType, ModuleType
from typing import Any, Final
from unittest.mock import patch

from slipcover import branch, importer, slipcover

_SIGNAL: Final = "tests.instrumenting: a line or branch was reached"
_probe: Final[Any] = getattr(slipcover, "probe", None)
_one_at_a_time: Final = threading.Lock()


class _StandIns:
    signal = _SIGNAL

    def __init__(self) -> None:
        self.places: list[int] = []

    def new(self, _: object, __: str, reached: object, ___: int) -> tuple[str, object, int]:
        self.places.append(0)
        return _SIGNAL, reached, len(self.places) - 1

    def set_immediate(self, stand_in: tuple[str, object, int], _: bytes, place: int) -> None:
        self.places[stand_in[2]] = place


def keep_what_is_instrumented() -> None:
    """Let slipcover load modules from what is kept. From Python 3.12 on it has no probes."""
    if sys.version_info < (3, 12):
        importer.SlipcoverLoader.exec_module = _execute


def _execute(loader: Any, module: ModuleType) -> None:
    source, name, measuring = loader.origin.read_bytes(), str(loader.origin), loader.sci
    made_of = (importlib.util.MAGIC_NUMBER, slipcover.__version__.encode(), name.encode(), source)
    key = sha256(b"\0".join(made_of)).digest()
    kept = Path(importlib.util.cache_from_source(name, optimization="slipcover"))
    content = kept.read_bytes() if kept.exists() else b""
    if not content.startswith(key):
        content = key + _instrument(source, name)
        if not sys.dont_write_bytecode:
            kept.parent.mkdir(exist_ok=True)
            new = kept.with_suffix(f".{os.getpid()}")
            new.write_bytes(content)
            new.replace(kept)
    code, lines, branches, places = marshal.loads(content[len(key) :])
    measuring.code_lines[name].update(lines)
    measuring.code_branches[name].update(branches)
    exec(_put_probes(code, places, measuring), module.__dict__)


def _instrument(source: bytes, name: str) -> bytes:
    code = compile(branch.preinstrument(ast.parse(source)), name, "exec")
    own, stand_ins = slipcover.Slipcover(immediate=True, branch=True), _StandIns()
    with _one_at_a_time, patch.object(slipcover, "probe", stand_ins):
        code = own.instrument(code)
    return marshal.dumps((code, own.code_lines[name], own.code_branches[name], stand_ins.places))


def _put_probes(code: CodeType, places: list[int], measuring: Any) -> CodeType:
    probes = []

    def put(constant: Any) -> Any:
        if isinstance(constant, CodeType):
            return _put_probes(constant, places, measuring)
        if isinstance(constant, tuple) and constant[:1] == (_SIGNAL,):
            _, reached, which = constant
            file, misses = code.co_filename, measuring.d_miss_threshold
            probes.append((_probe.new(measuring, file, reached, misses), places[which]))
            return probes[-1][0]
        return _probe.signal if constant == _SIGNAL else constant

    done = code.replace(co_consts=tuple(put(constant) for constant in code.co_consts))
    for made, place in probes:
        _probe.set_immediate(made, done.co_code, place)
    return done
