"""The jail: limits a process to some memory and time, its own files, and nothing else.

Resource limits always; Landlock and seccomp where the kernel has them. A picture that takes over
its decoder can reach nothing else.
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
from printworks.imaging.messages import Confinement, ProcessLimits

_SET_PARENT_DEATH_SIGNAL: Final = 1
_SET_DUMPABLE: Final = 4
_SET_NO_NEW_PRIVILEGES: Final = 38

# The kernel counts all threads of the user, not of the process, so this only slows a fork bomb;
# seccomp allows threads and forbids processes.
MOST_THREADS: Final = 4096


def find_confinement() -> Confinement:
    """Return what the kernel offers."""
    return Confinement(landlock=landlock.find_version(), seccomp=seccomp.is_available())


def verify_confinement(confinement: Confinement) -> Confinement:
    """Return what really works: a container may offer it and then refuse. Forks."""
    here = Path(__file__)

    def use_landlock() -> None:
        landlock.restrict(confinement.landlock, readable=here, writable=here.parent)

    return Confinement(
        landlock=confinement.landlock if confinement.landlock and _works(use_landlock) else 0,
        seccomp=confinement.seccomp and _works(seccomp.restrict),
    )


def confine(
    confinement: Confinement, limits: ProcessLimits, *, parent: int, source: Path, out: Path
) -> None:
    """Give up everything but reading `source` and writing in `out`; there is no way back."""
    _die_with(parent)
    _limit(resource.RLIMIT_AS, limits.memory)
    _limit(resource.RLIMIT_FSIZE, limits.file_size)
    _limit(resource.RLIMIT_NOFILE, limits.open_files)
    _limit(resource.RLIMIT_NPROC, MOST_THREADS)
    _limit(resource.RLIMIT_CORE, 0)
    # The soft limit ends it; the hard limit, a second later, is the safety net.
    resource.setrlimit(resource.RLIMIT_CPU, (limits.cpu_seconds, limits.cpu_seconds + 1))
    _prctl(_SET_NO_NEW_PRIVILEGES, 1)
    _prctl(_SET_DUMPABLE, 0)
    _drop_capabilities()
    if confinement.landlock:
        landlock.restrict(confinement.landlock, readable=source, writable=out)
    if confinement.seccomp:
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
    # The parent may have died just before.
    if os.getppid() != parent:
        os._exit(1)


def _drop_capabilities() -> None:
    """Drop all capabilities: with some of them a process could raise its limits again."""
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
