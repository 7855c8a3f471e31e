"""Parts 2.1 and 2.2 of the 3.0 contract: what an order costs, and in which parcels it travels."""

from datetime import datetime, timedelta
from typing import Any, Final

import pytest

from printworks.actions.accounts.merchants import add_merchant
from printworks.catalogue.products import Currency
from printworks.catalogue.services import Carrier
from printworks.rules.events import OrderCharged, OrderMoved, ShipmentsChanged
from printworks.rules.orders import ShippingMethod
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock, an_order
from tests.api.images import PHOTO, add, an_image, create
from tests.api.production import events_of, hear, hear_of, see, see_shipments, set_status, submit
from tests.factories import NOON, a_system_work

TRACKING: Final[dict[str, Any]] = {
    "carrier": "DHL",
    "tracking_number": "LX326237930ZZ",
    "tracking_url": "https://tracking.example/LX326237930ZZ",
}


def total(order: dict[str, Any]) -> int:
    """Add up what an order costs."""
    images = sum(image["price"] * image["copies"] for image in order["images"])
    return int(images + order["shippingInfo"]["price"])


def estimates(shipment: dict[str, Any]) -> tuple[datetime, datetime]:
    """Return between which moments a shipment should arrive."""
    names = ("earliestEstimatedArrivalDate", "latestEstimatedArrivalDate")
    first, last = (datetime.fromisoformat(shipment[name]) for name in names)
    return first, last


class TestBeforeSubmission:
    def test_without_images_there_is_nothing_to_pay_or_to_send(self, v3: Client) -> None:
        order = see(v3, create(v3))

        assert order["price"] == 0
        assert order["shippingInfo"] == {"price": 0, "shipments": []}

    def test_the_first_image_brings_a_price_and_a_plan(self, v3: Client) -> None:
        order_id = create(v3)

        image = add(v3, order_id, copies=3)

        order = see(v3, order_id)
        [shipment] = order["shippingInfo"]["shipments"]
        assert image["price"] > 0
        assert order["images"] == [image]
        assert order["shippingInfo"]["price"] == 199
        assert order["price"] == total(order) == 3 * image["price"] + 199
        assert shipment == {
            "shipmentId": None,
            "isTracked": False,
            "trackingNumber": None,
            "trackingUrl": None,
            "earliestEstimatedArrivalDate": shipment["earliestEstimatedArrivalDate"],
            "latestEstimatedArrivalDate": shipment["latestEstimatedArrivalDate"],
            "shippedOn": None,
            "carrier": None,
            "photoIds": [image["id"]],
            "plannedCarrier": "RoyalMailSecondClass",
        }

    @pytest.mark.both_databases
    def test_a_change_is_answered_with_the_price_and_the_plan_that_it_causes(
        self, v3: Client
    ) -> None:
        order_id = create(v3)
        image = add(v3, order_id)
        add(v3, order_id, sku="MUG-10OZ-WHITE")

        changed = v3.put(f"/orders/{order_id}", an_order(countryCode="DE")).data

        order = see(v3, order_id)
        shipments = order["shippingInfo"]["shipments"]
        assert changed == order == v3.get("/orders").data["content"][0]
        assert order["price"] == total(order)
        assert [image["id"]] in [one["photoIds"] for one in shipments]
        assert len(shipments) == 2

    @pytest.mark.both_databases
    def test_an_order_that_nobody_has_looked_at_is_charged_what_it_costs(self, v3: Client) -> None:
        order_id = create(v3)
        add(v3, order_id, copies=2)
        add(v3, order_id, sku="MUG-10OZ-WHITE")

        assert set_status(v3, order_id, "Submitted").status == 200

        order = see(v3, order_id)
        assert order["price"] == total(order)
        assert len(see_shipments(v3, order_id)) == 2

    def test_estimates_are_whole_days(self, v3: Client) -> None:
        order_id = create(v3)
        add(v3, order_id)

        [shipment] = see_shipments(v3, order_id)

        assert shipment["earliestEstimatedArrivalDate"].endswith("T00:00:00")
        assert shipment["latestEstimatedArrivalDate"].endswith("T23:59:59")
        first, last = estimates(shipment)
        assert NOON.replace(tzinfo=None) < first < last < first + timedelta(days=14)

    def test_every_further_image_is_reckoned_in(self, v3: Client) -> None:
        order_id = create(v3)
        prices = []

        for copies in (1, 49, 1):
            add(v3, order_id, copies=copies)
            prices.append(see(v3, order_id)["shippingInfo"]["price"])

        order = see(v3, order_id)
        # Fifty fit into a letter; the next one begins a second.
        assert prices == [199, 199, 279]
        assert order["price"] == total(order)
        assert see_shipments(v3, order_id)[0]["photoIds"] == [
            image["id"] for image in order["images"]
        ]

    def test_a_batch_is_reckoned_as_a_whole(self, v3: Client) -> None:
        order_id = create(v3)

        v3.post(f"/orders/{order_id}/images/batch", [an_image(copies=2), an_image(copies=5)])

        order = see(v3, order_id)
        assert order["price"] == total(order) > 199
        assert len(order["shippingInfo"]["shipments"]) == 1

    def test_an_image_of_which_nobody_wants_a_copy_travels_nowhere(self, v3: Client) -> None:
        order_id = create(v3)

        image = add(v3, order_id, copies=0)

        order = see(v3, order_id)
        assert image["price"] > 0
        assert order["price"] == 0
        assert order["shippingInfo"] == {"price": 0, "shipments": []}

    @pytest.mark.parametrize("method", ShippingMethod)
    def test_every_method_has_its_price(self, v3: Client, method: ShippingMethod) -> None:
        order_id = create(v3, preferredShippingMethod=method)
        add(v3, order_id)

        order = see(v3, order_id)

        assert order["shippingInfo"]["price"] > 0
        assert order["price"] == total(order)

    def test_a_faster_method_costs_more_and_arrives_earlier(self, v3: Client) -> None:
        order_id = create(v3, preferredShippingMethod="Budget")
        add(v3, order_id)
        slow = see(v3, order_id)

        changed = v3.put(f"/orders/{order_id}", an_order(preferredShippingMethod="Express")).data

        assert changed["price"] == total(changed) > slow["price"]
        [was], [now] = slow["shippingInfo"]["shipments"], changed["shippingInfo"]["shipments"]
        assert estimates(now)[1] < estimates(was)[1]
        assert (now["shipmentId"], now["isTracked"]) == (None, True)
        assert see(v3, order_id) == changed

    @pytest.mark.parametrize("country", ["GB", "DE", "US", "CA", "AU", "NZ", "JP", "MX", "BR"])
    def test_overnight_costs_more_than_express_and_arrives_earlier(
        self, v3: Client, country: str
    ) -> None:
        order_id = create(v3, countryCode=country, preferredShippingMethod="Express")
        add(v3, order_id)
        usual = see(v3, order_id)

        faster = an_order(countryCode=country, preferredShippingMethod="Overnight")
        fast = v3.put(f"/orders/{order_id}", faster).data

        assert fast["shippingInfo"]["price"] > usual["shippingInfo"]["price"]
        [was], [now] = usual["shippingInfo"]["shipments"], fast["shippingInfo"]["shipments"]
        assert estimates(now)[1] < estimates(was)[1]

    def test_another_destination_is_reckoned_anew(self, v3: Client) -> None:
        order_id = create(v3)
        add(v3, order_id)
        near = see(v3, order_id)

        far = v3.put(f"/orders/{order_id}", an_order(countryCode="US")).data

        assert far["price"] == total(far)
        assert far["shippingInfo"] != near["shippingInfo"]
        assert [photo for one in far["shippingInfo"]["shipments"] for photo in one["photoIds"]] == [
            image["id"] for image in far["images"]
        ]

    def test_another_name_changes_no_price(self, v3: Client) -> None:
        order_id = create(v3)
        add(v3, order_id)
        before = see(v3, order_id)

        after = v3.put(f"/orders/{order_id}", an_order(recipientName="Zoë")).data

        assert (after["price"], after["shippingInfo"]) == (before["price"], before["shippingInfo"])

    def test_the_estimates_of_an_old_draft_are_fresh(self, v3: Client, clock: MovableClock) -> None:
        order_id = create(v3)
        add(v3, order_id)
        [planned] = see_shipments(v3, order_id)

        clock.advance(days=14)

        [fresh] = see_shipments(v3, order_id)
        assert estimates(fresh)[0] == estimates(planned)[0] + timedelta(days=14)
        assert estimates(fresh)[1] == estimates(planned)[1] + timedelta(days=14)
        assert fresh["photoIds"] == planned["photoIds"]
        [listed] = v3.get("/orders").data["content"]
        assert listed == see(v3, order_id)

    @pytest.mark.parametrize(
        ("country", "days", "arrives"),
        [
            # Submitted on the 22nd of December, sent on the 23rd; then come the 25th and the 28th.
            ("GB", 37, ("2026-12-24", "2026-12-29")),
            ("GB", 38, ("2026-12-29", "2026-12-30")),
            # The 1st of December is one in Portugal, and none where the lab is.
            ("PT", 9, ("2026-11-30", "2026-12-02")),
            ("PT", 11, ("2026-12-02", "2026-12-03")),
        ],
    )
    def test_nothing_arrives_on_a_public_holiday_of_the_destination(
        self, v3: Client, clock: MovableClock, country: str, days: int, arrives: tuple[str, str]
    ) -> None:
        clock.advance(days=days)
        order_id = create(v3, countryCode=country, preferredShippingMethod="Express")
        add(v3, order_id)
        [shipment] = see_shipments(v3, order_id)
        set_status(v3, order_id, "Submitted")
        [fixed] = see_shipments(v3, order_id)

        for one in (shipment, fixed):
            first, last = estimates(one)
            assert (str(first.date()), str(last.date())) == arrives

    def test_each_merchant_pays_in_its_own_currency(
        self, server: Server, database: Database
    ) -> None:
        prices = {}
        for currency in Currency:
            with database.writing() as db:
                added = add_merchant(
                    a_system_work(db, now=NOON, environment="sandbox"), "Carol", currency=currency
                )
            credentials = {
                "X-Service-MerchantId": added.merchant.code,
                "X-Service-REST-API-Key": added.api_key,
            }
            client = Client(server, "/v3.0", credentials)

            order_id = submit(client)

            order = see(client, order_id)
            [charged] = events_of(database, order_id, OrderCharged)
            assert (charged.amount, charged.currency) == (order["price"], currency.value)
            assert order["price"] == total(order)
            prices[currency] = order["price"]
        assert len(set(prices.values())) > 1


@pytest.mark.both_databases
class TestSeveralParcels:
    @pytest.fixture
    def order_id(self, v3: Client) -> int:
        """An order of several kinds of products, some of them twice."""
        order_id = create(v3)
        skus = [PHOTO, "FRA-INSTA-30X30", "M-STI-3X4", PHOTO, "ART-FAP-MFA-A1"]
        v3.post(f"/orders/{order_id}/images/batch", [an_image(sku=sku) for sku in skus])
        return order_id

    def test_a_mixed_order_is_split_and_every_image_is_in_one_part(
        self, v3: Client, order_id: int
    ) -> None:
        order = see(v3, order_id)

        parcels = order["shippingInfo"]["shipments"]
        assert len(parcels) > 1
        assert sorted(photo for parcel in parcels for photo in parcel["photoIds"]) == [
            image["id"] for image in order["images"]
        ]
        assert order["price"] == total(order)

    def test_submission_changes_neither_the_parts_nor_the_price(
        self, v3: Client, order_id: int
    ) -> None:
        planned = see(v3, order_id)

        set_status(v3, order_id, "Submitted")

        order = see(v3, order_id)
        assert order["price"] == planned["price"]
        numbers = [parcel.pop("shipmentId") for parcel in order["shippingInfo"]["shipments"]]
        assert all(isinstance(number, str) for number in numbers)
        assert len(set(numbers)) == len(numbers)
        for parcel in planned["shippingInfo"]["shipments"]:
            del parcel["shipmentId"]
        assert order["shippingInfo"] == planned["shippingInfo"]

    def test_the_order_is_complete_when_the_last_part_has_left(
        self, v3: Client, database: Database, order_id: int
    ) -> None:
        set_status(v3, order_id, "Submitted")
        first, *others = see_shipments(v3, order_id)

        statuses = []
        for parcel in (first, *others):
            hear_of(database, int(parcel["shipmentId"]), LabState.DISPATCHED)
            statuses.append(see(v3, order_id)["status"])

        assert statuses == ["Submitted"] * len(others) + ["Complete"]


class TestSubmitted:
    @pytest.mark.both_databases
    def test_what_was_quoted_is_charged(self, v3: Client, database: Database) -> None:
        order_id = create(v3)
        add(v3, order_id, copies=7)
        quoted = see(v3, order_id)["price"]

        set_status(v3, order_id, "Submitted")

        [charged] = events_of(database, order_id, OrderCharged)
        assert (charged.amount, charged.currency) == (quoted, "GBP")
        assert see(v3, order_id)["price"] == quoted

    def test_days_later_the_quote_still_holds(
        self, v3: Client, database: Database, clock: MovableClock
    ) -> None:
        order_id = create(v3)
        add(v3, order_id)
        quoted = see(v3, order_id)["price"]
        clock.advance(days=30)

        set_status(v3, order_id, "Submitted")

        [charged] = events_of(database, order_id, OrderCharged)
        assert charged.amount == quoted == see(v3, order_id)["price"]
        [shipment] = see_shipments(v3, order_id)
        assert estimates(shipment)[0] > clock.now.replace(tzinfo=None)

    def test_an_order_that_changed_is_charged_as_it_is_now(
        self, v3: Client, database: Database
    ) -> None:
        order_id = create(v3)
        add(v3, order_id)
        first = see(v3, order_id)["price"]
        add(v3, order_id, copies=4)

        set_status(v3, order_id, "Submitted")

        [charged] = events_of(database, order_id, OrderCharged)
        assert charged.amount == see(v3, order_id)["price"] > first

    def test_a_shipment_gets_its_number_and_keeps_its_plan(self, v3: Client) -> None:
        order_id = create(v3)
        image = add(v3, order_id)
        [planned] = see_shipments(v3, order_id)

        set_status(v3, order_id, "Submitted")

        [shipment] = see_shipments(v3, order_id)
        assert shipment == {**planned, "shipmentId": shipment["shipmentId"]}
        assert shipment["shipmentId"].isdecimal()
        assert shipment["photoIds"] == [image["id"]]

    def test_the_event_tells_of_the_shipments(self, v3: Client, database: Database) -> None:
        order_id = submit(v3)

        [moved] = events_of(database, order_id, OrderMoved)
        [shipment] = see_shipments(v3, order_id)
        [fact] = moved.shipments
        assert (str(fact.id), fact.items, fact.is_shipped) == (
            shipment["shipmentId"],
            shipment["photoIds"],
            False,
        )

    def test_estimates_do_not_move_any_more(self, v3: Client, clock: MovableClock) -> None:
        order_id = submit(v3)
        before = see_shipments(v3, order_id)

        clock.advance(days=5)

        assert see_shipments(v3, order_id) == before

    @pytest.mark.both_databases
    def test_a_dispatched_shipment_can_be_followed(self, v3: Client, database: Database) -> None:
        order_id = submit(v3)
        [before] = see_shipments(v3, order_id)

        hear(database, v3, order_id, LabState.DISPATCHED, **TRACKING)

        order = see(v3, order_id)
        assert order["status"] == "Complete"
        assert order["shippingInfo"]["shipments"] == [
            {
                **before,
                "trackingNumber": TRACKING["tracking_number"],
                "trackingUrl": TRACKING["tracking_url"],
                "shippedOn": "2026-11-15T12:00:00.000",
                "carrier": "DHL",
                "plannedCarrier": None,
            }
        ]
        [changed] = events_of(database, order_id, ShipmentsChanged)
        assert [(fact.is_shipped, fact.carrier) for fact in changed.shipments] == [(True, "DHL")]

    def test_until_it_is_dispatched_its_carrier_is_only_planned(
        self, v3: Client, database: Database
    ) -> None:
        order_id = submit(v3)
        for state in (None, LabState.ACCEPTED, LabState.IN_PRODUCTION):
            if state is not None:
                hear(database, v3, order_id, state, carrier="DHL")
            [shipment] = see_shipments(v3, order_id)
            planned = "DHL" if state else "RoyalMailSecondClass"
            assert (shipment["carrier"], shipment["plannedCarrier"]) == (None, planned)
        told = [
            each
            for kind in (OrderMoved, ShipmentsChanged)
            for each in events_of(database, order_id, kind)
        ]
        assert [fact.carrier for each in told for fact in each.shipments] == [None] * 3

    @pytest.mark.parametrize(
        ("said", "shown"),
        [(carrier.value, carrier.value) for carrier in Carrier]
        + [("dhl", "DHL"), ("Pigeon Post", "NotKnown"), (None, "RoyalMailSecondClass")],
    )
    def test_only_the_carriers_of_the_contract_are_shown(
        self, v3: Client, database: Database, said: str | None, shown: str
    ) -> None:
        order_id = submit(v3)

        hear(database, v3, order_id, LabState.DISPATCHED, carrier=said)

        assert [one["carrier"] for one in see_shipments(v3, order_id)] == [shown]

    @pytest.mark.parametrize("state", [LabState.ACCEPTED, LabState.IN_PRODUCTION])
    def test_before_it_is_dispatched_nothing_of_it_changes(
        self, v3: Client, database: Database, state: LabState
    ) -> None:
        order_id = submit(v3)
        before = see(v3, order_id)

        hear(database, v3, order_id, state)

        after = see(v3, order_id)
        assert (after["status"], after["shippingInfo"]) == ("Submitted", before["shippingInfo"])

    def test_a_failure_is_told_on_the_order(self, v3: Client, database: Database) -> None:
        order_id = submit(v3)

        hear(database, v3, order_id, LabState.FAILED, reason="The paper jammed.")

        order = see(v3, order_id)
        [shipment] = order["shippingInfo"]["shipments"]
        assert order["status"] == "Submitted"
        assert shipment["shipmentId"] in order["errorMessage"]

    def test_the_nineteen_carriers_of_the_contract_are_known(self) -> None:
        assert len(Carrier) == 19
        assert {"EuPostal", "AirMail", "NotKnown"} <= {carrier.value for carrier in Carrier}


class TestListing:
    def test_the_list_shows_what_each_order_shows(self, v3: Client, database: Database) -> None:
        complete, submitted, draft, empty = submit(v3), submit(v3), create(v3), create(v3)
        hear(database, v3, complete, LabState.DISPATCHED, **TRACKING)
        add(v3, draft)
        cancelled = submit(v3)
        set_status(v3, cancelled, "Cancelled")

        listed = v3.get("/orders").data["content"]

        expected = [cancelled, empty, draft, submitted, complete]
        assert [order["id"] for order in listed] == expected
        assert listed == [see(v3, order_id) for order_id in expected]

    def test_a_part_of_the_list_shows_the_same(self, v3: Client) -> None:
        orders = [submit(v3) for _ in range(4)]

        listed = v3.get("/orders?start=1&limit=2").data["content"]

        assert listed == [see(v3, order_id) for order_id in (orders[2], orders[1])]

    def test_nobody_sees_anothers_shipments(self, v3: Client, somebody_else: Client) -> None:
        submit(v3)
        theirs = submit(somebody_else)

        assert [order["id"] for order in somebody_else.get("/orders").data["content"]] == [theirs]


@pytest.mark.both_databases
class TestCancelled:
    def test_a_draft_costs_nothing_and_travels_nowhere(
        self, v3: Client, clock: MovableClock
    ) -> None:
        order_id = create(v3)
        add(v3, order_id)

        set_status(v3, order_id, "Cancelled")

        clock.advance(days=3)
        order = see(v3, order_id)
        assert order["price"] == 0
        assert order["shippingInfo"] == {"price": 0, "shipments": []}

    def test_a_submitted_order_costs_nothing_and_travels_nowhere(self, v3: Client) -> None:
        order_id = submit(v3)

        set_status(v3, order_id, "Cancelled")

        order = see(v3, order_id)
        assert order["price"] == 0
        assert order["shippingInfo"] == {"price": 0, "shipments": []}
        assert [image["price"] > 0 for image in order["images"]] == [True]
