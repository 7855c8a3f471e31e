"""Forbids system calls with seccomp: no network, no programs, no other processes.

A deny list, not an allow list: the C library changes its system calls from release to release,
and Landlock restricts the files.
"""

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Mapping
from typing import Final, NamedTuple


class Machine(NamedTuple):
    """The numbers of system calls on a processor architecture."""

    audit: int
    clone: int
    clone3: int
    tgkill: int
    forbidden: tuple[int, ...]


# Line by line: sockets; programs, processes and signals; tracing and reading other processes;
# mounts, namespaces and roots; keys, kernel modules, BPF, and io_uring, which bypasses seccomp.
MACHINES: Final[Mapping[str, Machine]] = {
    "x86_64": Machine(
        0xC000003E,
        56,
        435,
        234,
        (
            *(41, 42, 43, 44, 45, 46, 47, 49, 50, 53, 288, 299, 307),
            *(57, 58, 59, 322, 62, 129, 200, 297, 424, 434, 438),
            *(101, 310, 311, 312, 440, 448),
            *(155, 161, 165, 166, 272, 308, 428, 429, 430, 431, 432, 433, 442),
            *(246, 248, 249, 250, 175, 176, 313, 320, 298, 321, 323, 304, 425, 426, 427),
        ),
    ),
    "aarch64": Machine(
        0xC00000B7,
        220,
        435,
        131,
        (
            *(198, 199, 200, 201, 202, 203, 206, 207, 211, 212, 242, 243, 269),
            *(221, 281, 129, 130, 138, 240, 424, 434, 438),
            *(117, 270, 271, 272, 440, 448),
            *(39, 40, 41, 51, 97, 268, 428, 429, 430, 431, 432, 433, 442),
            *(104, 294, 217, 218, 219, 105, 106, 273, 241, 280, 282, 265, 425, 426, 427),
        ),
    ),
}

_LOAD: Final = 0x20  # a word of the call's description
_EQUAL: Final = 0x15
_AT_LEAST: Final = 0x35
_ANY_BIT: Final = 0x45
_RETURN: Final = 0x06

_ALLOW: Final = 0x7FFF0000
_REFUSE: Final = 0x00050000 | errno.EPERM
# The C library then falls back to `clone`, whose flags the filter can read.
_UNKNOWN: Final = 0x00050000 | errno.ENOSYS
_KILL: Final = 0x80000000

_NUMBER, _AUDIT, _FIRST_ARGUMENT = 0, 4, 16
_X32: Final = 0x40000000
_CLONE_THREAD: Final = 0x00010000

_SET_SECCOMP: Final = 22
_GET_SECCOMP: Final = 21
_FILTER: Final = 2


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("filter", ctypes.c_char_p))


def is_available() -> bool:
    """Whether the kernel has seccomp, and this architecture is known."""
    libc = ctypes.CDLL(None, use_errno=True)
    return platform.machine() in MACHINES and libc.prctl(_GET_SECCOMP, 0, 0, 0, 0) >= 0


def restrict() -> None:
    """Forbid the calls from now on; needs `no_new_privs`, and lasts until the process ends."""
    code = _compile(MACHINES[platform.machine()])
    program = _Program(len(code) // 8, code)
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "the filter of system calls was refused")


def _compile(machine: Machine) -> bytes:
    """Compile the filter; a step is: operation, steps to skip if true, if false, operand."""
    steps = [
        (_LOAD, 0, 0, _AUDIT),
        (_EQUAL, 1, 0, machine.audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _REFUSE),
        (_EQUAL, 0, 1, machine.clone3),
        (_RETURN, 0, 0, _UNKNOWN),
    ]
    for number in machine.forbidden:
        steps += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    steps += [
        # Threads are allowed, processes are not.
        (_EQUAL, 0, 4, machine.clone),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_ANY_BIT, 1, 0, _CLONE_THREAD),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
        # A signal to itself is how a process aborts.
        (_EQUAL, 0, 3, machine.tgkill),
        (_LOAD, 0, 0, _FIRST_ARGUMENT),
        (_EQUAL, 1, 0, os.getpid()),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)
