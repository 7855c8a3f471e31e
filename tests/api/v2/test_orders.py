"""Orders through the older versions: make, change, list; what they take and what they leave out."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select

from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.store.engine.database import Database
from printworks.store.tables import ledger_entries, orders
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.conftest import an_order as an_order_of_3_0
from tests.api.images import judge, move
from tests.api.v2.shop import (
    ADDRESS,
    add,
    an_order,
    create,
    put_in_query,
    see,
    seen,
    set_status,
    submit,
)
from tests.sellers import sell

REQUIRED = ("recipientName", "destinationCountryCode", "countryCode", "payment", "qualityLevel")
NOT_FOUND = "The order with the specified id was not found"
ALL_VERSIONS = ("2.3", "2.5", "2.6")


@pytest.mark.every_version
@pytest.mark.parametrize(("is_gross", "parts"), [(False, 1.2), (True, 1)])
def test_the_price_is_what_is_charged_with_tax(
    v2: Client, database: Database, is_gross: bool, parts: float
) -> None:
    untaxed = see(v2, submit(v2))["price"]
    sell(database, is_gross=is_gross)

    order_id = submit(v2)

    shown = see(v2, order_id)
    assert shown["price"] == round(untaxed * parts)
    with database.reading() as db:
        # What each card payment brings is what its charge takes.
        balances = select(ledger_entries.c.balance).order_by(ledger_entries.c.number)
        assert list(db.scalars(balances)) == [-untaxed, 0, -shown["price"], 0]
    assert not {"tax", "total"} & shown.keys()


@pytest.mark.every_version
class TestCreating:
    def test_the_print_country_is_not_the_destination(self, v2: Client) -> None:
        created = seen(v2.post("/Orders", an_order(countryCode="US", destinationCountryCode="CA")))

        assert (created["countryCode"], created["destinationCountryCode"]) == ("US", "CA")

    @pytest.mark.parametrize("name", REQUIRED)
    def test_what_is_required_must_be_there(self, v2: Client, name: str) -> None:
        order = an_order()
        del order[name]

        answer = v2.post("/Orders", order)

        assert answer.status == 400
        assert answer.error == f"`{name}` is required."

    def test_everything_that_is_missing_is_named_at_once(self, v2: Client) -> None:
        answer = v2.post("/Orders", {"countryCode": "GB", "payment": "InvoiceMe"})

        assert (answer.status, answer.error) == (
            400,
            "`recipientName`, `destinationCountryCode` and `qualityLevel` are required.",
        )

    @pytest.mark.parametrize("nothing", ["", None])
    def test_what_is_required_may_be_empty_and_come_later(self, v2: Client, nothing: Any) -> None:
        order_id = seen(v2.post("/Orders", dict.fromkeys(REQUIRED, nothing)))["id"]

        filled = seen(v2.put(f"/Orders/{order_id}", an_order(payment="InvoiceRecipient")))

        shown = {name: filled[name] for name in REQUIRED}
        assert shown == an_order(payment="InvoiceRecipient")

    def test_a_form_is_as_good_as_json(self, v2: Client) -> None:
        form = an_order(recipientName="", payment="", qualityLevel="PRO", useTrackedShipping="true")

        created = seen(v2.post_form("/Orders", form))

        assert (created["recipientName"], created["payment"]) == (None, "InvoiceMe")
        assert created["qualityLevel"] == "Pro"

    def test_names_of_members_are_read_in_any_case(self, v2: Client) -> None:
        given = {name.upper(): value for name, value in an_order(**ADDRESS).items()}

        assert seen(v2.post("/orders/", given))["address1"] == ADDRESS["address1"]

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("destinationCountryCode", "QQ"),
            ("countryCode", "QQ"),
            ("payment", "Cash"),
            ("qualityLevel", "Best"),
            ("useTrackedShipping", "perhaps"),
        ],
    )
    def test_what_is_wrong_is_named(self, v2: Client, name: str, value: str) -> None:
        answer = v2.post("/Orders", an_order(**{name: value}))

        assert answer.status == 400
        assert f"`{name}`" in answer.error

    def test_members_of_later_versions_are_unknown_to_the_first(
        self, v2_3: Client, v2_6: Client
    ) -> None:
        later = {"merchantOrderId": "A-1", "preferredShippingMethod": "by foot"}

        order_id = seen(v2_3.post("/Orders", an_order(**later)))["id"]

        assert see(v2_6, order_id)["merchantOrderId"] is None
        assert v2_6.post("/Orders", an_order(**later)).status == 400

    @pytest.mark.parametrize(
        ("wanted", "meant", "shown"),
        [
            ("CHEAPEST", "Budget", "CHEAPEST"),
            ("priority", "Express", "PRIORITY"),
            (None, "Budget", "CHEAPEST"),
        ],
    )
    def test_two_methods_stand_for_four(
        self, v2_5: Client, v3: Client, wanted: str | None, meant: str, shown: str
    ) -> None:
        created = seen(v2_5.post("/Orders", an_order(preferredShippingMethod=wanted)))

        assert created["preferredShippingMethod"] == shown
        told = v3.get(f"/orders/{created['id']}").data
        assert told["preferredShippingMethod"] == meant

    def test_callbacks_are_written_in_the_words_of_the_version_that_made_the_order(
        self, v2: Client, version: str, database: Database
    ) -> None:
        order_id = create(v2)

        with database.reading() as db:
            found = select(orders.c.callback_format).where(orders.c.id == order_id)
            assert db.execute(found).scalar_one() == version

    def test_a_tracked_service_can_be_wished_for(self, v2: Client) -> None:
        order_id = create(v2, useTrackedShipping="TRUE")
        add(v2, order_id)

        [shipment] = see(v2, order_id)["shippingInfo"]["shipments"]
        assert shipment["isTracked"] is True


class TestChanging:
    @pytest.mark.both_databases
    @pytest.mark.every_version
    def test_a_single_field_changes_nothing_else(self, v2: Client) -> None:
        order_id = create(v2)
        before = see(v2, order_id)

        after = seen(v2.put(f"/Orders/{order_id}", {"address1": "2 High Street"}))

        assert after == {**before, "address1": "2 High Street"}

    def test_the_fields_may_be_in_the_query_string(self, v2: Client) -> None:
        order_id = create(v2)

        changed = seen(put_in_query(v2, f"/Orders/{order_id}", recipientName="Ann Lee"))

        assert changed["recipientName"] == "Ann Lee"
        assert changed["address1"] == ADDRESS["address1"]

    def test_null_keeps_what_is_stored_and_empty_text_clears_it(self, v2: Client) -> None:
        order_id = create(v2, address2="Flat 2")

        changed = seen(v2.put(f"/Orders/{order_id}", {"address1": None, "address2": ""}))

        assert (changed["address1"], changed["address2"]) == (ADDRESS["address1"], None)

    @pytest.mark.parametrize("name", ["payment", "qualityLevel", "useTrackedShipping"])
    @pytest.mark.every_version
    def test_null_keeps_a_choice_and_empty_text_takes_it_back(self, v2: Client, name: str) -> None:
        chosen = {"payment": "InvoiceRecipient", "qualityLevel": "Pro", "useTrackedShipping": True}
        order_id = create(v2, **chosen)
        add(v2, order_id)
        before = _see_choices(v2, order_id)

        seen(v2.put(f"/Orders/{order_id}", {name: None}))
        kept = _see_choices(v2, order_id)
        seen(put_in_query(v2, f"/Orders/{order_id}", **{name: ""}))

        taken_back = {"payment": "InvoiceMe", "qualityLevel": None, "useTrackedShipping": False}
        assert before == kept == chosen
        assert _see_choices(v2, order_id) == {**chosen, name: taken_back[name]}

    @pytest.mark.parametrize("version", ["2.5", "2.6"], indirect=True)
    def test_an_empty_method_is_the_usual_one(self, v2: Client) -> None:
        order_id = create(v2, preferredShippingMethod="PRIORITY")

        kept = seen(v2.put(f"/Orders/{order_id}", {"preferredShippingMethod": None}))
        cleared = seen(v2.put(f"/Orders/{order_id}", {"preferredShippingMethod": ""}))

        assert kept["preferredShippingMethod"] == "PRIORITY"
        assert cleared["preferredShippingMethod"] == "CHEAPEST"

    @pytest.mark.parametrize("method", ["Budget", "Standard", "Express", "Overnight"])
    @pytest.mark.every_version
    def test_a_whole_order_may_be_sent_back_and_changes_nothing(
        self, v2: Client, v3: Client, method: str
    ) -> None:
        made = an_order_of_3_0(preferredShippingMethod=method, merchantOrderId="A-1")
        order_id = v3.post("/orders", made).data["id"]
        before = v3.get(f"/orders/{order_id}").data

        seen(v2.put(f"/Orders/{order_id}", see(v2, order_id)))

        assert v3.get(f"/orders/{order_id}").data == before

    def test_only_an_open_order_can_be_changed(self, v2: Client) -> None:
        order_id = submit(v2)

        answer = v2.put(f"/Orders/{order_id}", {"recipientName": "Ann Lee"})

        assert answer.status == 403
        assert "Submitted" in answer.error
        assert set(answer.json()) == set(see(v2, order_id))

    def test_what_is_wrong_is_refused(self, v2: Client) -> None:
        order_id = create(v2)

        assert v2.put(f"/Orders/{order_id}", {"payment": "Cash"}).status == 400
        assert v2.put(f"/Orders/{order_id}", {"address1": "x" * 256}).status == 400


def _see_choices(client: Client, order_id: int) -> dict[str, Any]:
    order = see(client, order_id)
    [shipment] = order["shippingInfo"]["shipments"]
    shown = {name: order[name] for name in ("payment", "qualityLevel")}
    return {**shown, "useTrackedShipping": shipment["isTracked"]}


@pytest.mark.both_databases
class TestListing:
    @pytest.mark.every_version
    def test_the_newest_comes_first(self, v2: Client) -> None:
        numbers = [create(v2) for _ in range(3)]

        assert [each["id"] for each in seen(v2.get("/Orders"))] == numbers[::-1]

    @pytest.mark.every_version
    def test_each_is_shown_as_it_is_shown_alone(self, v2: Client) -> None:
        order_id = create(v2)
        add(v2, order_id)

        assert seen(v2.get("/Orders")) == [see(v2, order_id)]

    @pytest.mark.every_version
    def test_others_orders_are_not_in_it(self, v2: Client, somebody_else: Client) -> None:
        create(v2)

        assert seen(somebody_else.get("/Orders")) == []

    def test_the_first_version_shows_all_whatever_is_asked(self, v2_3: Client) -> None:
        for _ in range(3):
            create(v2_3)

        assert len(seen(v2_3.get("/Orders?count=1&offset=1&orderStatus=Cancelled"))) == 3
        assert len(seen(v2_3.get("/Orders?count=many"))) == 3

    @pytest.mark.parametrize("version", ["2.5", "2.6"], indirect=True)
    def test_later_versions_show_a_page(self, v2: Client) -> None:
        numbers = [create(v2) for _ in range(4)]

        page = seen(v2.get("/Orders?count=2&offset=1"))

        assert [each["id"] for each in page] == [numbers[2], numbers[1]]
        assert len(seen(v2.get("/Orders?count=999&offset=-1"))) == 4
        assert seen(v2.get("/Orders?COUNT=0")) == []
        assert len(seen(v2.get("/Orders?"))) == 4

    @pytest.mark.parametrize("version", ["2.5", "2.6"], indirect=True)
    def test_later_versions_show_only_one_status_or_one_reference(self, v2: Client) -> None:
        first, second = create(v2, merchantOrderId="A-1"), create(v2, merchantOrderId="A-2")
        set_status(v2, first, "Cancelled")

        def numbers(query: str) -> list[int]:
            return [each["id"] for each in seen(v2.get(f"/Orders?{query}"))]

        assert numbers("orderStatus=cancelled") == [first]
        assert numbers("orderStatus=NotYetSubmitted") == [second]
        assert numbers("merchantOrderId=A-2") == [second]
        assert numbers("merchantOrderId=A-2&orderStatus=Cancelled") == []
        assert numbers("orderStatus=&merchantOrderId=") == [second, first]

    @pytest.mark.parametrize("version", ["2.5", "2.6"], indirect=True)
    @pytest.mark.parametrize(
        "query",
        [
            "count=many",
            "count=1e2",
            "offset=1.5",
            "offset=1e0",
            "orderStatus=Lost",
            f"merchantOrderId={'x' * 256}",
        ],
    )
    def test_a_wrong_parameter_is_named(self, v2: Client, query: str) -> None:
        answer = v2.get(f"/Orders?{query}")

        assert answer.status == 400
        assert f"`{query.partition('=')[0]}`" in answer.error
        assert answer.json()["id"] is None


class TestValidating:
    def test_a_recipient_without_a_name_is_one(self, v2: Client) -> None:
        order_id = create(v2, recipientName="")
        add(v2, order_id)

        assert seen(v2.get(f"/Orders/{order_id}/SubmissionStatus"))["isValid"] is True
        assert set_status(v2, order_id, "Submitted").status == 200

    def test_what_has_no_code_here_is_said_in_words(self, v2: Client, v3: Client) -> None:
        order_id = create(v2)
        nothing = {"sku": "GLOBAL-PHO-4X6-PRO", "url": "https://shop.example/a.jpg", "copies": 0}
        image_id = v3.post(f"/orders/{order_id}/images", nothing).data["id"]

        status = seen(v2.get(f"/Orders/{order_id}/SubmissionStatus"))
        answer = set_status(v2, order_id, "Submitted")

        assert status["generalErrors"] == ["ItemsContainingErrors"]
        [photo] = status["photos"]
        assert (photo["id"], photo["errors"]) == (image_id, [])
        assert photo["errorMessage"] == "The photo has no copies."
        assert (answer.status, answer.error) == (
            403,
            "The order cannot be submitted: ItemsContainingErrors, "
            f"photo {image_id} has no copies.",
        )

    def test_a_photo_without_a_destination_is_not_to_blame(self, v2: Client) -> None:
        order_id = create(v2, destinationCountryCode="")
        add(v2, order_id)

        status = seen(v2.get(f"/Orders/{order_id}/SubmissionStatus"))

        assert status["generalErrors"] == ["PostalAddressNotSet"]

    @pytest.mark.parametrize(
        "status", [OrderStatus.SUBMITTED, OrderStatus.COMPLETE, OrderStatus.CANCELLED]
    )
    def test_an_order_that_is_no_longer_open_says_so(
        self, v2: Client, database: Database, status: OrderStatus
    ) -> None:
        order_id = create(v2)
        add(v2, order_id)
        move(database, order_id, status)

        found = seen(v2.get(f"/Orders/{order_id}/SubmissionStatus"))

        assert found["isValid"] is False
        assert found["errorMessage"] == (
            f"The order is {status}; only one that is NotYetSubmitted can be submitted."
        )

    def test_the_refusal_to_submit_lists_the_codes(self, v2: Client, database: Database) -> None:
        order_id = seen(v2.post("/Orders", an_order()))["id"]
        judge(database, add(v2, order_id)["id"], ImageStatus.INVALID)

        answer = set_status(v2, order_id, "Submitted")

        assert answer.status == 403
        for code in ("ItemsContainingErrors", "PostalAddressNotSet", "InvalidImageFile"):
            assert code in answer.error


@pytest.mark.every_version
class TestAcrossVersions:
    @pytest.mark.parametrize("reader", ALL_VERSIONS)
    def test_an_order_of_one_version_can_be_read_in_another(self, v2: Client, reader: str) -> None:
        order_id = create(v2)
        add(v2, order_id)

        other = replace(v2, prefix=f"/v{reader}")

        assert see(other, order_id)["photos"] == see(v2, order_id)["photos"]
        assert [each["id"] for each in seen(other.get("/Orders"))] == [order_id]

    def test_an_order_of_3_0_can_be_read_and_goes_on(self, v2: Client, v3: Client) -> None:
        order_id = v3.post("/orders", an_order_of_3_0()).data["id"]
        image = {"sku": "GLOBAL-PHO-4X6-PRO", "url": "https://shop.example/a.jpg", "copies": 1}
        v3.post(f"/orders/{order_id}/images", image)

        shown = see(v2, order_id)

        assert (shown["destinationCountryCode"], shown["countryCode"]) == ("GB", None)
        assert [photo["type"] for photo in shown["photos"]] == ["4x6"]
        assert add(v2, order_id)["type"] == "4x6"

    def test_an_order_can_be_read_in_3_0(self, v2: Client, v3: Client) -> None:
        order_id = create(v2, countryCode="DE")
        add(v2, order_id)

        shown = v3.get(f"/orders/{order_id}").data

        assert shown["countryCode"] == "GB"
        assert [image["sku"] for image in shown["images"]] == ["GLOBAL-PHO-4X6-PRO"]


class TestStrangers:
    @pytest.mark.parametrize(
        "path", ["", "/SubmissionStatus", "/Photos", "/Photos/1", "/Logs", "/Issues", "/Issues/1"]
    )
    @pytest.mark.every_version
    def test_somebody_elses_order_does_not_exist(
        self, v2: Client, somebody_else: Client, path: str
    ) -> None:
        order_id = create(v2)
        add(v2, order_id)

        theirs = somebody_else.get(f"/Orders/{order_id}{path}")
        nobodys = somebody_else.get(f"/Orders/999{path}")

        assert theirs.status == 404
        assert theirs.body == nobodys.body

    def test_nobody_changes_somebody_elses_order(self, v2: Client, somebody_else: Client) -> None:
        order_id = create(v2)
        photo_id = add(v2, order_id)["id"]
        before = see(v2, order_id)

        answers = [
            somebody_else.put(f"/Orders/{order_id}", {"recipientName": "Bob"}),
            set_status(somebody_else, order_id, "Cancelled"),
            somebody_else.post(f"/Orders/{order_id}/Photos", {"type": "4x6", "copies": 1}),
            somebody_else.post(f"/Orders/{order_id}/Photos/Batch", []),
            somebody_else.delete(f"/Orders/{order_id}/Photos/{photo_id}"),
        ]

        assert {answer.status for answer in answers} == {404}
        assert {answer.error for answer in answers} == {NOT_FOUND}
        assert see(v2, order_id) == before


def test_times_are_shown_to_the_millisecond_without_a_zone(
    v2_5: Client, clock: MovableClock
) -> None:
    order_id = create(v2_5)
    clock.advance(seconds=1.5)

    changed = seen(v2_5.put(f"/Orders/{order_id}", {"recipientName": "Ann Lee"}))

    assert changed["created"] == "2026-11-15T12:00:00.000"
    assert changed["lastUpdated"] == "2026-11-15T12:00:01.500"


@pytest.mark.every_version
@pytest.mark.every_version
@pytest.mark.parametrize("code", ["AN", "CS", "UK", "QQ", "GBR"])
@pytest.mark.parametrize("member", ["destinationCountryCode", "countryCode"])
def test_no_order_goes_to_a_code_that_is_not_a_country(v2: Client, member: str, code: str) -> None:
    order_id = create(v2)
    before = see(v2, order_id)

    refusals = [
        v2.post("/Orders", an_order(**{member: code})),
        v2.put(f"/Orders/{order_id}", {member: code}),
        put_in_query(v2, f"/Orders/{order_id}", **{member: code}),
    ]

    for refusal in refusals:
        assert refusal.status == 400
        assert refusal.error == f"`{member}` is wrong: Country with code {code} not found."
    assert see(v2, order_id) == before
    assert len(seen(v2.get("/Orders"))) == 1


def test_xml_can_be_had(v2: Client) -> None:
    answer = v2.get(f"/Orders/{create(v2)}", Accept="application/xml")

    assert answer.headers["content-type"] == "application/xml; charset=utf-8"
    assert b"<qualityLevel>Pro</qualityLevel>" in answer.body
