"""Ways to a lab, each with nothing in it yet."""

from datetime import time
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from printworks.catalogue.labs import Connector as Way
from printworks.catalogue.labs import Lab
from printworks.catalogue.products import Currency
from printworks.labs import open_connector
from printworks.labs.connector import LabConnector
from printworks.labs.folder import FolderLab
from printworks.rules.routing.calendars import LabHours
from printworks.settings import Settings


def a_lab(**values: Any) -> Lab:
    """Describe a lab."""
    given = {
        "code": "york",
        "name": "York",
        "country": "GB",
        "time_zone": "Europe/London",
        "currency": Currency.GBP,
        "cut_off": time(14),
        "capacity": 500,
        "makes": {},
        "hours": LabHours(time(14), ZoneInfo("Europe/London")),
        **values,
    }
    return Lab(**given)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data folder."""
    return tmp_path / "data"


@pytest.fixture(params=list(Way))
def connector(request: pytest.FixtureRequest, data: Path) -> LabConnector:
    """Every way to a lab; each test that asks runs on all of them."""
    return open_connector(a_lab(connector=request.param), Settings.load(data, {}))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """The hot folder of a lab."""
    return tmp_path / "york"


@pytest.fixture
def lab(root: Path) -> FolderLab:
    """A lab with a hot folder."""
    return FolderLab(root, "prints/{image}-{copies}x")
