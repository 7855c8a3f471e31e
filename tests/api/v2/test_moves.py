"""Orders on their way through the older versions: Status for all, and three doors that 2.6 added."""

from typing import Any

import pytest
from sqlalchemy import select

from printworks.api.orders import MOST_SHOWN_AT_ONCE
from printworks.rules.orders import OrderStatus
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.tables import payment_requests
from printworks.store.views.console.jobs import JobFilter, list_jobs
from tests.api.client import Client
from tests.api.images import move
from tests.api.production import hear_of
from tests.api.v2.shop import ADDRESS, a_photo, add, create, see, seen, set_status, submit

ORDER = "An order that is {} cannot become {}."
ELSEWHERE = {"address1": "2 Low Street", "addressTownOrCity": "Leeds", "postalOrZipCode": "LS1 1AA"}


def begin_production(database: Database, order: dict[str, Any]) -> None:
    """Let the labs accept every shipment of an order and begin with it."""
    for shipment in order["shippingInfo"]["shipments"]:
        hear_of(database, int(shipment["shipmentId"]), LabState.IN_PRODUCTION)


@pytest.mark.every_version
class TestStatus:
    @pytest.mark.both_databases
    def test_an_order_is_submitted_with_nothing_to_show(self, v2: Client) -> None:
        order_id = create(v2)
        add(v2, order_id)

        answer = v2.post_form(f"/orders/{order_id}/status/", {"STATUS": "submitted"})

        assert (answer.status, answer.json()) == (200, {"errorMessage": None})
        assert see(v2, order_id)["status"] == "Submitted"

    @pytest.mark.parametrize("method", ["post", "post_form"])
    def test_a_recipient_can_be_let_pay(self, v2: Client, method: str) -> None:
        order_id = create(v2, payment="InvoiceRecipient")
        # Less than it costs the merchant, who pays the difference.
        add(v2, order_id, priceToUser=1)
        assert v2.get(f"/Orders/{order_id}/SubmissionStatus").json()["isValid"] is True

        send = getattr(v2, method)
        answer = send(f"/Orders/{order_id}/Status", {"status": "AwaitingPayment"})

        assert answer.status == 200
        shown = see(v2, order_id)
        assert shown["status"] == "AwaitingPayment"
        assert shown["paymentUrl"].startswith("https://print.example/pay/")

    def test_what_a_recipient_pays_for_is_not_submitted(self, v2: Client) -> None:
        order_id = create(v2, payment="InvoiceRecipient")
        add(v2, order_id)

        answer = set_status(v2, order_id, "Submitted")

        assert answer.status == 400
        assert "AwaitingPayment" in answer.error

    def test_what_the_merchant_pays_for_waits_for_nobody(self, v2: Client) -> None:
        order_id = create(v2)
        add(v2, order_id)

        assert set_status(v2, order_id, "AwaitingPayment").status == 403

    @pytest.mark.parametrize("status", ["Complete", "", "Lost"])
    def test_no_other_status_can_be_wished_for(self, v2: Client, status: str) -> None:
        answer = set_status(v2, create(v2), status)

        assert answer.status == 400
        assert "`status`" in answer.error

    def test_a_submitted_order_is_not_cancelled_this_way(self, v2: Client) -> None:
        order_id = submit(v2)

        answer = set_status(v2, order_id, "Cancelled")

        assert (answer.status, answer.error) == (403, ORDER.format("Submitted", "Cancelled"))
        assert see(v2, order_id)["status"] == "Submitted"

    @pytest.mark.parametrize("status", [OrderStatus.COMPLETE, OrderStatus.CANCELLED])
    @pytest.mark.parametrize("wanted", ["Submitted", "Cancelled", "AwaitingPayment"])
    def test_what_has_ended_moves_no_more(
        self, v2: Client, database: Database, status: OrderStatus, wanted: str
    ) -> None:
        order_id = create(v2)
        move(database, order_id, status)

        answer = set_status(v2, order_id, wanted)

        assert (answer.status, answer.error) == (403, ORDER.format(status, wanted))

    def test_a_cancelled_order_costs_nothing(self, v2: Client) -> None:
        order_id = create(v2)
        add(v2, order_id)

        assert set_status(v2, order_id, "Cancelled").status == 200
        shown = see(v2, order_id)
        assert (shown["status"], shown["price"]) == ("Cancelled", 0)
        assert shown["shippingInfo"] == {"price": 0, "shipments": []}

    def test_a_payment_that_must_be_authorised_is_told_without_an_envelope(
        self, v2: Client, database: Database
    ) -> None:
        order_id = create(v2, destinationCountryCode="FR")
        add(v2, order_id)

        answer = set_status(v2, order_id, "Submitted")

        with database.reading() as db:
            key = db.execute(select(payment_requests.c.key)).scalar_one()
        assert answer.status == 402
        assert answer.json() == {
            "url": f"https://print.example/payments/{key}",
            "paymentRequest": 1,
            "errorMessage": "Payment Authorization Required",
        }
        assert see(v2, order_id)["status"] == "AwaitingPayment"
        assert set_status(v2, order_id, "Submitted").body == answer.body


class TestCancelling:
    @pytest.mark.both_databases
    def test_a_submitted_order_can_be_cancelled_before_a_lab_begins(self, v2_6: Client) -> None:
        order_id = submit(v2_6)

        cancelled = seen(v2_6.post(f"/Orders/{order_id}/Cancel"))

        assert cancelled["status"] == "Cancelled"
        assert cancelled == see(v2_6, order_id)

    def test_without_its_answer_nothing_is_cancelled_however_large_it_is(
        self, v2_6: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        order_id = create(v2_6)
        photos = [a_photo()] * (MOST_SHOWN_AT_ONCE + 1)
        seen(v2_6.post(f"/Orders/{order_id}/Photos/Batch", photos))
        see(v2_6, order_id)

        def fail(*_: Any) -> None:
            raise OSError("no memory")

        with monkeypatch.context() as broken:
            broken.setattr("printworks.api.answers.render", fail)
            refused = v2_6.post(f"/Orders/{order_id}/Cancel")

        assert refused.status >= 500
        assert see(v2_6, order_id)["status"] == "NotYetSubmitted"

    def test_once_a_lab_has_begun_it_is_a_bad_request(
        self, v2_6: Client, database: Database
    ) -> None:
        order_id = submit(v2_6)
        begin_production(database, see(v2_6, order_id))

        answer = v2_6.post(f"/Orders/{order_id}/Cancel")

        assert answer.status == 400
        assert "Submitted" in answer.error
        assert set(answer.json()) == set(see(v2_6, order_id))

    @pytest.mark.parametrize("status", [OrderStatus.COMPLETE, OrderStatus.CANCELLED])
    @pytest.mark.parametrize(("path", "refusal"), [("Cancel", 400), ("Status", 403)])
    def test_the_same_refusal_has_the_status_of_its_door(
        self, v2_6: Client, database: Database, status: OrderStatus, path: str, refusal: int
    ) -> None:
        order_id = create(v2_6)
        move(database, order_id, status)

        answer = v2_6.post(f"/Orders/{order_id}/{path}", {"status": "Cancelled"})

        assert (answer.status, answer.error) == (refusal, ORDER.format(status, "Cancelled"))


@pytest.mark.both_databases
def test_what_is_cancelled_downloads_nothing_more(v2_6: Client, database: Database) -> None:
    cancelled, other = create(v2_6), create(v2_6)
    for order_id in (cancelled, other):
        add(v2_6, order_id)

    seen(v2_6.post(f"/Orders/{cancelled}/Cancel"))

    with database.reading() as db:
        states = [job.state for job in list_jobs(db, JobFilter(kind="fetch-image"), limit=9)]
    assert states == ["due", "cancelled"]


class TestHolding:
    @pytest.mark.both_databases
    def test_a_held_order_can_be_held_no_more_until_it_is_submitted(self, v2_6: Client) -> None:
        order_id = create(v2_6)
        add(v2_6, order_id)

        held = seen(v2_6.post(f"/Orders/{order_id}/Hold"))
        again = v2_6.post(f"/Orders/{order_id}/Hold")

        assert (held["status"], held["canHold"]) == ("NotYetSubmitted", False)
        assert again.status == 400
        assert set_status(v2_6, order_id, "Submitted").status == 200

    def test_a_submitted_order_cannot_be_held(self, v2_6: Client) -> None:
        """The labs of the usual catalogue allow it no more."""
        order_id = submit(v2_6)
        before = see(v2_6, order_id)

        answer = v2_6.post(f"/Orders/{order_id}/Hold")

        assert (answer.status, before["canHold"]) == (400, False)
        assert "Submitted" in answer.error
        assert see(v2_6, order_id) == before

    def test_what_has_ended_cannot_be_held(self, v2_6: Client, database: Database) -> None:
        order_id = create(v2_6)
        move(database, order_id, OrderStatus.COMPLETE)

        answer = v2_6.post(f"/Orders/{order_id}/Hold")

        assert answer.status == 400
        assert "Complete" in answer.error


class TestShipping:
    @pytest.mark.parametrize("begin", [create, submit])
    @pytest.mark.both_databases
    def test_an_order_can_be_sent_elsewhere_and_faster(self, v2_6: Client, begin: Any) -> None:
        order_id = begin(v2_6)

        changed = seen(
            v2_6.post(
                f"/Orders/{order_id}/Shipping",
                {**ELSEWHERE, "preferredShippingMethod": "priority"},
            )
        )

        assert {name: changed[name] for name in ELSEWHERE} == ELSEWHERE
        assert changed["preferredShippingMethod"] == "PRIORITY"
        assert changed == see(v2_6, order_id)

    def test_what_is_left_out_or_empty_stays(self, v2_6: Client) -> None:
        order_id = submit(v2_6, address2="Flat 2")

        changed = seen(v2_6.post(f"/Orders/{order_id}/Shipping", {"address1": "", "address2": ""}))

        assert (changed["address1"], changed["address2"]) == (ADDRESS["address1"], None)

    def test_a_wrong_method_is_named(self, v2_6: Client) -> None:
        answer = v2_6.post(
            f"/Orders/{create(v2_6)}/Shipping", {"preferredShippingMethod": "by foot"}
        )

        assert answer.status == 400
        assert "`preferredShippingMethod`" in answer.error

    def test_once_a_lab_has_begun_it_is_a_bad_request(
        self, v2_6: Client, database: Database
    ) -> None:
        order_id = submit(v2_6)
        begin_production(database, see(v2_6, order_id))

        answer = v2_6.post(f"/Orders/{order_id}/Shipping", ELSEWHERE)

        assert answer.status == 400
        assert "Submitted" in answer.error
        assert see(v2_6, order_id)["address1"] == ADDRESS["address1"]


@pytest.mark.parametrize("path", ["Hold", "Shipping", "Cancel"])
@pytest.mark.parametrize("version", ["2.3", "2.5"], indirect=True)
def test_the_doors_of_2_6_are_not_there_before(v2: Client, path: str) -> None:
    answer = v2.post(f"/Orders/{create(v2)}/{path}")

    assert (answer.status, answer.json()) == (
        404,
        {"errorMessage": "There is nothing at this address."},
    )


@pytest.mark.parametrize("path", ["Hold", "Shipping", "Cancel"])
@pytest.mark.parametrize("version", ["2.6"], indirect=True)
def test_somebody_elses_order_is_not_found(v2: Client, somebody_else: Client, path: str) -> None:
    assert somebody_else.post(f"/Orders/{create(v2)}/{path}").status == 404


@pytest.mark.every_version
def test_the_carrier_is_only_planned_until_the_parcel_is_dispatched(
    v2: Client, database: Database
) -> None:
    order_id = submit(v2)
    [before] = see(v2, order_id)["shippingInfo"]["shipments"]

    hear_of(database, int(before["shipmentId"]), LabState.DISPATCHED)

    [after] = see(v2, order_id)["shippingInfo"]["shipments"]
    assert before["carrier"] is after["plannedCarrier"] is None
    assert before["plannedCarrier"] == after["carrier"] != "NotKnown"


@pytest.mark.both_databases
def test_the_log_tells_of_every_move(v2: Client) -> None:
    order_id = submit(v2)

    lines = seen(v2.get(f"/Orders/{order_id}/Logs"))["logs"]

    assert [(line["title"], line["message"]) for line in lines] == [
        ("Order created", "Order created"),
        ("Status update", "Order updated from NotYetSubmitted to Submitted"),
    ]
