"""What failed, is held or was begun comes to a good end once, and nothing of it is forgotten."""

from datetime import datetime, timedelta
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import update

from printworks.actions.orders.shipping import change_shipping
from printworks.actions.production.lab_reports import cancel_shipment
from printworks.errors import WrongState
from printworks.rules.events import OrderHeld, ShipmentsChanged
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.rules.reasons import write_reasons
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipment
from printworks.store.tables import images, shipments
from tests.factories import NOON, a_system_work
from tests.worker.conftest import OpenShop
from tests.worker.shops import MAGNET, STICKER, Shop
from tests.worker.test_labs import (
    FRAME,
    cancel,
    count_jobs,
    hear,
    hold,
    list_all,
    of_kind,
    only,
    open_with_folders,
    print_again,
    read_job,
    remember,
    states,
    submit,
)

SHOP_HOURLY = (JobKind.POLL_LABS,)

_S = LabState
CANVAS = "EU-CAN-8X8"
MOVED = partial(change_shipping, values={"address1": "2 New Street"})


def reject_everywhere(shop: Shop) -> tuple[Order, Shipment]:
    """Submit an order that every lab rejects, and return it with the shipment that is held."""
    order = submit(shop, merchant_order_id="sandbox:reject-all")
    shop.drain()
    for _ in range(12):
        shop.pass_time(minutes=1)
    return order, list_all(shop, order)[-1]


def move(shop: Shop, order: Order) -> None:
    """Let the merchant send an order elsewhere."""
    with shop.database.writing() as db:
        MOVED(*shop.resources.services.system_work(db).lock_order(order.id))


def give_up(shop: Shop, shipment: Shipment) -> Shipment:
    """Let an operator cancel a shipment that nobody can make."""
    with shop.database.writing() as db:
        system = a_system_work(db, now=shop.clock(), catalogue=shop.resources.catalogue)
        return cancel_shipment(system, shipment.id, "Nobody makes it any more.")


def stop_selling(shop: Shop, order: Order, sku: str) -> None:
    """Let a product of an order be gone from the catalogue."""
    gone = update(images).where(images.c.order_id == order.id, images.c.sku == sku)
    with shop.database.writing() as db:
        db.execute(gone.values(sku="GONE"))


class TestAnotherAddress:
    """Whoever has the order sent elsewhere gets it once."""

    def test_what_was_held_and_replaced_is_not_offered_again(self, shop: Shop) -> None:
        order, held = reject_everywhere(shop)

        move(shop, order)
        with pytest.raises(WrongState, match="is cancelled, and not held"):
            print_again(shop, held)

        live = [one for one in list_all(shop, order) if one.state is _S.OFFERED]
        assert len(live) == 1

    def test_nothing_is_said_of_a_hold_that_is_over(self, shop: Shop) -> None:
        order, held = reject_everywhere(shop)
        before = write_reasons(shop.order(order).reasons)

        move(shop, order)

        assert before == f"Shipment {held.id} is held; we are looking into it."
        assert write_reasons(shop.order(order).reasons) is None

    def test_nor_of_one_whose_order_is_cancelled(self, shop: Shop) -> None:
        order, _ = reject_everywhere(shop)

        cancel(shop, order)

        assert write_reasons(shop.order(order).reasons) is None

    def test_it_is_refused_if_a_product_is_no_longer_sold(self, shop: Shop) -> None:
        order = submit(shop, skus=(STICKER, MAGNET))
        stop_selling(shop, order, MAGNET)
        before = remember(shop, order)

        with pytest.raises(WrongState, match="No lab can make and send this order now"):
            move(shop, order)

        assert remember(shop, order) == before


class TestProductsThatAreGone:
    """A shipment goes elsewhere as a whole, or waits for an operator."""

    def test_a_rejected_shipment_is_held_if_a_part_of_it_is_no_longer_sold(
        self, shop: Shop
    ) -> None:
        order = submit(shop, skus=(STICKER, MAGNET))
        shop.drain()
        shipment = only(shop, order)
        assert len(shipment.image_ids) == 2
        stop_selling(shop, order, MAGNET)

        hear(shop, shipment, _S.REJECTED, reason="Out of paper.")

        held = only(shop, order)
        assert (held.state, held.held_because) == (
            _S.OFFERED,
            "The lab rejected it (Out of paper.), and no other can make it.",
        )
        assert len(of_kind(shop, order, OrderHeld)) == 1

    def test_a_failed_one_is_not_offered_again_in_part(self, shop: Shop) -> None:
        order = submit(shop, skus=(STICKER, MAGNET))
        shop.drain()
        hear(shop, only(shop, order), _S.FAILED, reason="The paper jammed.")
        stop_selling(shop, order, MAGNET)
        before = remember(shop, order)

        with pytest.raises(WrongState, match="No other lab can make it"):
            print_again(shop, only(shop, order))

        assert remember(shop, order) == before


def test_a_lab_that_rejects_what_it_has_begun_could_not_make_it(shop: Shop) -> None:
    order = submit(shop)
    shop.drain()
    shipment = only(shop, order)
    hear(shop, shipment, _S.IN_PRODUCTION)

    assert hear(shop, shipment, _S.REJECTED, reason="Out of canvas.")

    failed = only(shop, order)
    assert (failed.state, failed.reason) == (_S.FAILED, "Out of canvas.")
    assert write_reasons(shop.order(order).reasons) == (
        f"A lab could not make shipment {failed.id}; we are looking into it."
    )
    assert not hear(shop, shipment, _S.REJECTED, reason="Out of canvas.")


def test_a_job_that_replaces_another_was_ordered_with_the_first(
    a_shop: OpenShop, tmp_path: Path
) -> None:
    shop = open_with_folders(a_shop, tmp_path)
    order = submit(shop)
    shop.drain()
    shop.clock.advance(days=2)

    hear(shop, only(shop, order), _S.REJECTED, reason="Out of paper.")
    shop.drain()

    replacement = list_all(shop, order)[-1]
    told = read_job(shop, replacement)
    assert replacement.created_at == NOON + timedelta(days=2)
    assert datetime.fromisoformat(told["ordered_at"]) == NOON


class TestGivingUp:
    """What nobody can make does not keep the rest from coming to its end."""

    @pytest.fixture
    def order(self, shop: Shop) -> Order:
        """An order of two shipments, of which one has failed."""
        order = submit(shop, skus=(STICKER, FRAME))
        shop.drain()
        hear(shop, list_all(shop, order)[1], _S.FAILED, reason="The press is broken.")
        return order

    def test_the_order_is_complete_without_it(self, shop: Shop, order: Order) -> None:
        sent, failed = list_all(shop, order)
        hear(shop, sent, _S.DISPATCHED)

        cancelled = give_up(shop, failed)
        shop.drain()

        assert (cancelled.state, cancelled.reason) == (_S.CANCELLED, "Nobody makes it any more.")
        assert [state for _, state in states(shop, order)] == [_S.DISPATCHED, _S.CANCELLED]
        seen = shop.order(order)
        assert (seen.status, write_reasons(seen.reasons)) == (OrderStatus.COMPLETE, None)
        last = of_kind(shop, order, ShipmentsChanged)[-1]
        assert (last.changed, last.state) == ([failed.id], _S.CANCELLED)
        assert [fact.id for fact in last.shipments] == [sent.id]
        # It was at its lab, which must not make it after all.
        assert count_jobs(shop, JobKind.CANCEL_AT_LAB) == 1

    def test_what_others_still_make_is_waited_for(self, shop: Shop) -> None:
        order = submit(shop, skus=(STICKER, FRAME, CANVAS))
        shop.drain()
        sent, failed, *rest = list_all(shop, order)
        assert rest
        hear(shop, sent, _S.DISPATCHED)
        hear(shop, failed, _S.FAILED, reason="The press is broken.")

        give_up(shop, failed)
        between = shop.order(order).status
        for one in rest:
            hear(shop, one, _S.DISPATCHED)

        assert between is OrderStatus.SUBMITTED
        assert shop.order(order).status is OrderStatus.COMPLETE

    def test_an_order_of_which_nothing_has_left_is_cancelled_instead(
        self, shop: Shop, order: Order
    ) -> None:
        _, failed = list_all(shop, order)
        before = remember(shop, order)

        with pytest.raises(WrongState, match="cancel the order"):
            give_up(shop, failed)

        assert remember(shop, order) == before

    def test_what_goes_well_is_not_given_up(self, shop: Shop, order: Order) -> None:
        well, _ = list_all(shop, order)

        with pytest.raises(WrongState, match="not held"):
            give_up(shop, well)

    def test_nor_what_has_been_given_up(self, shop: Shop, order: Order) -> None:
        sent, failed = list_all(shop, order)
        hear(shop, sent, _S.DISPATCHED)
        give_up(shop, failed)

        with pytest.raises(WrongState, match="is Complete"):
            give_up(shop, failed)


def test_what_a_dead_worker_handed_over_before_a_hold_is_taken_back_from_the_lab(
    a_shop: OpenShop, tmp_path: Path
) -> None:
    shop = open_with_folders(a_shop, tmp_path, 'can_hold_until = "submitted"')
    order = submit(shop)
    shop.drain()
    with shop.database.writing() as db:
        db.execute(shipments.update().values(sent_at=None))
    hold(shop, order)
    shop.enqueue_again(JobKind.SEND_TO_LAB, {"shipment": only(shop, order).id})
    shop.drain()
    labs = tmp_path / "labs"
    before = list(labs.glob("*/inbox/[0-9]*"))

    cancel(shop, order)
    shop.drain()

    assert [path.name for path in before] == [only(shop, order).job_name]
    assert list(labs.glob("*/inbox/[0-9]*")) == []
