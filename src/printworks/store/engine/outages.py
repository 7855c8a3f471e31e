"""Tells outages from bugs: a database or a disk that fails is temporary, and no request's fault."""

import errno
from typing import Final

from sqlalchemy import exc

from printworks.store.engine import sqlite
from printworks.store.engine.database import find_outages

# Of the operating system, about disks, memory and open files: they pass, or somebody repairs them.
SYSTEM_ERRORS: Final = frozenset(
    {
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EIO,
        errno.EROFS,
        errno.ENOMEM,
        errno.EMFILE,
        errno.ENFILE,
        errno.ESTALE,
        errno.ENODEV,
        errno.ENXIO,
        # The disk is not mounted, or belongs to somebody else now.
        errno.ENOENT,
        errno.EACCES,
        errno.EPERM,
    }
)
# These very types, not those below them: a file that is damaged or no database at all.
_DAMAGE: Final = (exc.DatabaseError, sqlite.dbapi2.DatabaseError)
# PostgreSQL after a switch-over: the server that we are connected to only reads now.
_READ_ONLY: Final = "25006"


def is_outage(error: BaseException) -> bool:
    """Say whether an error means that the database or a disk is away, full or damaged."""
    if isinstance(error, OSError):
        return error.errno in SYSTEM_ERRORS or isinstance(error, find_outages())
    if isinstance(error, exc.DBAPIError):
        if error.connection_invalidated or isinstance(error, exc.InterfaceError):
            return True
        if getattr(error.orig, "sqlstate", None) == _READ_ONLY:
            return True
    return isinstance(error, find_outages()) or type(error) in _DAMAGE
