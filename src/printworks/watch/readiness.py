"""Whether a process can do its work: database, tables, files and room on the disk."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from shutil import disk_usage
from typing import Final

import structlog
from sqlalchemy import text

from printworks.actions.services import Services
from printworks.files.errors import FileMissing
from printworks.settings import is_in_s3
from printworks.store.tables import schema

log = structlog.get_logger(__name__)

# However many ask, the database is asked once in this time.
SECONDS_OF_TRUST: Final = 1.0
# Requests to S3 cost money.
SECONDS_OF_S3: Final = 10.0
# Below this nothing can be written; below `disk_floor`, which is more, only no pictures are taken.
LEAST_ROOM: Final = 50_000_000
# It need not exist: that the store says so is enough.
_PROBE: Final = "ready/probe.txt"


class NotReady(Exception):
    """A check failed; the message says why."""


class Readiness:
    """Checks what a process needs; safe to use from many threads."""

    def __init__(
        self, services: Services, *, steady_clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._services = services
        self._steady_clock = steady_clock
        self._checking = threading.Lock()
        self._failed: tuple[str, ...] = ()
        self._checked_at: float | None = None
        self._files_well_at: float | None = None

    def find_failed(self) -> tuple[str, ...]:
        """Return the names of the checks that fail; the result of the last second is repeated."""
        with self._checking:
            now = self._steady_clock()
            if self._checked_at is None or now - self._checked_at >= SECONDS_OF_TRUST:
                failed = tuple(self._check_all())
                if failed != self._failed:
                    log.warning("readiness changed", failed=failed)
                self._failed, self._checked_at = failed, self._steady_clock()
            return self._failed

    def _check_all(self) -> Iterator[str]:
        checks = {
            "database": self._check_database,
            "migrations": self._check_tables,
            "files": self._check_files,
            "disk": self._check_disk,
        }
        for name, check in checks.items():
            try:
                check()
            except Exception as error:  # noqa: BLE001  (whatever it is, the process is not ready)
                log.debug("not ready", check=name, error=f"{type(error).__name__}: {error}")
                yield name
                if name == "database":
                    return

    def _check_database(self) -> None:
        with self._services.database.reading() as db:
            db.execute(text("SELECT 1"))

    def _check_tables(self) -> None:
        found = schema.find_schema(self._services.database)
        if not found.is_usable:
            raise NotReady(f"The database is at {found.describe()}.")

    def _check_files(self) -> None:
        kept, now = self._services.settings.files, self._steady_clock()
        if not is_in_s3(kept):
            # Before the first file there may be no folder.
            if Path(kept).exists() and not os.access(kept, os.R_OK | os.W_OK | os.X_OK):
                raise NotReady(f"{kept} is not writable.")
        elif self._files_well_at is not None and now - self._files_well_at < SECONDS_OF_S3:
            return
        with suppress(FileMissing):
            self._services.files.read(_PROBE)
        self._files_well_at = now

    def _check_disk(self) -> None:
        data = self._services.settings.data
        if disk_usage(data).free < LEAST_ROOM or not os.access(data, os.W_OK | os.X_OK):
            raise NotReady(f"{data} cannot be written.")
