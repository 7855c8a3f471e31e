"""Restricts file access with Landlock to one file to read and one folder to write to."""

import ctypes
import os
import struct
from pathlib import Path
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION: Final = 1
_PATH_BENEATH: Final = 1

_WRITE_FILE, _READ_FILE, _REMOVE_FILE, _MAKE_REGULAR, _TRUNCATE = (
    1 << 1,
    1 << 2,
    1 << 5,
    1 << 8,
    1 << 14,
)

# How many file access rights each version of the interface has.
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
_MOST_FILE_RIGHTS: Final = 16
# Binding and connecting, since 4; abstract sockets and signals, since 6.
_NETWORK: Final = 0b11
_SCOPES: Final = 0b11


def find_version() -> int:
    """Return the version of the kernel's interface, or 0 without one."""
    version = _call(_CREATE_RULESET, None, 0, _ASK_VERSION)
    return max(version, 0)


def restrict(version: int, *, readable: Path, writable: Path) -> None:
    """Forbid all other files from now on, TCP, and signals to other processes.

    Needs `no_new_privs`, and lasts until the process ends. Files that are open stay open.
    """
    rights = (1 << _FILE_RIGHTS.get(version, _MOST_FILE_RIGHTS)) - 1
    attributes = struct.pack("=Q", rights)
    if version >= 4:
        attributes += struct.pack("=Q", _NETWORK)
    if version >= 6:
        attributes += struct.pack("=Q", _SCOPES)
    ruleset = _check(_call(_CREATE_RULESET, attributes, len(attributes), 0))
    _allow(ruleset, readable, _READ_FILE)
    _allow(
        ruleset,
        writable,
        rights & (_READ_FILE | _WRITE_FILE | _REMOVE_FILE | _MAKE_REGULAR | _TRUNCATE),
    )
    _check(_call(_RESTRICT_SELF, ruleset, 0))
    os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    folder = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        _check(_call(_ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", rights, folder), 0))
    finally:
        os.close(folder)


def _call(number: int, *arguments: int | bytes | None) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    passed = [ctypes.c_long(each) if isinstance(each, int) else each for each in arguments]
    return int(libc.syscall(ctypes.c_long(number), *passed))


def _check(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), "the kernel refused to confine a child")
    return result
