"""Where the files of tests are: in memory, if there is enough of it.

Thousands of tests each write a database and wait until the disk has it.
"""

import os
import shutil
import tempfile
from pathlib import Path
from typing import Final

_MEMORY: Final = Path("/dev/shm")
# Far more than all files that exist at the same time.
_LEAST_FREE: Final = 4 * 2**30


def use_memory() -> None:
    """Put temporary files of this process, and of those that it starts, into memory."""
    if "TMPDIR" not in os.environ and _is_fit(_MEMORY):
        os.environ["TMPDIR"] = str(_MEMORY)
        # Else what was found before is used.
        tempfile.tempdir = None


def _is_fit(folder: Path) -> bool:
    return (
        os.access(folder, os.W_OK)
        and shutil.disk_usage(folder).free >= _LEAST_FREE
        # Some tests start programs that they have made.
        and not os.statvfs(folder).f_flag & os.ST_NOEXEC
    )
