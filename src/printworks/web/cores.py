"""Keeps the threads that share an interpreter on one core.

Only one of them can run at a time. On several cores they keep waking each other across
cores, and carry the interpreter's memory from cache to cache: a request was measured to cost
400 µs of CPU that way, and 180 µs on one core. What Granian does outside the interpreter, TLS
above all, stays where the kernel puts it.
"""

import os
from collections.abc import Iterable


def choose_core(number: int, first: int) -> int | None:
    """Return the core for a process of several, or None where that cannot be chosen."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[(first + number) % len(allowed)] if len(allowed) > 1 else None


def keep_on(core: int, threads: Iterable[int]) -> None:
    """Bind threads, by the kernel's numbers, to a core."""
    for thread in threads:
        os.sched_setaffinity(thread, {core})
