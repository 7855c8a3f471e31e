"""Lock this process in: so much memory and time, its own files, and nothing else.

Limits of the kernel always; Landlock and seccomp where there are any. Whatever a picture
makes of its decoder, it has nowhere to go from there.
"""

import ctypes
import os
import resource
import signal
import struct
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from printworks.imaging import landlock, seccomp
from printworks.imaging.messages import ProcessLimits, Ready

_SET_PARENT_DEATH_SIGNAL: Final = 1
_SET_DUMPABLE: Final = 4
_SET_NO_NEW_PRIVILEGES: Final = 38

# The kernel counts all threads of the user, not of the process, so this only blunts a flood;
# it is seccomp that allows threads and forbids processes.
MOST_THREADS: Final = 4096


def find_means() -> Ready:
    """Ask the kernel what it offers."""
    return Ready(landlock=landlock.find_version(), seccomp=seccomp.is_available())


def try_out(means: Ready) -> Ready:
    """Keep what works: a container may show a means and then refuse it. Forks."""
    here = Path(__file__)

    def use_landlock() -> None:
        landlock.restrict(means.landlock, readable=here, writable=here.parent)

    return Ready(
        landlock=means.landlock if means.landlock and _works(use_landlock) else 0,
        seccomp=means.seccomp and _works(seccomp.restrict),
    )


def confine(means: Ready, limits: ProcessLimits, *, parent: int, source: Path, out: Path) -> None:
    """Give up everything but reading `source` and writing in `out`; there is no way back."""
    _die_with(parent)
    _limit(resource.RLIMIT_AS, limits.memory)
    _limit(resource.RLIMIT_FSIZE, limits.file_size)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_NPROC, MOST_THREADS)
    _limit(resource.RLIMIT_CORE, 0)
    # The soft limit ends it; one more second for the hard one, which is said to be certain.
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_seconds, limits.cpu_seconds + 1))
    _prctl(_SET_NO_NEW_PRIVILEGES, 1)
    _prctl(_SET_DUMPABLE, 0)
    _give_up_root()
    if means.landlock:
        landlock.restrict(means.landlock, readable=source, writable=out)
    if means.seccomp:
        seccomp.restrict()


def _works(restrict: Callable[[], None]) -> bool:
    pid = os.fork()
    if pid == 0:
        with suppress(OSError):
            _prctl(_SET_NO_NEW_PRIVILEGES, 1)
            restrict()
            os._exit(0)
        os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def _die_with(parent: int) -> None:
    _prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    # It may have died just before.
    if os.getppid() != parent:
        os._exit(1)


def _give_up_root() -> None:
    """Keep no capability; one that may raise limits again would make them pointless."""
    version_3_of_this_process = struct.pack("=Ii", 0x20080522, 0)
    if ctypes.CDLL(None, use_errno=True).capset(version_3_of_this_process, bytes(24)) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused to confine a child")


def _limit(which: int, most: int) -> None:
    hard = resource.getrlimit(which)[1]
    allowed = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(which, (allowed, allowed))


def _prctl(option: int, value: int) -> None:
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the kernel refused to confine a child")
