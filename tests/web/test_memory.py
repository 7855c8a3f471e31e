"""The memory of a web process."""

import ctypes
import subprocess
import sys

import pytest

from printworks.web.memory import LARGEST_IN_BETWEEN

# In a process of its own: what is set holds until the end.
ALLOCATE = f"""
import ctypes, threading
from printworks.web.memory import close_gaps

class Info(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks used free keep".split()
    ]

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.mallinfo2.restype = Info
close_gaps()
# One that ends teaches the C library to put others of this size between what stays.
libc.free(libc.malloc({2 * LARGEST_IN_BETWEEN}))
before = libc.mallinfo2()
libc.malloc({2 * LARGEST_IN_BETWEEN})
threads = [threading.Thread(target=libc.malloc, args=(1000,)) for _ in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(libc.mallinfo2().hblks - before.hblks)
libc.malloc_stats()
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "mallinfo2"), reason="Of the GNU C library.")
def test_threads_allocate_in_one_place_and_large_buffers_outside_of_it() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", ALLOCATE], capture_output=True, text=True, check=True
    )

    assert ended.stdout.split() == ["1"]
    assert ended.stderr.count("Arena ") == 1


# A block in use at the end keeps the C library from returning those before it.
RETURN = """
import asyncio, ctypes
from contextlib import suppress
from pathlib import Path
from printworks.web.memory import close_gaps, keep_returning_gaps

def read_megabytes():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 // 1_000_000

libc = ctypes.CDLL(None)
libc.malloc.restype = ctypes.c_void_p
libc.malloc.argtypes = [ctypes.c_size_t]
libc.free.argtypes = [ctypes.c_void_p]
libc.memset.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]
close_gaps()
blocks = [libc.malloc(50_000) for _ in range(1000)]
for block in blocks:
    libc.memset(block, 1, 50_000)
for block in blocks[:-1]:
    libc.free(block)
kept = read_megabytes()

async def wait():
    with suppress(TimeoutError):
        async with asyncio.timeout(30):
            returning = asyncio.create_task(keep_returning_gaps(every=0.001))
            while kept - read_megabytes() < 40:
                await asyncio.sleep(0.001)

asyncio.run(wait())
print(kept - read_megabytes())
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "malloc_trim"), reason="Of the GNU C library.")
def test_what_a_burst_needed_is_returned_to_the_system() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", RETURN], capture_output=True, text=True, check=True
    )

    assert int(ended.stdout) >= 40
