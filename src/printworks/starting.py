"""How a process starts quickly, and gives way to others."""

import gc
import os
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

# How Linux shares the processors among sessions.
_OF_SESSION: Final = Path("/proc/self/autogroup")
# The number of `sched_setattr`, for which neither Python nor most C libraries have a function, and
# what it takes: size, policy, flags, niceness, priority, turn, deadline and period.
_SYSTEM_CALLS: Final = {"x86_64": 314, "aarch64": 274}
_SCHEDULING: Final = struct.Struct("=IIQiIQQQ")
# How long a thread runs before others have their turn: the longest that Linux grants.
_LONG_TURN: Final = 100_000_000


@contextmanager
def without_collecting() -> Iterator[None]:
    """Look for no garbage in what the block imports or reads: all of it stays until the end.

    Searching it again and again takes a sixth of a start, and once afterwards 0.04 s.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def keep_for_good() -> None:
    """Never look for garbage in what there is now, which stays until the end.

    Each search stops all threads: a worker that has imported everything, for 0.09 s.
    """
    gc.freeze()


@contextmanager
def doing_without(name: str) -> Iterator[None]:
    """Keep a package from libraries that import it in the block wherever it is installed."""
    modules: dict[str, Any] = sys.modules
    if name in modules:
        yield
        return
    # To an import, this says that there is no such package.
    modules[name] = None
    try:
        yield
    finally:
        del modules[name]


def give_way(niceness: int, *, leads_session: bool = False) -> None:
    """Let others have the processors first, from the thread that works."""
    os.nice(niceness)
    _take_long_turns()
    # Where the processors are shared among sessions first, the priority counts only within one.
    if leads_session and _OF_SESSION.exists():
        with suppress(OSError):
            _OF_SESSION.write_text(str(niceness))


def _take_long_turns() -> None:
    """Let this thread be interrupted by any other that has something to do.

    Priority says how much of a processor a thread gets, not how soon another gets it back, which
    may take 4 ms. Linux interrupts those with long turns for those with shorter ones.
    """
    number = _SYSTEM_CALLS.get(os.uname().machine) if sys.platform == "linux" else None
    if number is None:
        return
    # Few processes need it.
    import ctypes

    niceness = os.getpriority(os.PRIO_PROCESS, 0)
    wanted = _SCHEDULING.pack(_SCHEDULING.size, 0, 0, niceness, 0, _LONG_TURN, 0, 0)
    # Where it is forbidden or not known, everything stays as it is.
    ctypes.CDLL(None).syscall(number, 0, wanted, 0)
