"""Operators who speak for a lab while a worker hands the same job to it."""

from pathlib import Path

import pytest

from printworks.actions.production.lab_reports import report_for_lab
from printworks.catalogue.opening import open_catalogue
from printworks.labs.documents import LabReport
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.store.orders.orders import Order
from printworks.store.tables import shipments
from tests.factories import a_system_work
from tests.worker.hosts import wait_until
from tests.worker.shops import STICKER, Shop
from tests.worker.test_labs import (
    busy_lab,
    is_running,
    list_all,
    only,
    submit,
    with_folders,
)

__all__ = ["with_folders"]

_S = LabState


def say(shop: Shop, order: Order, state: LabState, reason: str | None = None) -> None:
    """Say in the place of the lab how far the first job of an order is."""
    report = LabReport(job=list_all(shop, order)[0].id, state=state, reason=reason)
    catalogue = open_catalogue(shop.settings.catalogue)
    with shop.database.writing() as db:
        report_for_lab(a_system_work(db, now=shop.clock(), catalogue=catalogue), report)


def find_folders(shop: Shop, order: Order) -> list[str]:
    """Return where the first job of an order lies at its lab."""
    job = list_all(shop, order)[0]
    folder = Path(str(shop.settings.lab_folder), job.lab)
    return [path.parent.name for path in folder.glob(f"*/{job.job_name}")]


@pytest.mark.parametrize("state", [_S.DISPATCHED, _S.FAILED, _S.REJECTED])
def test_what_ends_while_it_is_handed_over_is_taken_back(
    with_folders: Shop, state: LabState
) -> None:
    shop = with_folders
    order = submit(shop)
    with busy_lab(shop, order) as let_go_on, shop.draining():
        wait_until(lambda: is_running(shop, JobKind.SEND_TO_LAB))
        say(shop, order, state, reason="No stickers left.")
        let_go_on()

    assert list_all(shop, order)[0].state is state
    assert find_folders(shop, order) == []


@pytest.mark.parametrize("state", [_S.DISPATCHED, _S.FAILED, _S.REJECTED])
def test_what_a_dead_worker_handed_over_is_taken_back_too(
    with_folders: Shop, state: LabState
) -> None:
    shop = with_folders
    order = submit(shop)
    shop.drain()
    # As if it had died before it could say that the lab has got it.
    with shop.database.writing() as db:
        db.execute(shipments.update().values(sent_at=None))
    say(shop, order, state, reason="No stickers left.")

    shop.enqueue_again(JobKind.SEND_TO_LAB, {"shipment": list_all(shop, order)[0].id})
    shop.drain()

    assert find_folders(shop, order) == []


@pytest.mark.parametrize("state", [_S.ACCEPTED, _S.IN_PRODUCTION])
def test_what_is_accepted_before_the_lab_has_it_is_handed_over_all_the_same(
    with_folders: Shop, state: LabState
) -> None:
    shop = with_folders
    order = submit(shop)
    say(shop, order, state)

    shop.drain()

    assert only(shop, order).state is state
    assert only(shop, order).sent_at is not None
    assert find_folders(shop, order) == ["inbox"]


def test_what_every_lab_rejects_before_it_has_it_is_handed_to_none(with_folders: Shop) -> None:
    shop = with_folders
    order = submit(shop, skus=(STICKER,))
    shop_labs = 0
    while True:
        newest = list_all(shop, order)[-1]
        if newest.held_because is not None:
            break
        report = LabReport(job=newest.id, state=_S.REJECTED, reason="No stickers left.")
        with shop.database.writing() as db:
            catalogue = open_catalogue(shop.settings.catalogue)
            report_for_lab(a_system_work(db, now=shop.clock(), catalogue=catalogue), report)
        shop_labs += 1

    shop.drain()

    assert shop_labs > 1
    assert shop.order(order).status is OrderStatus.SUBMITTED
    assert [one.sent_at for one in list_all(shop, order)] == [None] * shop_labs
    assert list(Path(str(shop.settings.lab_folder)).glob("*/*/[0-9]*")) == []
