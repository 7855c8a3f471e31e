"""What the recipient pays for the images of an order."""

import msgspec
import pytest

from printworks.actions.images.images import add_images
from printworks.actions.images.recipient_prices import set_prices_to_user
from printworks.errors import WrongState
from printworks.rules.orders import OrderStatus, Payment
from printworks.store.engine.database import Database
from printworks.store.images.images import list_images
from printworks.store.orders.orders import get_order_to_change
from tests.actions.test_images import a_file
from tests.actions.test_ledger import ADDRESS, CATALOGUE
from tests.factories import a_merchant, a_work, an_order


def test_every_image_gets_the_price_and_the_order_another_version(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        work = a_work(db, merchant, catalogue=CATALOGUE)
        order = an_order(db, merchant, payment=Payment.INVOICE_RECIPIENT, **ADDRESS)
        add_images(work, order, [a_file(), a_file(price_to_user=900)])
        before = get_order_to_change(db, merchant.id, order.id)

        priced = set_prices_to_user(work, before, 900)
        again = set_prices_to_user(work, priced, 900)
        prices = [image.price_to_user for image in list_images(db, order.id)]

    assert prices == [900, 900]
    assert before.version < priced.version == again.version


def test_an_order_that_is_not_open_keeps_its_prices(database: Database) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        order = an_order(db, merchant, **ADDRESS)
        submitted = msgspec.structs.replace(order, status=OrderStatus.SUBMITTED)

        with pytest.raises(WrongState):
            set_prices_to_user(a_work(db, merchant, catalogue=CATALOGUE), submitted, 900)
