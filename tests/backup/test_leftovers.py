"""After a restore, what labs still have of the time since the backup is not taken for something else."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from printworks.actions.production.strays import find_strays
from printworks.actions.quarantine import end_quarantine
from printworks.imaging.processor import ImageProcessor
from printworks.labs import open_connector
from printworks.labs.folder import FolderLab
from printworks.rules.orders import OrderStatus
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment, list_shipments
from tests.backup.installations import Installation, another, installation_of
from tests.factories import a_system_work
from tests.worker.catalogues import change_labs
from tests.worker.conftest import OpenShop
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, Shop, open_shop

pytestmark = pytest.mark.both_databases


@pytest.fixture
def labs(tmp_path: Path) -> Path:
    """The hot folders of the labs, which no restore touches."""
    (tmp_path / "labs").mkdir()
    return tmp_path / "labs"


@pytest.fixture
def settings(tmp_path: Path, labs: Path) -> dict[str, Any]:
    """What a shop needs to know of its labs."""
    catalogue = change_labs(tmp_path, every='connector = "folder"')
    return {"catalogue": str(catalogue), "lab_folder": str(labs)}


@pytest.fixture
def shop(a_shop: OpenShop, settings: dict[str, Any]) -> Shop:
    """A shop whose labs have hot folders."""
    return a_shop(**settings)


@pytest.fixture
def target(shop: Shop, blank_database_url: str, tmp_path: Path) -> Iterator[Installation]:
    """An installation that does not exist yet."""
    with another(tmp_path / "target", blank_database_url, shop.settings) as opened:
        yield opened


@contextmanager
def at_work(
    restored: Installation, processor: ImageProcessor, settings: dict[str, Any]
) -> Iterator[Shop]:
    """Let a restored installation out of its quarantine and open its shop."""
    with restored.database.writing() as db:
        end_quarantine(a_system_work(db))
    with open_shop(restored.database, restored.settings.data, processor, **settings) as shop:
        yield shop


def submit(shop: Shop) -> Order:
    """Submit an order of one picture."""
    order = shop.add_order()
    shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()
    shop.submit(order)
    shop.drain()
    return order


def shipment_of(shop: Shop, order: Order) -> Shipment:
    """Return the only shipment of an order."""
    with shop.database.reading() as db:
        [only] = list_shipments(db, order.id)
    return only


def finish(labs: Path, shipment: Shipment) -> Path:
    """Do as the lab does: print it, send it, and say so."""
    done = labs / shipment.lab / "done" / shipment.job_name
    (labs / shipment.lab / "inbox" / shipment.job_name).rename(done)
    (done / "tracking.txt").write_text("JD0123456789")
    return done


def look(shop: Shop) -> None:
    """Let the worker look at the folders, and believe what it sees."""
    for _ in range(4):
        shop.pass_time(seconds=10)


def test_a_leftover_answer_completes_no_order_that_was_never_printed(
    shop: Shop,
    target: Installation,
    labs: Path,
    settings: dict[str, Any],
    processor: ImageProcessor,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # As if numbers could return.
    monkeypatch.setattr("printworks.backup.restoring.SKIPPED_NUMBERS", 0)
    source, place = installation_of(shop), tmp_path / "backups"
    source.back_up(place)
    lost = shipment_of(shop, submit(shop))
    leftover = finish(labs, lost)
    target.restore(place)

    with at_work(target, processor, settings) as restored:
        order = submit(restored)
        shipment = shipment_of(restored, order)
        assert shipment.id == lost.id
        assert shipment.lab == lost.lab
        # A lab that knew the old names, or somebody who guesses.
        forged = leftover.with_name(str(lost.id))
        forged.mkdir()
        (forged / "tracking.txt").write_text("JD0123456789")
        look(restored)

        assert restored.order(order).status is OrderStatus.SUBMITTED
        assert leftover.is_dir()
        assert (labs / shipment.lab / "inbox" / shipment.job_name).is_dir()

        finish(labs, shipment)
        look(restored)

        assert restored.order(order).status is OrderStatus.COMPLETE
        assert leftover.is_dir()
        with restored.database.reading() as db:
            connectors = [
                (lab.code, open_connector(lab, restored.settings))
                for lab in restored.resources.catalogue.labs
            ]
            strays = list(find_strays(db, connectors))
        assert [(stray.lab, stray.where) for stray in strays] == [(lost.lab, str(leftover))]
        assert all(isinstance(connector, FolderLab) for _, connector in connectors)


def test_what_was_sent_after_the_backup_is_not_sent_twice(
    shop: Shop,
    target: Installation,
    labs: Path,
    settings: dict[str, Any],
    processor: ImageProcessor,
    tmp_path: Path,
) -> None:
    order = shop.add_order()
    shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()
    shop.submit(order)
    source, place = installation_of(shop), tmp_path / "backups"
    source.back_up(place)
    shop.drain()
    sent = shipment_of(shop, order)
    finish(labs, sent)
    target.restore(place)

    with at_work(target, processor, settings) as restored:
        restored.drain()
        look(restored)

        assert shipment_of(restored, order).job_name == sent.job_name
        assert restored.order(order).status is OrderStatus.COMPLETE
        assert list(labs.glob("*/inbox/*")) == []
