"""Files to keep, and a look at what is left lying about."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from resource import RLIMIT_FSIZE, getrlimit, setrlimit
from typing import Final

KEY: Final = "originals/9f86d081884c7d65-42.jpg"
MEGABYTE: Final = 1_000_000


def a_file(folder: Path, content: bytes, *, name: str = "source") -> Path:
    """Write a local file."""
    path = folder / name
    path.write_bytes(content)
    return path


def list_drafts(data: Path) -> list[Path]:
    """Return the temporary files of both stores."""
    folders = [data / "files" / ".tmp", data / "tmp" / "files"]
    return [path for folder in folders if folder.exists() for path in folder.iterdir()]


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Let the operating system refuse to write larger files while the block lasts."""
    soft, hard = getrlimit(RLIMIT_FSIZE)
    setrlimit(RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        setrlimit(RLIMIT_FSIZE, (soft, hard))
