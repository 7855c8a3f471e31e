"""Whoever has seen a version of an order has seen all of it."""

from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage, insert_images, update_image
from printworks.store.orders.orders import get_order, update_order
from printworks.store.orders.shipments import insert_shipments, update_shipment
from tests.factories import NOON, a_merchant, an_order
from tests.store.test_whole_orders import a_shipment


def test_every_change_of_an_order_its_images_or_its_shipments_is_another_version(
    database: Database,
) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order, other = an_order(db, merchant), an_order(db, merchant)
        [image] = insert_images(db, order.id, [NewImage(sku="MUG", url=None, copies=1)], now=NOON)
        planned = [a_shipment(LabState.OFFERED, [image.id], is_tracked=False)]
        [shipment] = insert_shipments(db, order.id, planned, now=NOON)
        seen = [order.version]
        changed = update_order(db, order, {"recipient_name": "Ann Hill"})
        assert changed is not None
        seen.append(changed.version)
        assert changed == get_order(db, merchant.id, order.id)
        update_image(db, image, {"status": ImageStatus.OK})
        seen.append(get_order(db, merchant.id, order.id).version)
        update_shipment(db, shipment, {"state": LabState.ACCEPTED})
        seen.append(get_order(db, merchant.id, order.id).version)
        again = update_order(db, changed, {"status": OrderStatus.SUBMITTED})
        assert again == get_order(db, merchant.id, order.id)

    assert again is not None
    assert len({*seen, again.version}) == len(seen) + 1
    assert [*seen, again.version] == sorted([*seen, again.version])
    with database.reading() as db:
        assert get_order(db, merchant.id, other.id) == other


def test_a_change_that_comes_too_late_is_no_other_version(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = an_order(db, merchant)
        [image] = insert_images(db, order.id, [NewImage(sku="MUG", url=None, copies=1)], now=NOON)
        judged = update_image(db, image, {"status": ImageStatus.OK})
        before = get_order(db, merchant.id, order.id)
        assert judged is not None
        assert update_image(db, image, {"status": ImageStatus.INVALID}) is None
        assert get_order(db, merchant.id, order.id) == before
