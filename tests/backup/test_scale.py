"""A large installation: 100,000 orders go to the other database and back, and are the same."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bench.seeds import SeededDatabase
from bench.workload import PHOTO
from printworks.actions.accounts.secrets import prepare_secrets
from printworks.actions.services import Services
from printworks.backup.copying import Copy, open_target
from printworks.backup.progress import SilentProgress
from printworks.settings import Settings
from tests.backup.installations import ACTOR, Installation
from tests.factories import VAULT
from tests.scale import scaled

# More images and events than are read at a time.
ORDERS = scaled(100_000, part=100)
FILES = scaled(2000, part=100)

# The full size takes minutes, on a busy machine many.
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]


@pytest.fixture
def source(tmp_path: Path) -> Iterator[Installation]:
    """An installation on SQLite whose orders are all on their way."""
    data = tmp_path / "data"
    data.mkdir()
    settings = Settings.load(data, {})
    seeded = SeededDatabase(settings.database_url)
    prepare_secrets(seeded.database, VAULT)
    seeded.add_orders(ORDERS, [PHOTO, PHOTO, PHOTO], is_sent=True)
    given = {"database": seeded.database, "vault": VAULT}
    installation = Installation(Services(settings, given=given))
    chance = random.Random(1)
    content = tmp_path / "content"
    for number in range(FILES):
        content.write_bytes(chance.randbytes(20_000))
        installation.services.files.put(f"originals/{number}", content)
    yield installation
    seeded.close()


@contextmanager
def copied(source: Installation, url: str, files: Path) -> Iterator[Installation]:
    """Copy everything to another place."""
    target = open_target(source.services, url, str(files))
    try:
        Copy(source.services, target, SilentProgress(), ACTOR).run()
        yield Installation(target)
    finally:
        target.close()


def test_many_orders_are_the_same_in_both_databases_and_back(
    source: Installation, postgresql_url: str, tmp_path: Path
) -> None:
    before = source.sum_tables()
    with (
        copied(source, postgresql_url, tmp_path / "there") as there,
        copied(there, f"sqlite:///{tmp_path / 'back.db'}", tmp_path / "back") as back,
    ):
        assert before["orders"][0] == ORDERS
        # What is there is what is back, or the second copy would have been refused.
        assert back.sum_tables() == before
        assert sorted(back.services.files.keys("")) == sorted(source.services.files.keys(""))


def test_a_backup_of_many_orders_is_restored_into_the_other_database(
    source: Installation, postgresql_url: str, tmp_path: Path
) -> None:
    source.back_up(tmp_path / "backups")
    target = open_target(source.services, postgresql_url, str(tmp_path / "there"))
    target.given["vault"] = VAULT  # type: ignore[index]

    Installation(target).restore(tmp_path / "backups")

    assert Installation(target).sum_tables() == source.sum_tables()
    target.close()
