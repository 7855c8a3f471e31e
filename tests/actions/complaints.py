"""Complaints to test with, about orders whose pictures have been received."""

from typing import Any

from sqlalchemy import Connection

from printworks.actions.images.images import add_images, record_image_status
from printworks.actions.issues.issues import (
    open_issue,
    refund_issue,
    reprint_issue,
)
from printworks.actions.issues.reprints import plan_reprint
from printworks.actions.orders.orders import cancel_order
from printworks.actions.submission.submit import submit_order
from printworks.rules.images import ImageStatus
from printworks.rules.issues import (
    IssueAction,
    IssueKind,
    write_commentary,
)
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import NewImage
from printworks.store.images.pictures import NewPicture, store_picture
from printworks.store.issues.issues import (
    Issue,
    NewIssue,
    list_remarks,
)
from printworks.store.orders.orders import Order, get_order
from tests.actions.test_ledger import ADDRESS, CATALOGUE
from tests.factories import NOON, a_system_work, a_work, an_order


def a_draft(db: Connection, merchant: Merchant, *, images: int = 2, **values: Any) -> Order:
    """Make an order whose pictures have been received."""
    order = an_order(db, merchant, **{**ADDRESS, **values})
    new = NewImage(sku="GLOBAL-PHO-4X6-PRO", url="https://shop.example/a.jpg", copies=2)
    added = add_images(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order, [new] * images)
    picture = store_picture(
        db, NewPicture(sha256="0" * 64, md5="1" * 32, size=9, original="originals/0"), now=NOON
    )
    for image in added:
        facts: dict[str, Any] = {
            "picture_id": picture.id,
            "md5": picture.md5,
            "width": 600,
            "height": 900,
        }
        record_image_status(
            a_work(db, merchant, now=NOON, request_id=None), image, ImageStatus.OK, **facts
        )
    return get_order(db, merchant.id, order.id)


def submitted(db: Connection, merchant: Merchant, **values: Any) -> Order:
    """Hand in an order."""
    draft = a_draft(db, merchant, **values)
    order = submit_order(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), draft)
    assert isinstance(order, Order)
    return order


def complain(db: Connection, merchant: Merchant, order: Order, **values: Any) -> Issue:
    """Complain about an order."""
    given = {"kind": IssueKind.DAMAGED_ORDER, "action": IssueAction.REPRINT, **values}
    return open_issue(a_work(db, merchant, now=NOON), order, NewIssue(**given))


def refund(db: Connection, issue: Issue, amount: int) -> Issue:
    """Settle an issue with money."""
    return refund_issue(a_system_work(db, now=NOON), issue.id, amount, comment="Sorry.")


def reprint(db: Connection, issue: Issue) -> Issue:
    """Settle an issue with another order; nobody looks at its proofs here."""
    plan = plan_reprint(a_system_work(db, now=NOON), issue.id)
    return reprint_issue(
        a_system_work(db, now=NOON, catalogue=CATALOGUE), issue.id, plan, comment="Sorry."
    )


def cancel(db: Connection, merchant: Merchant, order: Order) -> Order:
    """Call an order off."""
    return cancel_order(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order)


def commentary(db: Connection, issue: Issue) -> str:
    """Return all that was said and done about an issue."""
    return write_commentary(list_remarks(db, [issue])[issue.id])
