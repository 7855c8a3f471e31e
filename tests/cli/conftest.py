"""What the tests of the command line share."""

import shutil
from pathlib import Path

import pytest

from printworks.store.engine.database import Database
from tests.cli.operators import Operator, make_operator


@pytest.fixture
def tmp_path(tmp_path: Path, migrated_file: Path) -> Path:
    """A data folder with a migrated database: to make one takes longer than most commands do.

    Commands make their own in every folder below it.
    """
    shutil.copyfile(migrated_file, tmp_path / "printworks.db")
    return tmp_path


@pytest.fixture
def keeper(database: Database, tmp_path: Path) -> Operator:
    """An operator who keeps an eye on orders and labs."""
    return make_operator(database, tmp_path)
