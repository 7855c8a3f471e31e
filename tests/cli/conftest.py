"""What the tests of the command line share."""

from pathlib import Path

import pytest

from printworks.store.engine.database import Database
from tests.cli.operators import Operator, make_operator


@pytest.fixture
def keeper(database: Database, tmp_path: Path) -> Operator:
    """An operator who keeps an eye on orders and labs."""
    return make_operator(database, tmp_path)
