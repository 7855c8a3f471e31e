"""A database or a disk that fails is told from a bug of ours."""

import errno
import os

import pytest
from sqlalchemy import exc

from printworks.store.engine import sqlite
from printworks.store.engine.outages import is_outage


class ReadOnlyServer(Exception):
    """As a server of PostgreSQL says after a switch-over."""

    sqlstate = "25006"


def wrap(kind: type[exc.DBAPIError], error: Exception, *, lost: bool = False) -> exc.DBAPIError:
    return kind("SELECT 1", {}, error, connection_invalidated=lost)


@pytest.mark.parametrize(
    "error",
    [
        *(
            OSError(number, os.strerror(number))
            for number in (errno.ENOSPC, errno.EIO, errno.EROFS)
        ),
        wrap(exc.OperationalError, OSError("server closed the connection")),
        wrap(exc.InterfaceError, OSError("connection already closed")),
        wrap(exc.DatabaseError, OSError("database disk image is malformed")),
        wrap(exc.InternalError, ReadOnlyServer()),
        wrap(exc.ProgrammingError, OSError("gone"), lost=True),
        exc.TimeoutError(),
        sqlite.dbapi2.OperationalError("disk I/O error"),
        sqlite.dbapi2.DatabaseError("file is not a database"),
    ],
)
def test_what_passes_or_is_repaired_is_an_outage(error: Exception) -> None:
    assert is_outage(error)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError(),
        OSError(errno.EINVAL, "invalid"),
        ConnectionResetError(),
        wrap(exc.IntegrityError, ValueError()),
        wrap(exc.ProgrammingError, ValueError()),
        wrap(exc.InternalError, ValueError()),
        sqlite.dbapi2.IntegrityError(),
    ],
)
def test_what_somebody_has_to_mend_in_the_program_is_not(error: Exception) -> None:
    assert not is_outage(error)
