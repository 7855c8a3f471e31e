"""What went wrong is printed again: the same pictures, through the labs, at no charge."""

from typing import Any

import pytest

from printworks.actions.issues.issues import open_issue, reprint_issue
from printworks.actions.issues.reprints import copy_proofs, plan_reprint
from printworks.rules.images import ImageStatus
from printworks.rules.issues import IssueAction, IssueKind, IssueState
from printworks.rules.jobs import HOURLY, JobKind
from printworks.rules.ledger_audit import audit
from printworks.rules.orders import OrderStatus
from printworks.rules.reasons import write_reasons
from printworks.store.images.images import list_images
from printworks.store.images.pictures import proof_key
from printworks.store.issues.issues import Issue, NewIssue
from printworks.store.money.ledger import list_days, list_entries, list_order_money, read_books
from printworks.store.money.payments import list_payment_money
from printworks.store.orders.orders import Order, get_order
from tests.factories import a_system_work, a_work
from tests.worker.hosts import answers, holds
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, Shop
from tests.worker.test_labs import finish

pytestmark = pytest.mark.slow

SHOP_HOURLY = HOURLY


def complete(shop: Shop) -> Order:
    """Order two pictures, and let them be printed and sent."""
    order = shop.add_order()
    # Whoever fetched them again would not get them.
    gone = answers("410 Gone")
    shop.add_images(
        order,
        shop.host.at("/cat.jpg", holds(A_PICTURE), gone),
        shop.host.at("/dog.jpg", holds(ANOTHER_PICTURE), gone),
    )
    shop.drain()
    shop.submit(order)
    shop.drain()
    finish(shop)
    return shop.order(order)


def reprint(shop: Shop, order: Order, **values: Any) -> Issue:
    """Complain about an order, and let an operator have it printed again."""
    new = NewIssue(kind=IssueKind.PRINT_DEFECTS, action=IssueAction.REPRINT, **values)
    with shop.database.writing() as db:
        issue = open_issue(a_work(db, shop.merchant, now=shop.clock()), order, new)
        plan = plan_reprint(a_system_work(db, now=shop.clock()), issue.id)
    copy_proofs(shop.resources.files, plan)
    with shop.database.writing() as db:
        return reprint_issue(
            a_system_work(db, now=shop.clock(), catalogue=shop.resources.catalogue),
            issue.id,
            plan,
            comment="Sorry.",
        )


def find_faults(shop: Shop) -> list[Any]:
    """Recompute the merchant's ledger."""
    merchant_id = shop.merchant.id
    with shop.database.reading() as db:
        return audit(
            list_entries(db, merchant_id),
            list_order_money(db, merchant_id),
            list_payment_money(db, merchant_id),
            list_days(db, merchant_id),
            read_books(db, merchant_id),
        )


@pytest.mark.parametrize("how_many", [1, 2])
def test_a_reprint_goes_all_the_way_without_a_download(shop: Shop, how_many: int) -> None:
    order = complete(shop)
    assert order.status is OrderStatus.COMPLETE
    with shop.database.reading() as db:
        originals = list_images(db, order.id)[:how_many]
        owed = read_books(db, shop.merchant.id).balance

    issue = reprint(shop, order, image_ids=[image.id for image in originals])
    shop.drain()
    finish(shop)

    with shop.database.reading() as db:
        again = get_order(db, shop.merchant.id, issue.reprint_order_id or 0)
        images = list_images(db, again.id)
        assert read_books(db, shop.merchant.id).balance == owed
    assert issue.state is IssueState.CLOSED_RESOLVED
    assert (again.status, again.price, write_reasons(again.reasons)) == (
        OrderStatus.COMPLETE,
        0,
        None,
    )
    assert all(image.status is ImageStatus.OK for image in images)
    printed = [(image.manifest or {})["output_sha256"] for image in images]
    assert printed == [(image.manifest or {})["output_sha256"] for image in originals]
    assert (shop.host.count("/cat.jpg"), shop.host.count("/dog.jpg")) == (1, 1)
    assert len(shop.jobs(JobKind.FETCH_IMAGE)) == 2
    assert find_faults(shop) == []


def test_the_proofs_of_a_reprint_are_those_of_the_original(shop: Shop) -> None:
    order = complete(shop)

    issue = reprint(shop, order)

    with shop.database.reading() as db:
        originals = list_images(db, order.id)
        images = list_images(db, issue.reprint_order_id or 0)
    for original, image in zip(originals, images, strict=True):
        for name in ("preview", "thumbnail"):
            shown = shop.resources.files.read(proof_key(image.id, name))
            assert shown == shop.resources.files.read(proof_key(original.id, name))


def test_the_pictures_of_a_reprint_are_kept_for_it(shop: Shop) -> None:
    order = complete(shop)
    shop.clock.advance(days=365)
    issue = reprint(shop, order)

    shop.enqueue_again(JobKind.PURGE_PICTURES, {})
    shop.drain()

    with shop.database.reading() as db:
        images = list_images(db, issue.reprint_order_id or 0)
    assert all(image.picture_id is not None and image.manifest is not None for image in images)
