"""Operations 1 to 4, 6 and 9 of the 3.0 contract, line by line."""

from typing import Any

import pytest

from tests.api.client import Client, make_scope
from tests.api.conftest import MovableClock, an_order

NOT_ABSOLUTE = "An address must begin with http:// or https://."
EVERY_MEMBER = {
    "id", "merchantOrderId", "recipientName", "address1", "address2", "addressTownOrCity",
    "stateOrCounty", "postalOrZipCode", "countryCode", "mobileTelephone", "price", "status",
    "shippingInfo", "payment", "paymentUrl", "images", "preferredShippingMethod", "created",
    "lastUpdated", "canCancel", "canHold", "canUpdateShipping", "canUpdateImages",
    "errorMessage", "invoiceAmountNet", "invoiceTax", "invoiceCurrency", "packingSlipUrl", "tag",
}  # fmt: skip

FULL_ORDER = {
    "merchantOrderId": "A-1001",
    "recipientName": "Mary Fox",
    "address1": "1 High Street",
    "address2": "Flat 2",
    "addressTownOrCity": "London",
    "stateOrCounty": "Greater London",
    "postalOrZipCode": "SW1A 1AA",
    "countryCode": "GB",
    "mobileTelephone": "07700 900000",
    "preferredShippingMethod": "Express",
    "payment": "InvoiceMe",
    "packingSlipUrl": "https://shop.example/slip.png",
    "invoiceAmountNet": 1200,
    "invoiceTax": 240,
    "invoiceCurrency": "GBP",
}


PRINT = {"sku": "GLOBAL-PHO-4X6-PRO", "url": "https://shop.example/a.jpg", "copies": 1}


def scope_with_query(client: Client, order_id: int, query: bytes) -> dict[str, Any]:
    """Describe a PUT with raw bytes in its query string."""
    scope = make_scope("PUT", f"/v3.0/orders/{order_id}", client.credentials)
    scope["query_string"] = query
    return scope


class TestCreating:
    @pytest.mark.both_databases
    def test_an_order_comes_back_with_every_member(self, v3: Client) -> None:
        created = v3.post(
            "/orders", {**FULL_ORDER, "telephone": "020 7946 0000", "email": "m@x.example"}
        )

        assert set(created.data) == EVERY_MEMBER
        for member, value in FULL_ORDER.items():
            assert created.data[member] == value
        assert created.json()["statusTxt"] == "OK"
        assert created.json()["statusCode"] == 200

    def test_a_new_order_is_not_yet_submitted_and_costs_nothing(self, v3: Client) -> None:
        order = v3.post("/orders", an_order()).data

        assert order["status"] == "NotYetSubmitted"
        assert order["payment"] == "InvoiceMe"
        assert order["price"] == order["invoiceAmountNet"] == order["invoiceTax"] == 0
        assert order["images"] == []
        assert order["shippingInfo"] == {"price": 0, "shipments": []}
        assert order["paymentUrl"] is order["errorMessage"] is order["tag"] is None
        flags = [order[name] for name in ("canCancel", "canHold", "canUpdateShipping")]
        assert flags == [True, True, True]
        assert order["canUpdateImages"] is False

    def test_times_are_utc_to_the_millisecond_without_a_zone(
        self, v3: Client, clock: MovableClock
    ) -> None:
        clock.advance(milliseconds=367)

        order = v3.post("/orders", an_order()).data

        assert order["created"] == order["lastUpdated"] == "2026-11-15T12:00:00.367"

    @pytest.mark.parametrize("name", ["recipientName", "countryCode", "preferredShippingMethod"])
    @pytest.mark.parametrize("value", ["absent", None, "", "  "])
    def test_a_required_member_that_is_missing_is_named(
        self, v3: Client, name: str, value: Any
    ) -> None:
        body = an_order(**{name: value})
        if value == "absent":
            del body[name]

        answer = v3.post("/orders", body)

        assert answer.status == 400
        assert answer.error == f"`{name}` is required."
        assert v3.get("/orders").data["count"] == 0

    @pytest.mark.parametrize("method", ["Budget", "Standard", "Express", "Overnight"])
    def test_every_shipping_method_is_accepted_in_any_case(self, v3: Client, method: str) -> None:
        order = v3.post("/orders", an_order(preferredShippingMethod=method.upper())).data

        assert order["preferredShippingMethod"] == method

    @pytest.mark.parametrize(
        ("member", "value", "reason"),
        [
            (
                "preferredShippingMethod",
                "Drone",
                "must be one of Budget, Standard, Express, Overnight.",
            ),
            ("payment", "Cash", "must be one of InvoiceMe, InvoiceRecipient."),
            # In capitals it would be that of South Sudan.
            ("countryCode", "ß", "is wrong: Country with code ß not found."),
            ("countryCode", "QQ", "is wrong: Country with code QQ not found."),
            ("countryCode", 12, "is wrong: Country with code 12 not found."),
            ("recipientName", ["Mary"], "must be text."),
            ("recipientName", True, "must be text."),
            ("recipientName", "x" * 256, "must have at most 255 characters."),
            ("recipientName", "Ma\x00ry", "contains a control character."),
            ("packingSlipUrl", "ftp://shop.example/slip.png", f"is wrong: {NOT_ABSOLUTE}"),
            ("packingSlipUrl", "slip.png", f"is wrong: {NOT_ABSOLUTE}"),
            ("invoiceAmountNet", "twelve", "must be a number."),
            ("invoiceAmountNet", -1, "must be between 0 and 1000000000000."),
            ("invoiceTax", True, "must be a number."),
            ("invoiceTax", 10**30, "must be between 0 and 1000000000000."),
            ("invoiceCurrency", "POUNDS", "must be a currency code of three letters, such as GBP."),
        ],
    )
    def test_a_wrong_member_is_named_with_the_reason(
        self, v3: Client, member: str, value: Any, reason: str
    ) -> None:
        answer = v3.post("/orders", an_order(**{member: value}))

        assert answer.status == 400
        assert answer.json() == {
            "data": None,
            "errorMessage": f"`{member}` {reason}",
            "statusTxt": f"`{member}` {reason}",
            "statusCode": 400,
        }

    def test_names_may_come_in_any_case_and_unknown_ones_are_ignored(self, v3: Client) -> None:
        body = {
            "RecipientName": "Mary Fox",
            "COUNTRYCODE": "gb",
            "preferredshippingmethod": "budget",
            "Address1": "1 High Street",
            "colour": "green",
            "id": 77,
            "status": "Complete",
            "price": 1,
        }

        order = v3.post("/orders", body).data

        assert order["recipientName"] == "Mary Fox"
        assert order["countryCode"] == "GB"
        assert order["address1"] == "1 High Street"
        assert order["status"] == "NotYetSubmitted"
        assert order["price"] == 0
        assert order["id"] != 77

    def test_numbers_may_come_as_text_and_texts_as_numbers(self, v3: Client) -> None:
        body = an_order(
            merchantOrderId=1001, postalOrZipCode=90210, invoiceAmountNet="12.5", invoiceTax=2.4
        )

        order = v3.post("/orders", body).data

        assert order["merchantOrderId"] == "1001"
        assert order["postalOrZipCode"] == "90210"
        assert order["invoiceAmountNet"] == 13
        assert order["invoiceTax"] == 2

    def test_a_form_makes_the_same_order_as_json(self, v3: Client) -> None:
        by_json = v3.post("/orders", FULL_ORDER).data
        by_form = v3.post_form("/orders", FULL_ORDER).data

        assert {**by_form, "id": 0} == {**by_json, "id": 0}

    def test_an_order_for_the_recipient_to_pay_has_an_address_nobody_can_guess(
        self, v3: Client
    ) -> None:
        first = v3.post("/orders", an_order(payment="InvoiceRecipient")).data
        second = v3.post("/orders", an_order(payment="invoicerecipient")).data

        assert first["paymentUrl"].startswith("https://print.example/pay/")
        assert len(first["paymentUrl"].rpartition("/")[2]) >= 32
        assert first["paymentUrl"] != second["paymentUrl"]


class TestReading:
    def test_an_order_reads_as_it_was_created(self, v3: Client) -> None:
        created = v3.post("/orders", FULL_ORDER).data

        assert v3.get(f"/orders/{created['id']}").data == created

    def test_somebody_elses_order_looks_like_none(self, v3: Client, somebody_else: Client) -> None:
        order = v3.post("/orders", an_order()).data

        theirs = somebody_else.get(f"/orders/{order['id']}")
        none = somebody_else.get("/orders/999999")

        assert theirs.status == none.status == 404
        assert theirs.body == none.body
        assert none.error == "The order with the specified id was not found"

    @pytest.mark.parametrize(
        "order_id",
        [
            "0",
            "-1",
            "abc",
            "1.0",
            "99999999999999999999999",
            "9223372036854775808",
            "\u0661",
            "%20",
            "1e3",
        ],
    )
    @pytest.mark.both_databases
    def test_an_id_that_is_none_is_not_found(self, v3: Client, order_id: str) -> None:
        v3.post("/orders", an_order())

        assert v3.get(f"/orders/{order_id}").status == 404

    @pytest.mark.parametrize("path", ["/Orders/{}", "/ORDERS/{}/", "/orders/{}/", "/orders/{}?"])
    def test_paths_are_found_in_any_case_and_with_a_trailing_slash(
        self, v3: Client, path: str
    ) -> None:
        order = v3.post("/orders", an_order()).data

        assert v3.get(path.format(order["id"])).data == order

    def test_a_body_on_get_is_ignored(self, v3: Client) -> None:
        order = v3.post("/orders", an_order()).data

        answer = v3.request(
            "GET", f"/orders/{order['id']}", b"{not json", {"Content-Type": "nonsense"}
        )

        assert answer.data == order


@pytest.mark.both_databases
class TestListing:
    def test_the_newest_come_first_with_the_total(self, v3: Client) -> None:
        ids = [v3.post("/orders", an_order()).data["id"] for _ in range(3)]

        listed = v3.get("/orders").data

        assert [order["id"] for order in listed["content"]] == ids[::-1]
        assert listed["count"] == 3
        assert listed["summary"] == [{"label": "Orders", "value": "3"}]

    def test_a_listed_order_is_the_order(self, v3: Client) -> None:
        order = v3.post("/orders", FULL_ORDER).data

        assert v3.get("/orders").data["content"] == [order]

    def test_others_orders_are_neither_listed_nor_counted(
        self, v3: Client, somebody_else: Client
    ) -> None:
        v3.post("/orders", an_order())

        assert somebody_else.get("/orders").data == {
            "content": [],
            "count": 0,
            "summary": [{"label": "Orders", "value": "0"}],
        }

    @pytest.mark.parametrize(
        ("limit", "start"), [("limit", "start"), ("count", "offset"), ("Limit", "START")]
    )
    def test_both_names_of_the_paging_parameters_work(
        self, v3: Client, limit: str, start: str
    ) -> None:
        ids = [v3.post("/orders", an_order()).data["id"] for _ in range(5)]

        listed = v3.get(f"/orders?{limit}=2&{start}=1").data

        assert [order["id"] for order in listed["content"]] == [ids[3], ids[2]]
        assert listed["count"] == 5

    @pytest.mark.parametrize(
        ("query", "shown"),
        [("limit=0", 0), ("limit=-5", 0), ("start=-5", 3), ("start=3", 0), ("start=99999999999999999999", 0),
            (f"start=1{'0' * 60}", 0),
         ("limit=", 3), ("limit=2&start=", 2), ("limit=1000000", 3), ("limit=%2B2", 2)],
    )  # fmt: skip
    def test_values_out_of_bounds_are_brought_within(
        self, v3: Client, query: str, shown: int
    ) -> None:
        for _ in range(3):
            v3.post("/orders", an_order())

        listed = v3.get(f"/orders?{query}").data

        assert len(listed["content"]) == shown
        assert listed["count"] == 3

    @pytest.mark.parametrize(
        "query",
        [
            "limit=ten",
            "start=first",
            "count=1.5",
            "offset=NaN",
            "limit=\u0661",
            "limit=1e2",
            "start=1E1",
            "count=2.0",
            "offset=0e0",
        ],
    )
    def test_text_for_a_number_is_refused(self, v3: Client, query: str) -> None:
        answer = v3.get(f"/orders?{query}")

        assert answer.status == 400
        assert f"`{query.partition('=')[0]}`" in answer.error

    def test_a_hundred_are_shown_by_default_and_at_most_two_hundred_and_fifty(
        self, v3: Client
    ) -> None:
        for _ in range(251):
            v3.post("/orders", an_order())

        assert len(v3.get("/orders").data["content"]) == 100
        assert len(v3.get("/orders?limit=251").data["content"]) == 250
        assert len(v3.get("/orders?count=9999").data["content"]) == 250
        assert len(v3.get("/orders?start=250").data["content"]) == 1


class TestPackingSlips:
    def test_one_can_be_set_replaced_and_removed_until_the_order_is_submitted(
        self, v3: Client
    ) -> None:
        address = {
            "address1": "1 High St",
            "addressTownOrCity": "York",
            "postalOrZipCode": "YO1 1AA",
        }
        order_id = v3.post("/orders", an_order(**address)).data["id"]
        v3.post(f"/orders/{order_id}/images", PRINT)
        first, second = "https://shop.example/1.png", "https://shop.example/2.png"

        for sent, shown in (
            (first, first),
            (second, second),
            (None, second),
            ("", None),
            (first, first),
        ):
            changed = v3.put(f"/orders/{order_id}", an_order(packingSlipUrl=sent))
            assert changed.data["packingSlipUrl"] == shown
        assert v3.post(f"/orders/{order_id}/status", {"status": "Submitted"}).status == 200

        late = v3.put(f"/orders/{order_id}", an_order(packingSlipUrl=second))

        assert late.status == 403
        assert v3.get(f"/orders/{order_id}").data["packingSlipUrl"] == first


@pytest.mark.both_databases
class TestFiltering:
    """Additions to the contract."""

    @pytest.fixture
    def ids(self, v3: Client, clock: MovableClock) -> list[int]:
        """Orders of four days, the second and third with a reference, the last two cancelled."""
        ids = []
        for reference in (None, "A-1", "A-1", None):
            order = v3.post("/orders", an_order(merchantOrderId=reference)).data
            ids.append(order["id"])
            clock.advance(days=1)
        for order_id in ids[2:]:
            v3.post(f"/orders/{order_id}/status", {"status": "Cancelled"})
        return ids

    @pytest.mark.parametrize(
        ("query", "found"),
        [
            ("status=Cancelled", [3, 2]),
            ("STATUS=notyetsubmitted", [1, 0]),
            ("status=Complete", []),
            ("merchantOrderId=A-1", [2, 1]),
            ("merchantOrderId=a-1", []),
            ("status=Cancelled&merchantorderid=A-1", [2]),
            ("createdFrom=2026-11-17", [3, 2]),
            ("createdFrom=2026-11-17T12:00:00.000", [3, 2]),
            ("createdFrom=2026-11-17T12:00:00.001Z", [3]),
            ("createdFrom=2026-11-17T13:00:00%2B01:00", [3, 2]),
            ("createdFrom=2026-11-17T13:00:00+01:00", [3, 2]),
            ("createdFrom=2026-11-17%2012:00:00", [3, 2]),
            ("createdTo=2026-11-16", [1, 0]),
            ("createdTo=2026-11-16T12:00:00", [1, 0]),
            ("createdTo=2026-11-16T11:59:59.999", [0]),
            ("createdFrom=2026-11-16&createdTo=2026-11-17", [2, 1]),
            ("createdFrom=2026-11-16&createdTo=2026-11-17&status=Cancelled", [2]),
            ("createdFrom=0001-01-01&createdTo=9999-12-31", [3, 2, 1, 0]),
            ("createdTo=9999-12-31T23:59:59.999", [3, 2, 1, 0]),
            ("createdFrom=2027-01-01", []),
            # Empty counts as absent, and what nobody knows is ignored.
            ("status=&merchantOrderId=&createdFrom=&createdTo=", [3, 2, 1, 0]),
            ("orderStatus=Complete&sort=asc&page=2", [3, 2, 1, 0]),
        ],
    )
    def test_only_orders_that_fit_are_listed_and_counted(
        self, v3: Client, ids: list[int], query: str, found: list[int]
    ) -> None:
        listed = v3.get(f"/orders?{query}").data
        second = v3.get(f"/orders?{query}&limit=1&start=1").data

        wanted = [ids[place] for place in found]
        assert [order["id"] for order in listed["content"]] == wanted
        assert [order["id"] for order in second["content"]] == wanted[1:2]
        for each in (listed, second, v3.get(f"/orders?{query}&limit=0").data):
            assert each["count"] == len(wanted)
            assert each["summary"] == [{"label": "Orders", "value": str(len(wanted))}]

    def test_a_listed_order_is_the_order(self, v3: Client, ids: list[int]) -> None:
        v3.post(f"/orders/{ids[1]}/images", PRINT)

        [_, listed] = v3.get("/orders?merchantOrderId=A-1").data["content"]

        assert listed == v3.get(f"/orders/{ids[1]}").data
        assert listed["shippingInfo"]["shipments"]

    def test_others_orders_are_neither_listed_nor_counted(
        self, ids: list[int], somebody_else: Client
    ) -> None:
        for query in ("status=Cancelled", "merchantOrderId=A-1", "createdFrom=2026-11-01"):
            listed = somebody_else.get(f"/orders?{query}").data
            assert (listed["content"], listed["count"]) == ([], 0)

    @pytest.mark.parametrize(
        ("query", "sentence"),
        [
            (
                "status=Lost",
                "`status` must be one of NotYetSubmitted, AwaitingPayment, Submitted, ",
            ),
            (f"merchantOrderId={'x' * 256}", "`merchantOrderId` must have at most 255 characters."),
            ("merchantOrderId=%00", "`merchantOrderId` contains a control character."),
            (
                "createdFrom=yesterday",
                "`createdFrom` must be a timestamp such as 2026-11-15T12:00:00.",
            ),
            (
                "createdTo=2026-02-30",
                "`createdTo` must be a timestamp such as 2026-11-15T12:00:00.",
            ),
            ("createdFrom=2026-11-17&createdTo=2026-11-16", "`createdFrom` must not be after "),
        ],
    )
    def test_what_is_no_filter_is_refused(self, v3: Client, query: str, sentence: str) -> None:
        answer = v3.get(f"/orders?{query}")

        assert answer.status == 400
        assert answer.error.startswith(sentence)


class TestUpdating:
    @pytest.mark.both_databases
    def test_new_values_replace_the_old_ones(self, v3: Client, clock: MovableClock) -> None:
        order = v3.post("/orders", FULL_ORDER).data
        clock.advance(minutes=5)
        body = an_order(
            recipientName="Tom Fox",
            countryCode="FR",
            preferredShippingMethod="Budget",
            address1="2 rue X",
        )

        changed = v3.put(f"/orders/{order['id']}", body).data

        assert changed == {
            **order,
            "recipientName": "Tom Fox",
            "countryCode": "FR",
            "preferredShippingMethod": "Budget",
            "address1": "2 rue X",
            "lastUpdated": "2026-11-15T12:05:00.000",
        }
        assert v3.get(f"/orders/{order['id']}").data == changed

    @pytest.mark.both_databases
    def test_null_keeps_and_empty_text_clears(self, v3: Client) -> None:
        order = v3.post("/orders", FULL_ORDER).data
        body = an_order(
            recipientName=None,
            countryCode=None,
            preferredShippingMethod=None,
            address1=None,
            address2="",
        )

        changed = v3.put(f"/orders/{order['id']}", body).data

        assert changed["recipientName"] == "Mary Fox"
        assert changed["preferredShippingMethod"] == "Express"
        assert changed["address1"] == "1 High Street"
        assert changed["address2"] is None

    def test_empty_text_brings_a_member_that_is_never_without_a_value_back_to_its_default(
        self, v3: Client
    ) -> None:
        order = v3.post("/orders", {**FULL_ORDER, "payment": "InvoiceRecipient"}).data
        body = an_order(invoiceAmountNet="", invoiceTax="", invoiceCurrency="", payment="")

        changed = v3.put(f"/orders/{order['id']}", body).data

        assert changed["invoiceAmountNet"] == changed["invoiceTax"] == 0
        assert changed["invoiceCurrency"] is None
        assert changed["payment"] == "InvoiceMe"

    def test_text_in_the_query_string_need_not_be_escaped(self, v3: Client) -> None:
        order = v3.post("/orders", FULL_ORDER).data
        query = "recipientName=Z\u00fcrich&countryCode=CH&preferredShippingMethod=Budget"

        empty = [{"type": "http.request", "body": b""}]
        good, bad = (scope_with_query(v3, order["id"], raw) for raw in (query.encode(), b"a=\xff"))
        sent = v3.server.run(v3.server.ask(good, empty))
        broken = v3.server.run(v3.server.ask(bad, empty))

        assert sent.data["recipientName"] == "Z\u00fcrich"
        assert broken.status == 400

    @pytest.mark.parametrize("name", ["recipientName", "countryCode", "preferredShippingMethod"])
    def test_what_creation_wants_is_wanted_here_too(self, v3: Client, name: str) -> None:
        order = v3.post("/orders", FULL_ORDER).data
        body = {key: value for key, value in an_order().items() if key != name}

        answer = v3.put(f"/orders/{order['id']}", body)

        assert answer.status == 400
        assert answer.error == f"`{name}` is required."
        assert v3.get(f"/orders/{order['id']}").data == order

    def test_the_whole_order_may_be_echoed_back(self, v3: Client) -> None:
        order = v3.post("/orders", FULL_ORDER).data

        assert v3.put(f"/orders/{order['id']}", order).data == order

    def test_the_fields_may_stand_in_the_query_string(self, v3: Client) -> None:
        order = v3.post("/orders", FULL_ORDER).data
        query = "recipientName=Tom+Fox&countryCode=GB&preferredShippingMethod=Budget"

        answer = v3.request("PUT", f"/orders/{order['id']}?{query}", b"")

        assert answer.data["recipientName"] == "Tom Fox"

    @pytest.mark.both_databases
    def test_payment_may_still_change(self, v3: Client) -> None:
        order = v3.post("/orders", an_order()).data

        for_recipient = v3.put(f"/orders/{order['id']}", an_order(payment="InvoiceRecipient")).data
        for_me = v3.put(f"/orders/{order['id']}", an_order(payment="InvoiceMe")).data

        assert for_recipient["paymentUrl"].startswith("https://print.example/pay/")
        assert for_me["paymentUrl"] is None

    def test_a_cancelled_order_cannot_be_changed(self, v3: Client) -> None:
        order = v3.post("/orders", FULL_ORDER).data
        v3.post(f"/orders/{order['id']}/status", {"status": "Cancelled"})

        answer = v3.put(f"/orders/{order['id']}", {"recipientName": "Tom Fox"})

        assert answer.status == 403
        assert "Cancelled" in answer.error
        assert v3.get(f"/orders/{order['id']}").data["recipientName"] == "Mary Fox"

    def test_somebody_elses_order_looks_like_none(self, v3: Client, somebody_else: Client) -> None:
        order = v3.post("/orders", FULL_ORDER).data

        theirs = somebody_else.put(f"/orders/{order['id']}", an_order())
        none = somebody_else.put("/orders/999999", an_order())

        assert theirs.status == none.status == 404
        assert theirs.body == none.body
        assert v3.get(f"/orders/{order['id']}").data == order


class TestCancelling:
    @pytest.mark.both_databases
    def test_an_order_that_is_not_yet_submitted_can_be_cancelled(self, v3: Client) -> None:
        order = v3.post("/orders", an_order()).data

        answer = v3.post(f"/orders/{order['id']}/status", {"status": "Cancelled"})

        assert answer.json() == {"data": {}, "statusTxt": "OK", "statusCode": 200}
        cancelled = v3.get(f"/orders/{order['id']}").data
        assert cancelled["status"] == "Cancelled"
        assert cancelled["price"] == 0
        assert not any(
            cancelled[flag]
            for flag in ("canCancel", "canHold", "canUpdateShipping", "canUpdateImages")
        )

    @pytest.mark.parametrize("wanted", ["Cancelled", "Submitted", "AwaitingPayment"])
    def test_a_cancelled_order_goes_nowhere(self, v3: Client, wanted: str) -> None:
        order = v3.post("/orders", an_order()).data
        v3.post(f"/orders/{order['id']}/status", {"status": "Cancelled"})

        answer = v3.post(f"/orders/{order['id']}/status", {"status": wanted})

        assert answer.status == 403
        assert answer.error == f"An order that is Cancelled cannot become {wanted}."

    @pytest.mark.parametrize("body", [{"status": "cancelled"}, {"STATUS": "CANCELLED"}])
    def test_the_word_may_come_in_any_case(self, v3: Client, body: dict[str, str]) -> None:
        order = v3.post("/orders", an_order()).data

        assert v3.post(f"/orders/{order['id']}/status", body).status == 200

    def test_a_form_will_do(self, v3: Client) -> None:
        order = v3.post("/orders", an_order()).data

        assert v3.post_form(f"/orders/{order['id']}/status", {"status": "Cancelled"}).status == 200

    @pytest.mark.parametrize(
        ("body", "message"),
        [
            ({}, "`status` is required."),
            ({"status": ""}, "`status` is required."),
            (
                {"status": "Complete"},
                "`status` must be one of Cancelled, AwaitingPayment, Submitted.",
            ),
            ({"status": 3}, "`status` must be one of Cancelled, AwaitingPayment, Submitted."),
        ],
    )
    def test_another_word_is_refused(self, v3: Client, body: dict[str, Any], message: str) -> None:
        order = v3.post("/orders", an_order()).data

        answer = v3.post(f"/orders/{order['id']}/status", body)

        assert answer.status == 400
        assert answer.error == message
        assert v3.get(f"/orders/{order['id']}").data == order

    def test_somebody_elses_order_looks_like_none(self, v3: Client, somebody_else: Client) -> None:
        order = v3.post("/orders", an_order()).data

        theirs = somebody_else.post(f"/orders/{order['id']}/status", {"status": "Cancelled"})
        none = somebody_else.post("/orders/999999/status", {"status": "Cancelled"})

        assert theirs.status == none.status == 404
        assert theirs.body == none.body
        assert v3.get(f"/orders/{order['id']}").data["status"] == "NotYetSubmitted"


class TestSubmitting:
    def test_an_order_without_images_is_refused_with_the_codes(self, v3: Client) -> None:
        order = v3.post("/orders", an_order()).data

        answer = v3.post(f"/orders/{order['id']}/status", {"status": "Submitted"})

        assert answer.status == 403
        assert answer.error == "The order cannot be submitted: NoItemsInOrder, PostalAddressNotSet."
        assert v3.get(f"/orders/{order['id']}").data == order

    def test_an_order_that_the_recipient_pays_for_must_await_payment(self, v3: Client) -> None:
        order = v3.post("/orders", an_order(payment="InvoiceRecipient")).data

        answer = v3.post(f"/orders/{order['id']}/status", {"status": "Submitted"})

        assert answer.status == 400
        assert "AwaitingPayment" in answer.error

    def test_an_order_that_the_merchant_pays_for_cannot_await_payment(self, v3: Client) -> None:
        order = v3.post("/orders", an_order()).data

        answer = v3.post(f"/orders/{order['id']}/status", {"status": "AwaitingPayment"})

        assert answer.status == 403
        assert "NotYetSubmitted" in answer.error
        assert "AwaitingPayment" in answer.error
