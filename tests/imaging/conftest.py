"""An image processor to share, and a folder for what it renders."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from printworks.imaging.processor import ImageProcessor


@pytest.fixture(scope="session")
def processor() -> Iterator[ImageProcessor]:
    """An image processor with the limits of the real one."""
    with ImageProcessor(slots=1) as processor:
        yield processor


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """An empty folder."""
    folder = tmp_path / "out"
    folder.mkdir()
    return folder
