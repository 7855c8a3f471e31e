"""Merchants with a price list see their own prices, through every version, and nobody else does."""

from dataclasses import replace
from typing import Any, Final

import pytest

from printworks.actions.price_lists import ListTerms, change_list
from printworks.rules.price_lists import PriceLine, PriceList
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from tests.actions.price_lists import a_list_of, an_owner
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.images import PHOTO, add, create, receive
from tests.api.production import set_status

PRICES: Final = "/catalogue/service%20direct/destination/GB/prices"


def give_list(client: Client, database: Database, *lines: PriceLine, **terms: Any) -> PriceList:
    """Give the merchant of a client a list, and let the service look."""
    with database.writing() as db:
        merchant = get_merchant_by_code(db, client.credentials["X-Service-MerchantId"])
        found = a_list_of(an_owner(db), merchant, *lines, **terms)
    client.server.app.services.price_watch.look()
    return found


def fetch(client: Client) -> Any:
    [found] = client.post(PRICES, {"skus": [PHOTO]}).json()["prices"]
    return found


@pytest.mark.both_databases
def test_prices_are_those_of_the_merchants_list(
    v3: Client, somebody_else: Client, database: Database
) -> None:
    usual = fetch(v3)
    lines = [PriceLine(PHOTO, 1, "GBP", 11), PriceLine(PHOTO, 100, "GBP", 7)]
    found = give_list(v3, database, *lines)

    assert fetch(v3) == {
        **usual,
        "price": 11,
        "volumePrices": [{"fromCopies": 100, "price": 7}],
    }
    assert fetch(somebody_else) == usual
    with database.writing() as db:
        terms = ListTerms(name="Dearer", percent_off=0, valid_until=None)
        change_list(an_owner(db), found.id, terms)


@pytest.mark.both_databases
def test_an_order_is_priced_by_the_list(v3: Client, database: Database) -> None:
    give_list(v3, database, PriceLine(PHOTO, 1, "GBP", 11), PriceLine(PHOTO, 100, "GBP", 7))
    order = create(v3)
    add(v3, order, copies=100)

    shown = v3.get(f"/orders/{order}").data

    assert shown["images"][0]["price"] == 7
    assert shown["price"] - shown["shippingInfo"]["price"] == 700


@pytest.mark.parametrize("version", ["2.3", "2.5", "2.6"])
def test_the_older_catalogue_shows_them_and_a_kept_answer_does_not_survive_a_change(
    v3: Client, database: Database, version: str
) -> None:
    client, path = replace(v3, prefix=f"/v{version}"), "/Catalogue/GB/Pro"
    before = client.get(path)
    give_list(v3, database, percent_off=10_000)

    after = client.request("GET", path, headers={"If-None-Match": before.headers["etag"]})

    assert after.status == 200
    assert after.headers["etag"] != before.headers["etag"]
    assert {item["priceGBP"] for item in after.json()["items"]} == {0}


@pytest.mark.both_databases
def test_an_open_order_says_until_when_it_keeps_its_price(
    v3: Client, database: Database, clock: MovableClock
) -> None:
    order = create(v3)
    assert "quoteExpiresAt" not in v3.get(f"/orders/{order}").data
    receive(database, add(v3, order)["id"])
    quoted = v3.get(f"/orders/{order}").data
    give_list(v3, database, percent_off=10_000)
    assert v3.get(f"/orders/{order}").data == quoted

    clock.advance(days=2)
    # Neither of these shows a price, so neither changes it.
    v3.get(f"/orders/{order}/SubmissionStatus")
    refused = set_status(v3, order, "Submitted")
    [listed] = v3.get("/orders").data["content"]
    renewed = v3.get(f"/orders/{order}").data

    assert quoted["quoteExpiresAt"].startswith("2026-11-17T12:00")
    assert "The quote of this order has ended" in refused.json()["errorMessage"]
    assert renewed["quoteExpiresAt"].startswith("2026-11-19T12:00")
    assert renewed["price"] == renewed["shippingInfo"]["price"] < quoted["price"]
    assert (listed["price"], listed["quoteExpiresAt"]) == (
        *(renewed["price"], renewed["quoteExpiresAt"]),
    )
