"""A studio to share, and a folder for what it draws."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from printworks.imaging.processor import Studio


@pytest.fixture(scope="session")
def studio() -> Iterator[Studio]:
    """A studio with the limits of the real one."""
    with Studio(slots=1) as studio:
        yield studio


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
