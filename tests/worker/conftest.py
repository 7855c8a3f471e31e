"""What the tests of the worker share."""

from collections.abc import Iterator

import pytest
from structlog.testing import capture_logs
from structlog.typing import EventDict


@pytest.fixture(autouse=True)
def logged() -> Iterator[list[EventDict]]:
    """Everything that is logged during the test, which nobody has to read otherwise."""
    with capture_logs() as lines:
        yield lines
