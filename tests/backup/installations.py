"""An installation to back up, with something of everything, and empty ones to restore into."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec

from printworks.actions.services import Services
from printworks.actions.work import Actor
from printworks.backup.manifest import BackupManifest
from printworks.backup.progress import SilentProgress
from printworks.backup.repository import Repository
from printworks.backup.restoring import Restore, Restored
from printworks.backup.taking import Backup
from printworks.backup.verifying import Verified, verify
from printworks.rules.people import Realm
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.orders.orders import Order
from printworks.store.tables.transfer.reading import read_pages
from printworks.store.tables.transfer.shapes import RowSum, list_shapes
from tests.clocks import MovableClock
from tests.factories import VAULT
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, Shop

ACTOR: Final = Actor(Realm.OPERATOR, "somebody@shop.example")
# What a restore or a copy changes on purpose.
CHANGED: Final = frozenset({"secrets", "sessions", "audit_log"})


@dataclass(frozen=True)
class Installation:
    """A database and files."""

    services: Services

    @property
    def settings(self) -> Settings:
        return self.services.settings

    @property
    def database(self) -> Database:
        return self.services.database

    def back_up(
        self, place: Path | str, *, with_key: bool = False, keep: int | None = None
    ) -> BackupManifest:
        """Take a backup."""
        repository = Repository(str(place), self.settings, may_be_new=True)
        return Backup(self.services, repository, SilentProgress()).take(
            with_key=with_key, keep=keep
        )

    def restore(
        self, place: Path | str, *, backup: str | None = None, skip_damaged: bool = False
    ) -> Restored:
        """Restore the newest backup of a place, or this one."""
        repository = Repository(str(place), self.settings)
        manifest = repository.read_manifest(backup) if backup else repository.find_newest()
        assert manifest is not None
        restore = Restore(self.services, repository, SilentProgress())
        return restore.run(manifest, ACTOR, skip_damaged=skip_damaged)

    def verify(self, *, is_quick: bool = False) -> Verified:
        """Check everything."""
        return verify(self.services, SilentProgress(), is_quick=is_quick)

    def sum_tables(self) -> dict[str, tuple[int, str]]:
        """Return how many rows each table has, and the sum of their hashes."""
        sums = {}
        with self.database.reading() as db:
            for shape in list_shapes():
                total = RowSum()
                for page in read_pages(db, shape):
                    total.add(page.rows)
                if shape.name not in CHANGED:
                    sums[shape.name] = (total.rows, total.text)
        return sums


def installation_of(shop: Shop) -> Installation:
    """Return the installation that a shop works with."""
    given = {"database": shop.database, "vault": VAULT, "files": shop.resources.files}
    return Installation(Services(shop.settings, shop.clock, given=given))


@contextmanager
def another(
    folder: Path, database_url: str, like: Settings, **changes: str
) -> Iterator[Installation]:
    """Open a place for an installation that does not exist yet."""
    folder.mkdir(exist_ok=True)
    settings = msgspec.structs.replace(
        like, data=folder, database_url=database_url, **{"files": str(folder / "files"), **changes}
    )
    services = Services(settings, MovableClock(), connections=2, given={"vault": VAULT})
    try:
        yield Installation(services)
    finally:
        services.close()


def fill(shop: Shop, orders: int = 2) -> list[Order]:
    """Let orders be made that have pictures, packing slips, print files and callbacks."""
    made = []
    for number in range(orders):
        picture = A_PICTURE if number % 2 else ANOTHER_PICTURE
        order = shop.add_order(merchant_order_id=f"Größe {number} \\ \t“x”\n")
        shop.add_images(order, shop.host.at(f"/{number % 2}.jpg", holds(picture)))
        shop.drain()
        shop.submit(order)
        made.append(order)
    shop.drain()
    shop.pass_time(minutes=1)
    return made
