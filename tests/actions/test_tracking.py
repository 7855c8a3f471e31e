"""Whoever has the link of an order sees it: once submitted, for a while, and not once erased."""

from printworks.actions.orders.orders import cancel_order
from printworks.actions.orders.tracking import find_tracked_order
from printworks.actions.privacy.erasing import erase_order
from printworks.rules.order_progress import FOLLOW_FOR
from printworks.store.engine.database import Database
from tests.actions.complaints import submitted
from tests.factories import NOON, a_merchant, a_system_work, a_work_of, an_order


def test_an_order_is_seen_with_its_shop_its_images_and_its_parcels(database: Database) -> None:
    with database.writing() as db:
        order = submitted(db, a_merchant(db, "Alice"))
        found = find_tracked_order(a_system_work(db), order.id)

        assert found is not None
        assert (found.order.id, found.shop.name) == (order.id, "Alice")
        assert len(found.images) == order.image_count
        assert found.shipments
        assert found.merchant.id == order.merchant_id


def test_an_order_that_is_none_yet_or_no_more_is_not_seen(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        draft, ended = an_order(db, merchant), an_order(db, merchant)
        cancel_order(a_work_of(db, ended), ended)
        long_after = NOON + FOLLOW_FOR

        assert find_tracked_order(a_system_work(db), draft.id) is None
        assert find_tracked_order(a_system_work(db), 987_654) is None
        assert find_tracked_order(a_system_work(db), ended.id) is not None
        assert find_tracked_order(a_system_work(db, now=long_after), ended.id) is None

        erase_order(a_system_work(db), ended.id, asked_by="the recipient")
        assert find_tracked_order(a_system_work(db), ended.id) is None
