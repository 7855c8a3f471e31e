"""An order that is cancelled downloads nothing more, whatever is being downloaded just then."""

from typing import Any

import pytest

from printworks.actions.orders.orders import cancel_order
from printworks.rules.events import ImageJudged, PackingSlipJudged
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.orders.orders import Order, get_order_to_change
from tests.factories import a_work
from tests.worker.hosts import Behaviour, answers, holds
from tests.worker.shops import A_PICTURE, NOT_A_PICTURE, Shop
from tests.worker.test_packing_slips import A_SLIP

NOT_FOUND = answers("404 Not Found")
FETCHES = (JobKind.FETCH_IMAGE, JobKind.FETCH_PACKING_SLIP)


def cancel(shop: Shop, order: Order) -> None:
    """Cancel an order."""
    with shop.database.writing() as db:
        work = a_work(db, shop.merchant, now=shop.clock(), catalogue=shop.resources.catalogue)
        cancel_order(work, get_order_to_change(db, shop.merchant.id, order.id))


def fetches(shop: Shop) -> list[str]:
    """Return how far the downloads are."""
    return [job.state for kind in FETCHES for job in shop.jobs(kind)]


def assert_nothing_came(shop: Shop, order: Order, image: int) -> None:
    """Make sure that an order is as if its downloads had never been tried."""
    slip = shop.slip(order)
    assert slip is not None
    assert (slip.status, shop.image(image).status) == (ImageStatus.NOT_YET_DOWNLOADED,) * 2
    assert shop.image(image).error_message is None
    assert shop.order(order).status is OrderStatus.CANCELLED
    assert not shop.order(order).reasons
    judged = (ImageJudged, PackingSlipJudged)
    assert not [event for event in shop.events(order) if isinstance(event, judged)]
    assert shop.list_files("proofs") == shop.list_files("slips") == []


def test_what_is_due_is_not_downloaded(shop: Shop) -> None:
    url = shop.host.at("/slip.png", holds(A_SLIP))
    order, other = shop.add_order(packing_slip_url=url), shop.add_order()
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    [others] = shop.add_images(other, shop.host.at("/dog.jpg", holds(A_PICTURE)))

    cancel(shop, order)
    before = fetches(shop)
    shop.drain()

    assert before == ["cancelled", "due", "cancelled"]
    assert fetches(shop) == ["cancelled", "done", "cancelled"]
    assert shop.host.count("/cat.jpg") == shop.host.count("/slip.png") == 0
    assert shop.image(others).status is ImageStatus.OK
    assert shop.image(image).status is ImageStatus.NOT_YET_DOWNLOADED


def test_what_waits_for_another_attempt_is_not_attempted(shop: Shop) -> None:
    order = shop.add_order(packing_slip_url=shop.host.at("/slip.png", NOT_FOUND))
    shop.add_images(order, shop.host.at("/cat.jpg", NOT_FOUND))
    shop.drain()

    cancel(shop, order)
    shop.pass_time(days=1)

    assert fetches(shop) == ["cancelled", "cancelled"]
    assert shop.host.count("/cat.jpg") == shop.host.count("/slip.png") == 1


@pytest.mark.parametrize(
    ("picture", "slip"),
    [
        (holds(A_PICTURE), holds(A_SLIP)),
        (holds(NOT_A_PICTURE), holds(NOT_A_PICTURE)),
        (NOT_FOUND, NOT_FOUND),
    ],
)
def test_what_is_being_downloaded_changes_nothing(
    shop: Shop, picture: Behaviour, slip: Behaviour, logged: list[Any]
) -> None:
    gates = [shop.host.gate(), shop.host.gate()]
    order = shop.add_order(packing_slip_url=shop.host.at("/slip.png", gates[0].before(slip)))
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", gates[1].before(picture)))

    with shop.draining():
        for gate in gates:
            gate.wait()
        cancel(shop, order)
        for gate in gates:
            gate.open()
    shop.pass_time(days=1)

    assert fetches(shop) == ["done", "done"]
    assert shop.host.count("/cat.jpg") == shop.host.count("/slip.png") == 1
    assert_nothing_came(shop, order, image)
    assert not [line for line in logged if line["log_level"] == "error"]


def test_a_download_that_is_promised_once_more_ends_at_once(shop: Shop) -> None:
    order = shop.add_order(packing_slip_url=shop.host.at("/slip.png", holds(A_SLIP)))
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    cancel(shop, order)

    shop.enqueue_again(JobKind.FETCH_IMAGE, {"image": image})
    shop.enqueue_again(
        JobKind.FETCH_PACKING_SLIP, {"order": order.id, "url": order.packing_slip_url}
    )
    shop.drain()

    assert fetches(shop) == ["cancelled", "done", "cancelled", "done"]
    assert shop.host.count("/cat.jpg") == shop.host.count("/slip.png") == 0
    assert_nothing_came(shop, order, image)


def test_what_had_come_stays(shop: Shop) -> None:
    order = shop.add_order(packing_slip_url=shop.host.at("/slip.png", holds(A_SLIP)))
    [image] = shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.drain()
    files = shop.list_files()

    cancel(shop, order)
    shop.enqueue_again(JobKind.FETCH_IMAGE, {"image": image})
    shop.drain()

    assert shop.image(image).status is ImageStatus.OK
    assert shop.list_files() == files
