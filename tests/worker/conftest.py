"""What the tests of the worker share."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Protocol

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict

from printworks.imaging.processor import ImageProcessor
from printworks.store.engine.database import Database
from tests.worker.shops import Shop, open_shop


@pytest.fixture(autouse=True)
def logged() -> Iterator[list[EventDict]]:
    """Everything that is logged during the test, which nobody has to read otherwise."""
    with capture_logs() as lines:
        yield lines


class OpenShop(Protocol):
    """Opens a shop; see `open_shop`, to which the keywords go."""

    def __call__(self, **options: Any) -> Shop:
        """Open one."""


@pytest.fixture(scope="session")
def processor() -> Iterator[ImageProcessor]:
    """The image processor of all shops."""
    with ImageProcessor(slots=2) as processor:
        yield processor


@pytest.fixture
def a_shop(
    database: Database, tmp_path: Path, processor: ImageProcessor, request: pytest.FixtureRequest
) -> Iterator[OpenShop]:
    """A way to open a shop that is not the usual one.

    What its worker does every hour takes longer than all else in most tests. A file that waits
    for it, or asks what it leaves alone, says in `SHOP_HOURLY` what it needs: `HOURLY` is all.
    """
    hourly = getattr(request.module, "SHOP_HOURLY", ())
    with ExitStack() as stack:

        def open_one(**options: Any) -> Shop:
            chosen = {"processor": processor, "hourly": hourly, **options}
            return stack.enter_context(open_shop(database, tmp_path, **chosen))

        yield open_one


@pytest.fixture
def shop(a_shop: OpenShop) -> Shop:
    """A shop in a private sandbox."""
    return a_shop()
