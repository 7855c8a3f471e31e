"""An image that is taken from its order leaves nothing behind, whatever is done to it just then."""

from typing import Any

import msgspec
import pytest
from sqlalchemy import update

from printworks.actions.images.images import remove_image
from printworks.actions.orders.plans import get_planned_order
from printworks.errors import NotFound, WrongState
from printworks.rules.callbacks import is_told
from printworks.rules.events import ImageRemoved
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import HOURLY, JobKind
from printworks.rules.orders import OrderStatus
from printworks.rules.reasons import read_reasons
from printworks.store.images.images import find_image
from printworks.store.orders.orders import Order, get_order_to_change
from printworks.store.orders.shipments import Shipment
from printworks.store.tables import orders
from tests.factories import a_merchant, a_work
from tests.worker.hosts import answers, holds
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, NOT_A_PICTURE, Shop

SHOP_HOURLY = HOURLY

NOT_FOUND = answers("404 Not Found")


def remove(shop: Shop, order: Order, image_id: int) -> Order:
    """Take an image from an order."""
    with shop.database.writing() as db:
        return remove_image(
            a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue),
            get_order_to_change(db, shop.merchant.id, order.id),
            image_id,
        )


def look(shop: Shop, order: Order) -> list[Shipment]:
    """Return the shipments in which an order would travel."""
    with shop.database.reading() as db:
        work = a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue)
        return get_planned_order(work, shop.database, order.id).shipments


def is_there(shop: Shop, image_id: int) -> bool:
    with shop.database.reading() as db:
        return find_image(db, image_id) is not None


class TestTheOrder:
    def test_the_others_are_reckoned_anew(self, shop: Shop) -> None:
        order = shop.add_order()
        kept, removed = shop.add_images(order, "https://a.example/1", "https://a.example/2")

        after = remove(shop, order, removed)

        assert after == shop.order(order)
        assert after.image_count == 1
        assert after.price == shop.image(kept).price + after.shipping_price
        [shipment] = look(shop, order)
        assert shipment.image_ids == [kept]
        assert not is_there(shop, removed)

    def test_without_images_it_costs_nothing_and_nothing_travels(self, shop: Shop) -> None:
        order = shop.add_order()
        [only] = shop.add_images(order, "https://a.example/1")

        after = remove(shop, order, only)

        assert (after.image_count, after.price, after.shipping_price) == (0, 0, 0)
        assert after.currency is None
        assert look(shop, order) == []

    def test_an_image_can_be_added_again(self, shop: Shop) -> None:
        order = shop.add_order()
        [removed] = shop.add_images(order, "https://a.example/1")
        before = shop.order(order)
        remove(shop, order, removed)

        [added] = shop.add_images(order, "https://a.example/1")

        assert added != removed
        after = shop.order(order)
        assert msgspec.structs.replace(after, version=before.version) == before

    def test_what_was_said_about_the_image_goes_with_it(self, shop: Shop) -> None:
        order = shop.add_order()
        url = shop.host.at("/text.jpg", holds(NOT_A_PICTURE))
        kept, removed = shop.add_images(order, url, url)
        shop.move(order, OrderStatus.AWAITING_PAYMENT)
        shop.drain()
        shop.move(order, OrderStatus.NOT_YET_SUBMITTED)

        after = remove(shop, order, removed)

        assert after == shop.order(order)
        assert [reason.subject for reason in read_reasons(after.reasons)] == [kept]
        assert remove(shop, order, kept).reasons is None

    def test_it_is_recorded_and_not_told(self, shop: Shop) -> None:
        order = shop.add_order()
        [removed] = shop.add_images(order, "https://a.example/1")

        remove(shop, order, removed)

        event = shop.events(order)[-1]
        assert event == ImageRemoved(removed)
        assert not is_told(event)


class TestRefusals:
    @pytest.mark.parametrize(
        "status", [OrderStatus.AWAITING_PAYMENT, OrderStatus.SUBMITTED, OrderStatus.CANCELLED]
    )
    def test_an_order_that_is_not_open_keeps_its_images(
        self, shop: Shop, status: OrderStatus
    ) -> None:
        order = shop.add_order()
        [image] = shop.add_images(order, "https://a.example/1")
        shop.move(order, status)

        with pytest.raises(WrongState, match=f"an order that is {status}"):
            remove(shop, order, image)

        assert is_there(shop, image)

    def test_an_order_that_is_being_paid_for_keeps_its_images(self, shop: Shop) -> None:
        order = shop.add_order()
        [image] = shop.add_images(order, "https://a.example/1")
        with shop.database.writing() as db:
            db.execute(update(orders).where(orders.c.id == order.id).values(payment_request_id=1))

        with pytest.raises(WrongState, match="being paid for"):
            remove(shop, order, image)

    @pytest.mark.parametrize("number", [0, -1, 404, 2**63, 10**30])
    def test_an_image_that_does_not_exist_is_not_found(self, shop: Shop, number: int) -> None:
        with pytest.raises(NotFound):
            remove(shop, shop.add_order(), number)

    def test_an_image_of_another_order_is_not_found(self, shop: Shop) -> None:
        [image] = shop.add_images(shop.add_order(), "https://a.example/1")

        with pytest.raises(NotFound):
            remove(shop, shop.add_order(), image)

        assert is_there(shop, image)

    def test_an_image_that_is_gone_is_not_found(self, shop: Shop) -> None:
        order = shop.add_order()
        [image] = shop.add_images(order, "https://a.example/1")
        remove(shop, order, image)

        with pytest.raises(NotFound):
            remove(shop, order, image)

    def test_somebody_elses_image_is_not_found(self, shop: Shop) -> None:
        with shop.database.writing() as db:
            bob = a_merchant(db, "Bob")
        theirs = shop.add_order(bob)
        [image] = shop.add_images(theirs, "https://a.example/1")

        with pytest.raises(NotFound):
            remove(shop, shop.add_order(), image)


class TestFiles:
    def test_its_proofs_go_and_those_of_others_stay(self, shop: Shop) -> None:
        order = shop.add_order()
        kept, removed = shop.add_images(
            order,
            shop.host.at("/cat.jpg", holds(A_PICTURE)),
            shop.host.at("/dog.jpg", holds(ANOTHER_PICTURE)),
        )
        shop.drain()

        remove(shop, order, removed)
        shop.drain()

        assert shop.list_files("proofs") == [
            f"proofs/{kept}/preview.jpg",
            f"proofs/{kept}/thumbnail.jpg",
        ]

    def test_the_original_goes_with_the_sweep(self, shop: Shop) -> None:
        order = shop.add_order()
        [removed] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.drain()
        remove(shop, order, removed)

        shop.pass_time(days=400)

        assert shop.list_files() == []
        assert shop.count_pictures() == 0

    def test_an_original_that_another_image_needs_stays(self, shop: Shop) -> None:
        order = shop.add_order()
        url = shop.host.at("/cat.jpg", holds(A_PICTURE))
        removed, kept = shop.add_images(order, url, url)
        shop.drain()
        remove(shop, order, removed)

        shop.pass_time(days=400)

        assert len(shop.list_files("originals")) == 1
        assert shop.image(kept).picture_id is not None


class TestDownloads:
    def test_a_download_that_was_promised_ends_quietly(self, shop: Shop, logged: list[Any]) -> None:
        order = shop.add_order()
        [removed] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        remove(shop, order, removed)

        shop.drain()

        assert shop.job(JobKind.FETCH_IMAGE).state == "done"
        assert shop.list_files() == []
        assert not [line for line in logged if line["log_level"] in {"warning", "error"}]

    def test_a_download_that_is_put_off_ends_quietly(self, shop: Shop) -> None:
        order = shop.add_order()
        [removed] = shop.add_images(order, shop.host.at("/cat.jpg", NOT_FOUND))
        shop.drain()
        remove(shop, order, removed)

        shop.pass_time(hours=1)

        assert shop.job(JobKind.FETCH_IMAGE).state == "done"

    def test_an_image_that_is_removed_during_its_download_leaves_no_proofs(
        self, shop: Shop
    ) -> None:
        order = shop.add_order()
        ids: list[int] = []

        async def serve(request: Any, *rest: Any) -> Any:
            remove(shop, order, ids[0])
            return await holds(A_PICTURE)(request, *rest)

        ids += shop.add_images(order, shop.host.at("/cat.jpg", serve))

        shop.drain()
        shop.drain()

        assert not is_there(shop, ids[0])
        assert shop.list_files("proofs") == []
        assert shop.job(JobKind.FETCH_IMAGE).state == "done"

    def test_proofs_that_a_killed_worker_drew_too_late_go(self, shop: Shop) -> None:
        order = shop.add_order()
        [removed] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
        shop.drain()
        assert shop.image(removed).status is ImageStatus.OK
        remove(shop, order, removed)
        proofs = shop.list_files("proofs")
        with shop.resources.files.local(proofs[0]) as proof:
            content = proof.read_bytes()
        shop.drain()
        late = shop.resources.scratch / "late.jpg"
        late.write_bytes(content)
        for key in proofs:
            shop.resources.files.put(key, late)

        shop.enqueue_again(JobKind.FETCH_IMAGE, {"image": removed})
        shop.drain()

        assert shop.list_files("proofs") == []
