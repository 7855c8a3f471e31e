"""Shipping rates through 3.0, which its contract leaves to the service: listed is charged."""

from typing import Final

import pytest

from printworks.catalogue.opening import open_catalogue
from printworks.rules.orders import ShippingMethod
from tests.api.client import Client
from tests.api.images import PHOTO, add, create

CATALOGUE: Final = open_catalogue(None)
PATH: Final = "/catalogue/service%20direct/destination/{}/shippingRates"


@pytest.mark.parametrize("country", ["GB", "US", "JP", "KE"])
@pytest.mark.parametrize("method", ShippingMethod)
def test_what_is_charged_is_listed(v3: Client, country: str, method: ShippingMethod) -> None:
    rates = v3.get(PATH.format(country)).data
    order = create(v3, countryCode=country, preferredShippingMethod=method)

    add(v3, order, sku=PHOTO, copies=60)

    [rate, *_] = [one for one in rates if (one["band"], one["method"]) == ("Prints", method)]
    assert rate["items"] == 50
    assert (
        v3.get(f"/orders/{order}").data["shippingInfo"]["price"]
        == rate["price"] + rate["furtherPrice"]
    )


def test_every_band_that_is_sold_has_a_rate_for_every_method(v3: Client) -> None:
    rates = v3.get(PATH.format("fr")).data

    assert {(one["band"], one["method"]) for one in rates} == {
        (band, method) for band in CATALOGUE.bands for method in ShippingMethod
    }


def test_a_rate_has_all_that_tells_what_is_charged(v3: Client) -> None:
    assert v3.get(PATH.format("GB")).data[0] == {
        "band": "Prints",
        "method": "Budget",
        "isTracked": False,
        "description": "2nd Class Royal Mail",
        "items": 50,
        "price": 199,
        "furtherPrice": 80,
        "currency": "GBP",
    }


def test_an_unknown_country_is_not_found(v3: Client) -> None:
    answer = v3.get(PATH.format("QQ"))

    assert (answer.status, answer.error) == (404, "Country with code QQ not found")


def test_an_order_of_3_0_is_printed_where_it_is_cheapest(v3: Client) -> None:
    order = create(v3, countryCode="FR")
    add(v3, order, sku=PHOTO)

    assert v3.get(f"/orders/{order}").data["shippingInfo"]["price"] == 260
