"""Where an order goes and how fast: changed on a page of its own."""

import pytest

from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from tests.api.production import hear, see, submit
from tests.dashboard.ordering import an_order
from tests.dashboard.telling import did
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window

ADDRESS = {
    "recipient_name": "Ada Lovelace",
    "address1": "12 St James's Square",
    "address2": "",
    "town_or_city": "Leeds",
    "postal_code": "LS1 1AA",
    "state_or_county": "",
    "country": "IE",
    "shipping_method": "Express",
}


@pytest.mark.both_databases
def test_an_open_order_gets_another_address_country_and_price(
    alice: Window, database: Database
) -> None:
    order, address = an_order(alice)
    before = see(alice.api, order)["price"]

    answer = alice.do(f"{address}/address", "change-shipping", **ADDRESS)

    assert "The address and shipping were changed." in alice.follow(answer)
    now = see(alice.api, order)
    assert (now["recipientName"], now["addressTownOrCity"]) == ("Ada Lovelace", "Leeds")
    assert (now["countryCode"], now["preferredShippingMethod"]) == ("IE", "Express")
    assert now["price"] > before
    assert did(database) == [("change-order", f"order {order}")]


@pytest.mark.both_databases
def test_a_submitted_order_keeps_its_country_and_is_offered_anew(
    alice: Window, database: Database
) -> None:
    order = submit(alice.api)
    before = see(alice.api, order)["shippingInfo"]["shipments"]
    fields = {**ADDRESS, "shipping_method": "Standard"}

    alice.follow(alice.do(f"/orders/{order}/address", "change-shipping", **fields))

    now = see(alice.api, order)
    assert (now["addressTownOrCity"], now["countryCode"]) == ("Leeds", "GB")
    assert now["shippingInfo"]["shipments"][0]["shipmentId"] != before[0]["shipmentId"]


@pytest.mark.parametrize(
    ("field", "value", "said"),
    [
        ("town_or_city", "  ", "Enter the town or city."),
        ("address1", "x" * 201, "Use at most 200 characters."),
        ("recipient_name", "Ada\u202eLovelace", "cannot be printed"),
        ("shipping_method", "Pigeon", "Choose a shipping method."),
        ("country", "ZZ", "Choose a country."),
    ],
)
def test_what_will_not_do_is_refused_and_the_rest_stays_typed(
    alice: Window, database: Database, field: str, value: str, said: str
) -> None:
    order, address = an_order(alice)
    fields = {**ADDRESS, "postal_code": "LS2 9XY", field: value}
    refused = alice.do(f"{address}/address", "change-shipping", **fields)

    assert refused.status == 400
    assert said in words_of(refused)
    assert 'value="LS2 9XY"' in refused.body.decode()
    assert see(alice.api, order)["addressTownOrCity"] == "London"
    assert did(database) == []


def test_once_a_lab_has_begun_nothing_is_changed_and_it_is_said_why(
    alice: Window, database: Database
) -> None:
    order = submit(alice.api)
    hear(database, alice.api, order, LabState.IN_PRODUCTION)
    page = f"/orders/{order}/address"
    sent = {"form_token": alice.token("/settings"), "do": "change-shipping", **ADDRESS}
    refused = alice.send(page, sent)

    assert refused.status == 400
    assert "can no longer be changed" in words_of(refused)
    why = "The address can no longer be changed Our lab (United Kingdom) has started making it."
    assert why in alice.words(page)
    assert see(alice.api, order)["addressTownOrCity"] == "London"
    assert did(database) == []
