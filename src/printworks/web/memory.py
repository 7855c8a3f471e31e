"""Keeps the memory of a web process from growing by its gaps."""

import asyncio
import ctypes
from typing import Final

# Names and numbers of `malloc.h`.
_M_MMAP_THRESHOLD: Final = -3
_M_ARENA_MAX: Final = -8
# The buffer of a TLS connection is twice as large, and gets memory of its own.
LARGEST_IN_BETWEEN: Final = 128 * 1024
SECONDS_BETWEEN_RETURNS: Final = 30.0


def close_gaps() -> None:
    """Let all threads allocate in one place, and large buffers outside of it; before threads start.

    The C library would give nearly every thread a place of its own, and after the first connection
    that ends would put the buffers of others between what stays. Each place then keeps the gaps
    that nobody else can use: 17 MB of 50 after two minutes. Threads that share a core, and the interpreter's
    lock, have nothing to gain from it.
    """
    libc = ctypes.CDLL(None)
    # Other C libraries do without.
    if hasattr(libc, "mallopt"):
        libc.mallopt(_M_ARENA_MAX, 1)
        libc.mallopt(_M_MMAP_THRESHOLD, LARGEST_IN_BETWEEN)


async def keep_returning_gaps(every: float = SECONDS_BETWEEN_RETURNS) -> None:
    """Return what is free between what stays to the system, now and then.

    The C library returns only what is free at the end. Without this, a process that once had 200
    connections at a time keeps up to a quarter of a megabyte for each. It takes about a
    millisecond.
    """
    libc = ctypes.CDLL(None)
    while hasattr(libc, "malloc_trim"):
        await asyncio.sleep(every)
        libc.malloc_trim(0)
