"""Photographs of issues: drawn anew, and gone when nobody needs them."""

from io import BytesIO

from printworks.actions.issues.issues import dismiss_issue, open_issue
from printworks.actions.issues.photos import (
    PhotoBatch,
    SentPhoto,
    add_photos,
    begin_photos,
    render_photos,
)
from printworks.rules.issues import IssueAction, IssueKind
from printworks.rules.jobs import HOURLY
from printworks.store.issues.issues import Issue, NewIssue
from printworks.store.issues.photos import NewPhoto, list_photos
from printworks.store.orders.orders import get_order_to_change
from tests.factories import a_system_work, a_work
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, Shop, a_jpeg

SHOP_HOURLY = HOURLY

DAYS = 90


def draw(shop: Shop, *contents: bytes) -> tuple[PhotoBatch, list[NewPhoto]]:
    """Draw photographs that have just come."""
    with shop.database.writing() as db:
        batch = begin_photos(a_system_work(db, now=shop.clock()), present=0, added=len(contents))
    sent = [SentPhoto("photo.jpg", BytesIO(content)) for content in contents]
    return batch, render_photos(shop.resources.processor, shop.resources.files, batch, sent)


def complain(shop: Shop, batch: PhotoBatch, drawn: list[NewPhoto]) -> Issue:
    """Open an issue with them about a new order."""
    order = shop.add_order()
    shop.add_images(order, shop.host.at("/cat.jpg", holds(A_PICTURE)))
    shop.submit(order)
    new = NewIssue(kind=IssueKind.PRINT_DEFECTS, action=IssueAction.REFUND)
    with shop.database.writing() as db:
        current = get_order_to_change(db, shop.merchant.id, order.id)
        issue = open_issue(a_work(db, shop.merchant, now=shop.clock()), current, new)
        add_photos(a_system_work(db, now=shop.clock()), issue, batch, drawn)
    return issue


def test_what_is_kept_is_not_what_came(shop: Shop) -> None:
    came = a_jpeg(600, 900)
    batch, drawn = draw(shop, came)

    [file] = shop.list_files("photos")
    kept = shop.resources.files.read(file)

    assert [(photo.file, photo.width, photo.height) for photo in drawn] == [(file, 600, 900)]
    assert batch.files == (file,)
    assert kept.startswith(b"\xff\xd8")
    assert kept != came


def test_photographs_that_join_no_issue_are_gone_within_hours(shop: Shop) -> None:
    draw(shop, A_PICTURE, A_PICTURE)
    shop.drain()
    assert len(shop.list_files("photos")) == 2

    shop.pass_time(hours=1)

    assert shop.list_files("photos") == []


def test_photographs_of_an_issue_go_ninety_days_after_it_was_settled(shop: Shop) -> None:
    issue = complain(shop, *draw(shop, A_PICTURE))
    shop.pass_time(days=2 * DAYS)
    assert len(shop.list_files("photos")) == 1
    with shop.database.writing() as db:
        dismiss_issue(a_system_work(db, now=shop.clock()), issue.id, comment="It looks well to us.")

    shop.pass_time(days=DAYS)
    assert len(shop.list_files("photos")) == 1
    shop.pass_time(hours=1)

    assert shop.list_files("photos") == []
    with shop.database.reading() as db:
        assert list_photos(db, issue) == []
