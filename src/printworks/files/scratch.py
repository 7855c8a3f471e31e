"""What processes that were killed left in `tmp` of the data folder."""

import shutil
import tempfile
import time
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Final

# What is this old belongs to a process that was killed; whoever needs something for longer touches it.
ABANDONED: Final = timedelta(hours=6)
# How the folder begins into which a backup writes all rows.
BACKUP: Final = "backup-"


def clear_scratch(scratch: Path) -> None:
    """Delete the folders and files that are abandoned."""
    old = time.time() - ABANDONED.total_seconds()
    # Other temporary files are stored here too.
    for beginning in (tempfile.gettempprefix(), BACKUP):
        for left in scratch.glob(f"{beginning}*"):
            # Another process may delete it at the same time.
            with suppress(FileNotFoundError):
                if left.stat().st_mtime < old:
                    _delete(left)


def _delete(left: Path) -> None:
    if left.is_dir():
        shutil.rmtree(left, ignore_errors=True)
    else:
        left.unlink()
