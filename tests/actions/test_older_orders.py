"""What the core does for orders of the older versions: tracking, nameless parcels, the log."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection

from printworks.actions.images.images import add_images
from printworks.actions.orders.logs import LogLine, list_log
from printworks.actions.orders.moves import move_order
from printworks.actions.orders.orders import change_order
from printworks.actions.production.lab_reports import apply_lab_report
from printworks.actions.submission.check import check_submission, require_valid
from printworks.actions.submission.submit import submit_order
from printworks.catalogue.opening import open_catalogue
from printworks.errors import WrongState
from printworks.labs.documents import LabReport
from printworks.rules.orders import OrderStatus, ShippingMethod
from printworks.rules.production import LabState
from printworks.rules.submission import GeneralError
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import NewImage, list_images
from printworks.store.orders.orders import Order, get_order
from printworks.store.orders.shipments import list_shipments
from tests.factories import (
    NOON,
    a_merchant,
    a_system_work,
    a_work,
    a_work_of,
    an_order,
    plan_shipments,
)

_S = OrderStatus
CATALOGUE = open_catalogue(None)
PRINT = "GLOBAL-PHO-4X6-PRO"
ADDRESS = {"address1": "1 High Street", "town_or_city": "York", "postal_code": "YO1 1AA"}


def add_print(db: Connection, merchant: Merchant, **values: Any) -> Order:
    """Add an order with one print."""
    order = an_order(db, merchant, **values)
    new = NewImage(sku=PRINT, url="https://shop.example/cat.jpg", copies=1)
    add_images(a_work(db, merchant, now=NOON, catalogue=CATALOGUE), order, [new])
    return get_order(db, merchant.id, order.id)


class TestTracking:
    def test_an_order_that_wants_it_travels_with_tracking_and_pays_for_it(
        self, database: Database
    ) -> None:
        method = ShippingMethod.BUDGET
        with database.writing() as db:
            merchant = a_merchant(db)
            plain = add_print(db, merchant, shipping_method=method)
            upgraded = add_print(db, merchant, shipping_method=method, is_tracked=True)
            work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE)
            [without] = plan_shipments(work, plain.id)
            [tracked] = plan_shipments(work, upgraded.id)

        assert (without.is_tracked, tracked.is_tracked) == (False, True)
        assert upgraded.shipping_price == 395
        assert plain.shipping_price == 199

    def test_who_wants_it_later_pays_for_it_then(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = add_print(db, merchant, shipping_method=ShippingMethod.BUDGET)
            work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE)
            changed = change_order(work, order, {"is_tracked": True})
            [shipment] = plan_shipments(work, order.id)

        assert shipment.is_tracked
        assert (order.shipping_price, changed.shipping_price) == (199, 395)

    def test_another_method_keeps_the_wish(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = add_print(db, merchant, is_tracked=True)
            change = {"shipping_method": ShippingMethod.BUDGET}
            work = a_work(db, merchant, now=NOON, catalogue=CATALOGUE)
            change_order(work, order, change)
            [shipment] = plan_shipments(work, order.id)

        assert shipment.is_tracked


class TestNamelessParcels:
    @pytest.mark.parametrize("name", [None, ""])
    def test_who_asks_says_whether_a_name_is_needed(
        self, database: Database, name: str | None
    ) -> None:
        with database.writing() as db:
            order = add_print(db, a_merchant(db), recipient_name=name, **ADDRESS)

            strict = check_submission(a_work_of(db, order, catalogue=CATALOGUE), order)
            lenient = check_submission(
                a_work_of(db, order, catalogue=CATALOGUE), order, needs_recipient=False
            )

            assert strict.errors == [GeneralError.POSTAL_ADDRESS_NOT_SET]
            assert lenient.is_valid
            with pytest.raises(WrongState, match="PostalAddressNotSet"):
                require_valid(a_work_of(db, order, catalogue=CATALOGUE), order)
            assert require_valid(
                a_work_of(db, order, catalogue=CATALOGUE), order, needs_recipient=False
            ).is_valid

    @pytest.mark.parametrize("missing", [*ADDRESS])
    def test_the_rest_of_the_address_is_always_needed(
        self, database: Database, missing: str
    ) -> None:
        address = {**ADDRESS, missing: None}
        with database.writing() as db:
            order = add_print(db, a_merchant(db), recipient_name=None, **address)

            status = check_submission(
                a_work_of(db, order, catalogue=CATALOGUE), order, needs_recipient=False
            )

        assert status.errors == [GeneralError.POSTAL_ADDRESS_NOT_SET]


class TestLog:
    def test_it_tells_of_the_creation_and_of_every_move_and_of_nothing_else(
        self, database: Database
    ) -> None:
        hour = timedelta(hours=1)
        with database.writing() as db:
            order = add_print(db, a_merchant(db))
            submitted = move_order(a_work_of(db, order, now=NOON + hour), order, _S.SUBMITTED)
            move_order(a_work_of(db, submitted, now=NOON + 2 * hour), submitted, _S.COMPLETE)

        with database.reading() as db:
            log = list_log(db, order.id)

        assert log == [
            LogLine("Order created", "Order created", NOON),
            LogLine(
                "Status update", "Order updated from NotYetSubmitted to Submitted", NOON + hour
            ),
            LogLine("Status update", "Order updated from Submitted to Complete", NOON + 2 * hour),
        ]

    def test_it_tells_of_what_is_not_printed_where_it_should_be(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = add_print(db, merchant, print_country="ES", **ADDRESS)
            work = a_work(db, merchant, catalogue=CATALOGUE)
            add_images(
                work,
                order,
                [NewImage(sku="EU-CAN-8X10", url="https://shop.example/a.jpg", copies=1)],
            )
            order = get_order(db, merchant.id, order.id)
            images = [image.id for image in list_images(db, order.id)]
            submit_order(work, order)
            [shipment, *_] = list_shipments(db, order.id)
            rejected = LabReport(job=shipment.id, state=LabState.REJECTED)
            apply_lab_report(a_system_work(db, catalogue=CATALOGUE), rejected)

        with database.reading() as db:
            first, second = [
                line.message for line in list_log(db, order.id) if line.title == "Print country"
            ]
        assert first == (
            f"No lab in ES can make and send items {images[0]}, {images[1]} in time, so they are "
            "printed in GB"
        )
        assert second.startswith("No lab in ES can make and send item ")

    def test_each_order_has_its_own(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            kept, cancelled = an_order(db, merchant), an_order(db, merchant)
            move_order(a_work_of(db, cancelled, now=NOON), cancelled, _S.CANCELLED)

        with database.reading() as db:
            assert [line.title for line in list_log(db, kept.id)] == ["Order created"]
