"""An order that is read in one piece is the one that is read piece by piece."""

from datetime import timedelta

import pytest
from sqlalchemy import Connection, text, update

from printworks.catalogue.services import Carrier
from printworks.errors import NotFound
from printworks.rules.images import ImageStatus
from printworks.rules.production import LabState
from printworks.rules.sizing import Sizing
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import (
    NewImage,
    insert_images,
    list_images_to_show,
    update_image,
)
from printworks.store.orders.orders import Order, get_order
from printworks.store.orders.shipments import (
    NewShipment,
    get_whole_order,
    insert_shipments,
    list_shipments,
    update_shipment,
)
from printworks.store.tables import orders
from tests.factories import NOON, a_merchant, an_order

ODD = 'a "quote", a \\ and a /, a\ttab and a\nline, \x01\x1f\x7f, é ß 漢 🖼 \u2028 \uffff, %s :x'
LARGEST = 2**63 - 1


def a_shipment(state: LabState | None, image_ids: list[int], *, is_tracked: bool) -> NewShipment:
    return NewShipment(
        state=state,
        lab="somewhere",
        band="local",
        service="post",
        carrier=Carrier.ROYAL_MAIL,
        is_tracked=is_tracked,
        items_cost=LARGEST,
        shipping_cost=LARGEST,
        image_ids=image_ids,
        copies=1,
        earliest_arrival="2026-11-20",
        latest_arrival="2026-11-23",
    )


def fill(db: Connection, order: Order) -> None:
    """Give an order images and shipments with all kinds of values."""
    known, new = insert_images(
        db,
        order.id,
        [
            NewImage(
                sku="MUG",
                url=f"https://shop.example/{ODD}",
                copies=100_000,
                sizing=Sizing.SHRINK_TO_FIT,
                price_to_user=LARGEST,
                attributes={ODD: ODD, "b": "1", "a": "null"},
            ),
            NewImage(sku="null", url=None, copies=1),
        ],
        now=NOON + timedelta(microseconds=1),
    )
    judged = {"status": ImageStatus.OK, "md5": "0" * 32, "width": 1, "height": 2, "manifest": {}}
    update_image(db, known, judged)
    shipments = insert_shipments(
        db,
        order.id,
        [
            a_shipment(LabState.OFFERED, [known.id, new.id], is_tracked=True),
            a_shipment(LabState.OFFERED, [known.id], is_tracked=False),
            a_shipment(None, [], is_tracked=False),
        ],
        now=NOON,
    )
    sent = {"state": LabState.DISPATCHED, "shipped_at": NOON, "tracking_number": ODD}
    update_shipment(db, shipments[0], sent)
    update_shipment(db, shipments[1], {"state": LabState.REJECTED, "reason": ODD})
    db.execute(update(orders).where(orders.c.id == order.id).values(image_count=2))


def an_order_with_everything(db: Connection) -> tuple[Merchant, Order]:
    merchant = a_merchant(db)
    before, order, after = (an_order(db, merchant, recipient_name=ODD) for _ in range(3))
    for one in (before, order, after):
        fill(db, one)
    return merchant, order


def test_it_has_the_same_images_and_shipments_to_the_last_value(database: Database) -> None:
    with database.writing() as db:
        merchant, order = an_order_with_everything(db)

    with database.reading() as db:
        whole = get_whole_order(db, merchant.id, order.id)

        assert whole.order == get_order(db, merchant.id, order.id)
        assert whole.images == list_images_to_show(db, order.id)
        assert whole.shipments == list_shipments(db, order.id)
    assert [image.sku for image in whole.images] == ["MUG", "null"]
    assert list(whole.images[0].attributes.values()).count(ODD) == 1
    assert [one.state for one in whole.shipments] == [LabState.DISPATCHED, None]


def test_moments_are_in_utc_whatever_the_zone_of_the_connection(database: Database) -> None:
    with database.writing() as db:
        merchant, order = an_order_with_everything(db)

    with database.writing() as db:
        if not database.is_sqlite:
            db.execute(text("SET LOCAL TIME ZONE 'Pacific/Auckland'"))
        whole = get_whole_order(db, merchant.id, order.id)

    written = NOON + timedelta(microseconds=1)
    assert [image.created_at.isoformat() for image in whole.images] == [written.isoformat()] * 2
    shipped = whole.shipments[0].shipped_at
    assert shipped is not None
    assert shipped.isoformat() == NOON.isoformat()


def test_an_order_without_images_has_nothing_else_either(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = an_order(db, merchant)

    with database.reading() as db:
        assert get_whole_order(db, merchant.id, order.id) == (order, [], [])


def test_somebody_elses_order_is_refused_like_one_that_does_not_exist(database: Database) -> None:
    with database.writing() as db:
        _, order = an_order_with_everything(db)
        bob = a_merchant(db, "Bob")

    for order_id in (order.id, order.id + 99, 0, -1, LARGEST, LARGEST + 1):
        with database.reading() as db, pytest.raises(NotFound) as refusal:
            get_whole_order(db, bob.id, order_id)
        with database.reading() as db, pytest.raises(NotFound) as usual:
            get_order(db, bob.id, order_id)
        assert str(refusal.value) == str(usual.value)
