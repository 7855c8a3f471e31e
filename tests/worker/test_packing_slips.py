"""Packing slips are fetched with the order, and the order says when one cannot be used."""

import hashlib
from datetime import timedelta
from typing import Any

from printworks.actions.orders.orders import change_order
from printworks.rules.events import PackingSlipJudged
from printworks.rules.images import DOWNLOAD_WAITS, ImageStatus
from printworks.rules.jobs import HOURLY, JobKind
from printworks.rules.reasons import write_reasons
from printworks.store.accounts.merchants import get_merchant
from printworks.store.orders.orders import Order, get_order
from printworks.store.tables.transfer.holds import hold_files
from tests.factories import a_work
from tests.imaging.pictures import a_picture, drawn_apart
from tests.worker.hosts import answers, holds
from tests.worker.shops import A_PICTURE, NOT_A_PICTURE, Shop

SHOP_HOURLY = HOURLY

_S = ImageStatus
A_SLIP = drawn_apart(lambda: a_picture(420, 594).pngsave_buffer())
ANOTHER_SLIP = drawn_apart(lambda: a_picture(594, 420).pngsave_buffer())


def change_slip(shop: Shop, order: Order, url: str | None) -> None:
    """Want another packing slip, or none."""
    with shop.database.writing() as db:
        whose = get_merchant(db, order.merchant_id)
        current = get_order(db, whose.id, order.id)
        change_order(
            a_work(db, whose, now=shop.clock(), catalogue=shop.resources.catalogue),
            current,
            {"packing_slip_url": url},
        )


def judged(shop: Shop, order: Order) -> list[Any]:
    """Return the verdicts that were recorded."""
    return [event for event in shop.events(order) if isinstance(event, PackingSlipJudged)]


def test_a_packing_slip_is_kept_with_the_order(shop: Shop) -> None:
    order = shop.add_order(packing_slip_url=shop.host.at("/slip.png", holds(A_SLIP)))

    shop.drain()

    slip = shop.slip(order)
    assert slip is not None
    assert (slip.status, slip.width, slip.height) == (_S.OK, 420, 594)
    assert slip.sha256 == hashlib.sha256(A_SLIP).hexdigest()
    assert shop.resources.files.read(slip.file or "") == A_SLIP
    assert judged(shop, order) == [PackingSlipJudged(_S.OK)]
    assert write_reasons(shop.order(order).reasons) is None


def test_one_that_is_no_picture_is_told_on_the_order(shop: Shop) -> None:
    order = shop.add_order(packing_slip_url=shop.host.at("/slip.png", holds(NOT_A_PICTURE)))

    shop.drain()

    slip = shop.slip(order)
    assert slip is not None
    assert slip.status is _S.INVALID
    assert write_reasons(shop.order(order).reasons) == (
        f"The packing slip cannot be used. {slip.error_message}"
    )
    assert shop.list_files() == []


def test_one_that_is_never_found_is_told_on_the_order_after_the_last_attempt(shop: Shop) -> None:
    order = shop.add_order(packing_slip_url=shop.host.at("/slip.png", answers("404 Not Found")))

    shop.drain()
    for wait in DOWNLOAD_WAITS:
        assert write_reasons(shop.order(order).reasons) is None
        shop.pass_time(seconds=wait.total_seconds())
    shop.pass_time(days=1)

    assert shop.host.count("/slip.png") == 7
    assert judged(shop, order) == [PackingSlipJudged(_S.FILE_NOT_FOUND_AT_URL)]
    assert write_reasons(shop.order(order).reasons) == (
        "The packing slip cannot be used. There is nothing at the address."
    )


def test_one_that_comes_late_is_kept(shop: Shop) -> None:
    url = shop.host.at("/slip.png", answers("503 Busy"), holds(A_SLIP))
    order = shop.add_order(packing_slip_url=url)
    shop.drain()

    shop.pass_time(seconds=10)

    slip = shop.slip(order)
    assert slip is not None
    assert slip.status is _S.OK


def test_the_answer_of_an_address_that_is_no_longer_wanted_is_ignored(shop: Shop) -> None:
    gate = shop.host.gate()
    old = shop.host.at("/old.png", gate.before(holds(NOT_A_PICTURE)))
    order = shop.add_order(packing_slip_url=old)

    with shop.draining():
        gate.wait()
        change_slip(shop, order, shop.host.at("/new.png", holds(ANOTHER_SLIP)))
        gate.open()

    slip = shop.slip(order)
    assert slip is not None
    assert (slip.status, slip.sha256) == (_S.OK, hashlib.sha256(ANOTHER_SLIP).hexdigest())
    assert judged(shop, order) == [PackingSlipJudged(_S.OK)]
    assert write_reasons(shop.order(order).reasons) is None


def test_the_file_of_an_address_that_is_no_longer_wanted_is_removed(shop: Shop) -> None:
    gate = shop.host.gate()
    order = shop.add_order(packing_slip_url=shop.host.at("/old.png", gate.before(holds(A_SLIP))))

    with shop.draining():
        gate.wait()
        change_slip(shop, order, None)
        gate.open()
    shop.drain()

    assert shop.slip(order) is None
    assert shop.list_files("slips") == []


def test_the_same_slip_at_another_address_outlives_the_removal_of_the_first(shop: Shop) -> None:
    order = shop.add_order(packing_slip_url=shop.host.at("/old.png", holds(A_SLIP)))
    shop.drain()
    with shop.database.writing() as db:
        hold_files(db, "slow", until=shop.clock() + timedelta(minutes=1))

    change_slip(shop, order, shop.host.at("/new.png", holds(A_SLIP)))
    shop.drain()
    shop.pass_time(minutes=2)

    slip = shop.slip(order)
    assert slip is not None
    assert shop.resources.files.read(slip.file or "") == A_SLIP
    assert shop.list_files("slips") == [slip.file]


def test_an_order_that_wants_none_any_more_gets_none(shop: Shop) -> None:
    gate = shop.host.gate()
    url = shop.host.at("/slip.png", gate.before(holds(NOT_A_PICTURE)))
    order = shop.add_order(packing_slip_url=url)

    with shop.draining():
        gate.wait()
        change_slip(shop, order, None)
        gate.open()

    assert shop.slip(order) is None
    assert judged(shop, order) == []
    assert write_reasons(shop.order(order).reasons) is None


def test_one_that_is_dropped_before_anybody_asked_is_not_fetched(shop: Shop) -> None:
    order = shop.add_order(packing_slip_url=shop.host.at("/slip.png", holds(A_SLIP)))

    change_slip(shop, order, None)
    shop.drain()

    assert shop.host.asked == []
    assert shop.slip(order) is None


def test_another_address_takes_the_complaint_away(shop: Shop) -> None:
    order = shop.add_order(packing_slip_url=shop.host.at("/slip.png", holds(NOT_A_PICTURE)))
    shop.drain()

    change_slip(shop, order, shop.host.at("/better.png", holds(A_SLIP)))
    shop.drain()

    slip = shop.slip(order)
    assert slip is not None
    assert slip.status is _S.OK
    assert write_reasons(shop.order(order).reasons) is None


def test_a_job_that_runs_again_changes_nothing(shop: Shop) -> None:
    url = shop.host.at("/slip.png", holds(A_SLIP))
    order = shop.add_order(packing_slip_url=url)
    shop.drain()
    before = shop.slip(order), shop.events(order), shop.list_files()

    shop.enqueue_again(JobKind.FETCH_PACKING_SLIP, {"order": order.id, "url": url})
    shop.drain()

    assert before == (shop.slip(order), shop.events(order), shop.list_files())
    assert len(shop.host.asked) == 1


def test_a_parcel_waits_for_its_packing_slip(shop: Shop) -> None:
    url = shop.host.at("/slip.png", answers("503 Busy"), holds(A_SLIP))
    order = shop.add_order(packing_slip_url=url)
    shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.submit(order)
    shop.drain()
    assert shop.jobs(JobKind.RENDER_IMAGE)
    assert shop.jobs(JobKind.SEND_TO_LAB) == []

    shop.pass_time(seconds=10)

    assert len(shop.jobs(JobKind.SEND_TO_LAB)) == 1
