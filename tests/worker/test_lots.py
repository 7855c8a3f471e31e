"""Lots are worked off in the background: each order once, whatever happens in between."""

from typing import Any

import pytest
from sqlalchemy import update

from printworks.actions.lots.lots import do_line, list_step, prepare_lot, refuse_line, start_lot
from printworks.actions.payments.payments import settle
from printworks.errors import BadInput, WrongState
from printworks.payments.provider import Declined, Paid
from printworks.rules.jobs import HOURLY, JobKind, JobState
from printworks.rules.lots import LINES_AT_ONCE, LineState, LotKind, LotState
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Billing
from printworks.rules.sizing import Sizing
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.privacy.erasers import erase_lot_lines
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.money.payments import PaymentRequest, list_requests_of_order
from printworks.store.orders.lots import (
    MOST_UNSTARTED,
    NewLine,
    NewLot,
    insert_lot,
    list_lots,
    measure_each,
    purge_lots,
)
from printworks.store.orders.orders import Order, get_order
from printworks.store.tables import lots, merchants
from tests.factories import a_merchant, a_system_work
from tests.worker.conftest import OpenShop
from tests.worker.hosts import holds
from tests.worker.lots import (
    SKU,
    a_file,
    lines_of,
    lot_of,
    many_rows,
    references_of,
    send_file,
    start,
    work_as_mary,
)
from tests.worker.shops import Shop, a_jpeg

SHOP_HOURLY = HOURLY

WITHOUT_DOWNLOADS = [kind for kind in JobKind if kind is not JobKind.FETCH_IMAGE]


@pytest.fixture
def shop(a_shop: OpenShop) -> Shop:
    """A shop whose pictures have time."""
    return a_shop(kinds=WITHOUT_DOWNLOADS)


def problems_of(database: Database, lot_id: int) -> dict[tuple[int, str], str]:
    """Return what is wrong, by row and column."""
    return {
        (problem.row, problem.column): problem.sentence
        for line in lines_of(database, lot_id)
        for problem in line.complaints
    }


def test_a_file_becomes_orders_with_all_that_it_says(shop: Shop) -> None:
    content = a_file(
        {"copies": "2", "sizing": "shrink to fit", "telephone": "+44 1904 1", "country": "uk"},
        {"reference": "B-2", "shipping_method": "express", "copies": "3.0"},
        # The second image of the first order leaves empty what the first row says.
        {"recipient_name": "", "country": "", "image_url": "https://shop.example/2.jpg"},
    )
    lot_id = send_file(shop.database, shop.merchant, content)
    assert lot_of(shop.database, shop.merchant, lot_id).sums.copies == 6
    assert references_of(shop.database, shop.merchant) == []

    start(shop.database, shop.merchant, lot_id)
    shop.drain()

    lot = lot_of(shop.database, shop.merchant, lot_id)
    assert (lot.state, lot.finished_at) == (LotState.DONE, shop.clock())
    first, second = lines_of(shop.database, lot_id)
    # What is in the order is nowhere else.
    assert (first.state, first.content, first.cells) == (LineState.DONE, None, None)
    with shop.database.reading() as db:
        one = get_order(db, shop.merchant.id, first.order_id or 0)
        images = list_images(db, one.id)
        other = get_order(db, shop.merchant.id, second.order_id or 0)
        audited = [(entry.action, entry.who) for entry in list_audit(db, limit=9)]
    assert (one.merchant_order_id, one.destination_country, one.telephone) == (
        "A-1",
        "GB",
        "+44 1904 1",
    )
    assert one.status is OrderStatus.NOT_YET_SUBMITTED
    assert [(image.copies, image.sizing) for image in images] == [
        (2, Sizing.SHRINK_TO_FIT),
        (1, Sizing.CROP),
    ]
    assert (other.shipping_method, other.image_count) == ("Express", 1)
    assert ("create-order", "mary@example.com") in audited
    assert lot.sums.amount == one.price + other.price - one.shipping_price - other.shipping_price


def test_each_wrong_cell_is_named_and_nothing_is_made_of_its_order(shop: Shop) -> None:
    wrong: list[dict[str, Any]] = [
        {"recipient_name": "", "country": "Atlantis", "copies": "none"},
        {"sku": "NO-SUCH", "image_url": "", "sizing": "stretch"},
        {"sku": "", "image_url": "gopher://x", "attributes": "red"},
        {"country": "", "telephone": "1" * 60, "attributes": "shape=round;"},
        {"copies": "0", "shipping_method": "by bike", "email": "mary"},
        {"reference": "x" * 300, "attributes": " ; "},
        {"reference": "x\ty"},
        {"reference": "same"},
        {"reference": "same", "town_or_city": "Leeds"},
    ]
    rows = [{"reference": f"W-{number}", **row} for number, row in enumerate(wrong)]
    lot_id = send_file(shop.database, shop.merchant, a_file(*rows, {"reference": "good"}))

    said = problems_of(shop.database, lot_id)

    assert list(said) == [
        *[(2, "recipient_name"), (2, "country"), (2, "copies")],
        *[(3, "sku"), (3, "image_url"), (3, "sizing")],
        *[(4, "sku"), (4, "image_url"), (4, "attributes")],
        *[(5, "telephone"), (5, "country"), (5, "attributes")],
        *[(6, "email"), (6, "shipping_method"), (6, "copies")],
        *[(7, "reference"), (8, "reference"), (10, "town_or_city")],
    ]
    assert said[2, "country"].startswith("There is no such country")
    assert said[10, "town_or_city"].startswith("This differs from row 9")
    start(shop.database, shop.merchant, lot_id)
    shop.drain()
    assert references_of(shop.database, shop.merchant) == ["good"]


def test_a_product_must_be_sold_there_and_an_order_has_a_limit(a_shop: OpenShop) -> None:
    shop = a_shop(kinds=WITHOUT_DOWNLOADS)
    catalogue = shop.resources.catalogue
    product = next(one for one in catalogue.products if not one.is_sold_to("AQ"))
    rows = [{"reference": "far", "sku": product.sku, "country": "AQ"}]
    rows += [{"reference": "large"}] * 1001
    lot_id = send_file(shop.database, shop.merchant, a_file(*rows))
    said = problems_of(shop.database, lot_id)
    assert said[2, "sku"] == f"{product.sku} is not sold to AQ."
    assert said[3, "reference"] == "An order can have at most 1,000 images."


def test_the_same_file_makes_no_second_orders(shop: Shop) -> None:
    content = a_file({"reference": "once"}, {"reference": ""}, {"reference": "", "sku": "?"})
    lot_id = send_file(shop.database, shop.merchant, content)
    assert send_file(shop.database, shop.merchant, content) == lot_id

    for _ in range(2):
        start(shop.database, shop.merchant, lot_id)
    shop.drain()
    assert send_file(shop.database, shop.merchant, content) == lot_id
    start(shop.database, shop.merchant, lot_id)
    for job in shop.jobs(JobKind.RUN_LOT):
        shop.enqueue_again(JobKind.RUN_LOT, job.args)
    shop.drain()

    assert references_of(shop.database, shop.merchant) == ["once", None]


def test_a_file_that_comes_twice_at_the_same_time_is_one_lot(shop: Shop) -> None:
    new = NewLot(kind=LotKind.IMPORT, state=LotState.CHECKED, key="file 1")
    lines = [NewLine(state=LineState.READY)]
    with shop.database.writing() as db:
        # Neither has seen the other.
        numbers = [insert_lot(db, shop.merchant.id, new, lines, now=shop.clock()) for _ in range(2)]
    assert numbers[0] == numbers[1]
    assert len(lines_of(shop.database, numbers[0])) == 1


def test_a_reference_that_an_order_has_is_not_ordered_again(shop: Shop) -> None:
    first = send_file(shop.database, shop.merchant, a_file({"reference": "X"}))
    # Both are checked before either is started.
    second = send_file(shop.database, shop.merchant, a_file({"reference": "X", "copies": "2"}))
    for lot_id in (first, second):
        start(shop.database, shop.merchant, lot_id)
    shop.drain()
    third = send_file(shop.database, shop.merchant, a_file({"reference": "X", "copies": "3"}))

    assert references_of(shop.database, shop.merchant) == ["X"]
    [order] = [line.order_id for line in lines_of(shop.database, first)]
    sentence = f"Order {order} has this reference already."
    assert problems_of(shop.database, second)[2, ""].startswith(sentence)
    assert problems_of(shop.database, third)[2, "reference"].startswith(sentence)
    with pytest.raises(WrongState, match="No order of the file"):
        start(shop.database, shop.merchant, third)


def test_a_long_file_is_worked_off_in_steps(shop: Shop) -> None:
    count = 2 * LINES_AT_ONCE + 1
    lot_id = send_file(shop.database, shop.merchant, a_file(*many_rows(count)))
    start(shop.database, shop.merchant, lot_id)
    shop.drain()
    assert references_of(shop.database, shop.merchant) == [f"S-{n}" for n in range(count)]
    jobs = shop.jobs(JobKind.RUN_LOT)
    assert [job.args["after"] for job in jobs] == [0, 25, 50, 51]
    assert {job.state for job in jobs} == {JobState.DONE}


def bill(shop: Shop, how: Billing) -> None:
    with shop.database.writing() as db:
        db.execute(update(merchants).values(billing=how))


@pytest.mark.parametrize("how", [Billing.ACCOUNT, Billing.CARD])
def test_orders_of_a_file_are_submitted_if_so_chosen(shop: Shop, how: Billing) -> None:
    bill(shop, how)
    rows = [{"reference": "good"}, {"reference": "hold [decline]"}]
    lot_id = send_file(shop.database, shop.merchant, a_file(*rows))
    start(shop.database, shop.merchant, lot_id, submits=True)
    shop.drain()

    good, bad = lines_of(shop.database, lot_id)
    assert (good.state, good.problems) == (LineState.DONE, [])
    assert shop.order_by_id(good.order_id or 0).status is OrderStatus.SUBMITTED
    assert bad.order_id is not None


def test_many_orders_are_cancelled_and_those_that_cannot_be_say_why(shop: Shop) -> None:
    one, other = shop.add_order(), shop.add_order()
    shop.move(other, OrderStatus.CANCELLED)
    with shop.database.writing() as db:
        work = work_as_mary(db, shop.merchant)
        lot_id = prepare_lot(work, LotKind.CANCEL, [one.id, other.id, 999], once="a")
        assert prepare_lot(work, LotKind.CANCEL, [one.id, other.id, 999], once="a") == lot_id
        assert prepare_lot(work, LotKind.CANCEL, [one.id], once="a") != lot_id
        with pytest.raises(BadInput, match="Choose at least one order"):
            prepare_lot(work, LotKind.CANCEL, [], once="a")
    assert shop.order(one).status is OrderStatus.NOT_YET_SUBMITTED

    start(shop.database, shop.merchant, lot_id)
    shop.drain()

    assert shop.order(one).status is OrderStatus.CANCELLED
    states = [line.state for line in lines_of(shop.database, lot_id)]
    assert states == [LineState.DONE, LineState.REFUSED, LineState.REFUSED]
    said = [line.complaints[0].sentence for line in lines_of(shop.database, lot_id)[1:]]
    assert said == [
        "An order that is Cancelled cannot become Cancelled.",
        "The order with the specified id was not found",
    ]


def test_many_orders_are_submitted(shop: Shop) -> None:
    bill(shop, Billing.ACCOUNT)
    ready, empty = shop.add_order(), shop.add_order()
    shop.add_images(ready, "https://shop.example/1.jpg", sku=SKU)
    with shop.database.writing() as db:
        work = work_as_mary(db, shop.merchant)
        lot_id = prepare_lot(work, LotKind.SUBMIT, [ready.id, empty.id], once="a")
    start(shop.database, shop.merchant, lot_id)
    shop.drain()
    assert shop.order(ready).status is OrderStatus.SUBMITTED
    assert shop.order(empty).status is OrderStatus.NOT_YET_SUBMITTED
    assert [line.state for line in lines_of(shop.database, lot_id)] == ["done", "refused"]


def choose_one(shop: Shop, order: Order) -> int:
    """Choose an order to be submitted, and press the button."""
    with shop.database.writing() as db:
        work = work_as_mary(db, shop.merchant, now=shop.clock())
        lot_id = prepare_lot(work, LotKind.SUBMIT, [order.id], once="a")
    start(shop.database, shop.merchant, lot_id, now=shop.clock())
    return lot_id


def ask_for_payment(shop: Shop, lot_id: int) -> PaymentRequest:
    """Begin a line whose order is paid by card, as a worker does that is then killed."""
    with shop.database.writing() as db:
        now, catalogue = shop.clock(), shop.resources.catalogue
        cards = shop.resources.gateway.cards
        work = work_as_mary(db, shop.merchant, now=now, catalogue=catalogue, cards=cards)
        lot, _ = list_step(work, lot_id, after=0)
        begun = do_line(work, lot, 1)
    assert begun is not None
    return begun[1]


@pytest.mark.parametrize(
    ("outcome", "state", "status"),
    [
        (Paid(provider="simulated", reference="ch-1"), LineState.DONE, OrderStatus.SUBMITTED),
        (Declined(reason="No money."), LineState.REFUSED, OrderStatus.NOT_YET_SUBMITTED),
        (None, LineState.DONE, OrderStatus.SUBMITTED),
    ],
)
def test_a_line_asks_for_one_payment_whatever_becomes_of_its_worker(
    shop: Shop, outcome: Paid | Declined | None, state: LineState, status: OrderStatus
) -> None:
    bill(shop, Billing.CARD)
    order = shop.add_order()
    shop.add_images(order, "https://shop.example/1.jpg", sku=SKU)
    lot_id = choose_one(shop, order)
    payment = ask_for_payment(shop, lot_id)
    if outcome is not None:
        # The worker was killed, and the job that checks payments has heard the answer.
        with shop.database.writing() as db:
            system = a_system_work(db, now=shop.clock(), catalogue=shop.resources.catalogue)
            settle(system, payment.id, outcome)

    shop.drain()

    [line] = lines_of(shop.database, lot_id)
    assert (line.state, line.payment_id) == (state, payment.id)
    assert shop.order(order).status is status
    with shop.database.reading() as db:
        assert len(list_requests_of_order(db, order.id, limit=9)) == 1


def test_an_order_whose_price_has_changed_is_not_submitted(shop: Shop) -> None:
    order = shop.add_order()
    shop.add_images(order, "https://shop.example/1.jpg", sku=SKU)
    with shop.database.writing() as db:
        work = work_as_mary(db, shop.merchant)
        lot_id = prepare_lot(work, LotKind.SUBMIT, [order.id], once="a")
    assert lot_of(shop.database, shop.merchant, lot_id).sums.amount == shop.order(order).price
    shop.add_images(order, "https://shop.example/2.jpg", sku=SKU)

    start(shop.database, shop.merchant, lot_id)
    shop.drain()

    assert shop.order(order).status is OrderStatus.NOT_YET_SUBMITTED
    [line] = lines_of(shop.database, lot_id)
    assert line.complaints[0].sentence.startswith("The price was £")


@pytest.mark.parametrize("is_confirmed", [False, True])
def test_blurred_pictures_are_printed_only_if_somebody_said_so(
    a_shop: OpenShop, is_confirmed: bool
) -> None:
    shop = a_shop()
    order = shop.add_order()
    shop.add_images(order, shop.host.at("/small.jpg", holds(a_jpeg(60, 90))))
    shop.drain()
    with shop.database.writing() as db:
        work = work_as_mary(db, shop.merchant)
        lot_id = prepare_lot(work, LotKind.SUBMIT, [order.id], once="a")
        start_lot(work, lot_id, prints_blurred=is_confirmed)
    shop.drain()

    [line] = lines_of(shop.database, lot_id)
    if is_confirmed:
        assert (line.state, line.problems) == (LineState.DONE, [])
    else:
        assert line.complaints[0].sentence.startswith("“small.jpg” will look blurred.")
        assert shop.order(order).status is OrderStatus.NOT_YET_SUBMITTED


def test_what_is_finished_is_neither_done_again_nor_refused_afterwards(shop: Shop) -> None:
    lot_id = send_file(shop.database, shop.merchant, a_file({}))
    start(shop.database, shop.merchant, lot_id)
    shop.drain()
    with shop.database.writing() as db:
        work = work_as_mary(db, shop.merchant)
        lot, _ = list_step(work, lot_id, after=0)
        refuse_line(work, lot, 1, "Too late.")
        assert do_line(work, lot, 1) is None
    assert len(references_of(shop.database, shop.merchant)) == 1
    assert lines_of(shop.database, lot_id)[0].problems == []


def test_the_erasure_of_an_order_leaves_rows_of_others_and_those_that_wait(
    shop: Shop, database: Database
) -> None:
    files = [
        a_file({"reference": "A-1", "sku": "?"}),
        a_file({"reference": "A-2", "sku": "?"}),
        a_file({"reference": "A-1"}),
        a_file({"reference": "", "sku": "?"}),
    ]
    with database.writing() as db:
        other = a_merchant(db, "Bob")
    mine = [send_file(shop.database, shop.merchant, one) for one in files]
    theirs = send_file(shop.database, other, files[0])

    with database.writing() as db:
        assert erase_lot_lines(db, shop.merchant.id, "A-1") == 1
        assert erase_lot_lines(db, shop.merchant.id, None) == 0

    left = [lines_of(database, lot_id)[0].cells is not None for lot_id in (*mine, theirs)]
    assert left == [False, True, True, True, True]


def test_whoever_only_checks_files_keeps_the_latest_few(shop: Shop) -> None:
    started = send_file(shop.database, shop.merchant, a_file({"reference": "started"}))
    start(shop.database, shop.merchant, started)
    numbers = [
        send_file(shop.database, shop.merchant, a_file({"reference": f"S-{number}"}))
        for number in range(MOST_UNSTARTED + 2)
    ]

    with shop.database.reading() as db:
        kept = [lot.id for lot in list_lots(db, shop.merchant.id, LotKind.IMPORT, limit=99)]
        assert measure_each(db, [started, numbers[-1]])[numbers[-1]].total == 1
    assert kept == [*reversed(numbers[2:]), started]
    assert lines_of(shop.database, numbers[0]) == []


def test_old_lots_are_deleted_with_their_lines(shop: Shop) -> None:
    lot_id = send_file(shop.database, shop.merchant, a_file({}, {"reference": "B"}))
    with shop.database.writing() as db:
        assert purge_lots(db, before=shop.clock(), limit=5) == 0
    shop.pass_time(hours=24 * 31)
    assert lines_of(shop.database, lot_id) == []
    with shop.database.reading() as db:
        assert db.execute(lots.select()).all() == []
