"""Shipping through the older versions: what is listed is what is charged, and where it is printed."""

from typing import Any, Final

import pytest

from printworks.catalogue.opening import open_catalogue
from printworks.store.engine.database import Database
from printworks.store.orders.shipments import list_shipments
from tests.api.client import Client
from tests.api.v2.shop import add, create, see, seen, set_status

CATALOGUE: Final = open_catalogue(None)


def list_rates(client: Client, country: str) -> list[dict[str, Any]]:
    """Return the rates to a country."""
    rates: list[dict[str, Any]] = seen(client.get(f"/Catalogue/{country}/Standard"))[
        "shippingRates"
    ]
    return rates


def find_type_in(client: Client, country: str, band: str) -> str:
    """Return something of a band that is sold there."""
    items = seen(client.get(f"/Catalogue/{country}/Standard"))["items"]
    return str(next(item["name"] for item in items if item["shippingBand"] == band))


def lab_countries(database: Database, order_id: int) -> set[str]:
    """Return where an order is printed."""
    with database.reading() as db:
        labs = {shipment.lab for shipment in list_shipments(db, order_id)}
    return {CATALOGUE.get_lab(lab).country for lab in labs}


@pytest.mark.every_version
class TestRates:
    @pytest.mark.parametrize("country", ["GB", "CH", "MX", "KE"])
    @pytest.mark.parametrize("tracked", [False, True])
    def test_what_is_charged_is_listed(self, v2: Client, country: str, tracked: bool) -> None:
        rates = list_rates(v2, country)
        order = create(
            v2,
            countryCode=country,
            destinationCountryCode=country,
            qualityLevel="Standard",
            useTrackedShipping=tracked,
        )
        add(v2, order, type=find_type_in(v2, country, "Prints"))
        quoted = see(v2, order)["shippingInfo"]["price"]
        assert set_status(v2, order, "Submitted").status == 200

        charged = see(v2, order)["shippingInfo"]["price"]
        prices = [
            rate.get("priceGBP", rate.get("price")) for rate in rates if rate["band"] == "Prints"
        ]
        assert charged == quoted
        assert charged in prices

    def test_british_prints_are_listed_as_clients_know_them(self, v2: Client) -> None:
        [rate, *_] = [rate for rate in list_rates(v2, "GB") if rate["band"] == "Prints"]

        assert rate["description"] == "2nd Class Royal Mail"
        assert rate.get("priceGBP", rate.get("price")) == 199
        assert rate.get("isTracked", False) is False

    def test_every_band_has_its_rates(self, v2: Client) -> None:
        catalogue = seen(v2.get("/Catalogue/US/Standard"))

        bands = {item["shippingBand"] for item in catalogue["items"]}
        assert {rate["band"] for rate in catalogue["shippingRates"]} == bands


class TestMethods:
    def test_2_3_lists_only_what_its_orders_can_be_charged(self, v2_3: Client) -> None:
        rates = [rate for rate in list_rates(v2_3, "US") if rate["band"] == "Prints"]

        assert [(rate["description"], rate["isTracked"], rate["priceUSD"]) for rate in rates] == [
            ("Economy mail", False, 390),
            ("Ground parcel", True, 775),
        ]

    def test_2_5_has_two_methods(self, v2_5: Client) -> None:
        rates = [rate for rate in list_rates(v2_5, "US") if rate["band"] == "Prints"]

        assert [(rate["shippingMethod"], rate["priceGBP"]) for rate in rates] == [
            ("cheapest", 300),
            ("cheapest", 595),
            ("priority", 1195),
        ]

    @pytest.mark.parametrize(("method", "price"), [("CHEAPEST", 199), ("PRIORITY", 695)])
    def test_each_method_has_its_price(self, v2_6: Client, method: str, price: int) -> None:
        order = create(v2_6, preferredShippingMethod=method)
        add(v2_6, order)

        assert see(v2_6, order)["shippingInfo"]["price"] == price
        assert price in {rate["price"] for rate in list_rates(v2_6, "GB")}

    def test_copies_of_a_band_are_paid_for_in_steps(self, v2_6: Client) -> None:
        order = create(v2_6)
        add(v2_6, order, copies=30)
        add(v2_6, order, type="5x7", copies=30)

        assert see(v2_6, order)["shippingInfo"]["price"] == 199 + 80


@pytest.mark.every_version
class TestPrintCountry:
    @pytest.mark.parametrize("country", ["GB", "DE", "FR"])
    def test_it_is_printed_there_if_a_lab_there_is_in_time(
        self, v2: Client, database: Database, country: str
    ) -> None:
        order = create(v2, countryCode=country, destinationCountryCode="GB")
        add(v2, order)
        see(v2, order)
        planned = lab_countries(database, order)
        assert set_status(v2, order, "Submitted").status == 200

        assert planned == lab_countries(database, order) == {country}
        assert see(v2, order)["shippingInfo"]["price"] == 199

    def test_otherwise_it_is_printed_elsewhere_and_the_log_says_so(
        self, v2: Client, database: Database
    ) -> None:
        order = create(v2, countryCode="ES", destinationCountryCode="CH")
        photo = add(v2, order)["id"]
        assert set_status(v2, order, "Submitted").status == 200

        [country] = lab_countries(database, order)
        logs = seen(v2.get(f"/Orders/{order}/Logs"))["logs"]
        assert [
            (one["title"], one["message"]) for one in logs if one["title"] == "Print country"
        ] == [
            (
                "Print country",
                f"No lab in ES can make and send item {photo} in time, so it is printed in {country}",
            )
        ]

    def test_an_order_that_is_printed_there_has_no_such_line(self, v2: Client) -> None:
        order = create(v2)
        add(v2, order)
        assert set_status(v2, order, "Submitted").status == 200

        logs = seen(v2.get(f"/Orders/{order}/Logs"))["logs"]
        assert [one["title"] for one in logs] == ["Order created", "Status update"]

    def test_another_print_country_is_planned_anew(self, v2: Client, database: Database) -> None:
        order = create(v2, countryCode="DE", destinationCountryCode="FR")
        add(v2, order)

        seen(v2.put(f"/Orders/{order}", {"countryCode": "GB"}))

        assert lab_countries(database, order) == {"GB"}

    def test_it_chooses_the_catalogue(self, v2: Client) -> None:
        order = create(v2, countryCode="US", destinationCountryCode="IE", qualityLevel="Standard")

        answer = v2.post(f"/Orders/{order}/Photos/", {"type": "9x12_cm", "copies": 1})

        assert answer.status == 400
        assert answer.error == (
            "There is no item of type 9x12_cm in quality level Standard for US."
        )

    def test_what_its_catalogue_has_must_be_sold_to_the_destination(self, v2: Client) -> None:
        order = create(v2, countryCode="IE", destinationCountryCode="US", qualityLevel="Standard")

        answer = v2.post(f"/Orders/{order}/Photos/", {"type": "9x12_cm", "copies": 1})

        assert answer.status == 400
        assert "is not sold to US" in str(answer.error)
