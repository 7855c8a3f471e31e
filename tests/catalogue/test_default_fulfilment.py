"""The labs and services that are built in: everything sold can be made and sent in time."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import product as combine
from zoneinfo import ZoneInfo

import pytest

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.labs import Lab, LastChance
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Currency, Product
from printworks.catalogue.promises import find_equal_promises
from printworks.rules.orders import ShippingMethod

CATALOGUE = open_catalogue(None)
BUDGET, STANDARD, EXPRESS, OVERNIGHT = ShippingMethod

# Where something may be had overnight; elsewhere routing takes the fastest and says so.
OVERNIGHT_COUNTRIES = [
    "GB",
    "IE",
    "DE",
    "FR",
    "NL",
    "BE",
    "AT",
    "ES",
    "IT",
    "PL",
    "SE",
    "DK",
    "CH",
    "NO",
    "US",
    "CA",
    "AU",
    "NZ",
]


@cache
def find_transit(lab: str, band: str, method: ShippingMethod, country: str) -> int | None:
    """Return the most days on the way by the fastest service."""
    fastest = [
        service.max_transit_days
        for service in CATALOGUE.list_services(lab, country)
        if method in service.methods and band in service.bands
    ]
    return min(fastest, default=None)


def list_arrivals(product: Product, method: ShippingMethod, country: str) -> Iterator[int]:
    """List the days until it arrives from each lab, in a week without holidays."""
    for lab in CATALOGUE.labs:
        making = lab.makes.get(product.sku)
        transit = find_transit(lab.code, product.shipping_band, method, country)
        if making is not None and transit is not None:
            # One more for what comes after the cut-off.
            yield 1 + making.production_days + transit


def find_late(method: ShippingMethod, countries: frozenset[str]) -> set[tuple[str, str]]:
    """Find what no lab can bring to a country by the day that is promised."""
    late = set()
    for product in CATALOGUE.products:
        for country in product.sold_to & countries:
            promise = CATALOGUE.find_promise(method, country)
            arrivals = list_arrivals(product, method, country)
            if promise is None or min(arrivals, default=999) > promise.days:
                late.add((product.sku, country))
    return late


class TestReach:
    @pytest.mark.slow
    @pytest.mark.parametrize("method", [BUDGET, STANDARD, EXPRESS])
    def test_everything_arrives_in_time_wherever_it_is_sold(self, method: ShippingMethod) -> None:
        assert find_late(method, frozenset(COUNTRIES)) == set()

    def test_everything_arrives_in_time_overnight_in_the_larger_markets(self) -> None:
        assert find_late(OVERNIGHT, frozenset(OVERNIGHT_COUNTRIES)) == set()

    def test_every_method_to_every_country_has_one_promise(self) -> None:
        assert set(CATALOGUE.promises) == {
            (method, country) for method in ShippingMethod for country in COUNTRIES
        }

    def test_faster_methods_promise_an_earlier_arrival(self) -> None:
        for country in COUNTRIES:
            days = [CATALOGUE.promises[method, country].days for method in ShippingMethod]
            assert days == sorted(set(days), reverse=True)
        assert list(find_equal_promises(CATALOGUE.promises)) == []

    def test_where_a_lab_has_both_overnight_is_faster_and_dearer_than_express(self) -> None:
        compared = 0
        for lab, country, band in combine(CATALOGUE.labs, COUNTRIES, CATALOGUE.bands):
            usual, fast = (
                [
                    (service.max_transit_days, service.costs[band, Currency.GBP].first)
                    for service in CATALOGUE.list_services(lab.code, country)
                    if method in service.methods and band in service.bands
                ]
                for method in (EXPRESS, OVERNIGHT)
            )
            if usual and fast:
                compared += 1
                assert max(days for days, _ in fast) < max(days for days, _ in usual)
                assert min(price for _, price in fast) > min(price for _, price in usual)
        assert compared > len(OVERNIGHT_COUNTRIES)


class TestChoice:
    def test_there_are_labs_on_five_continents(self) -> None:
        assert len(CATALOGUE.labs) >= 8
        assert {lab.country for lab in CATALOGUE.labs} >= {"GB", "DE", "US", "BR", "AU", "JP"}

    def test_most_products_can_be_made_by_several_labs(self) -> None:
        several = [
            product
            for product in CATALOGUE.products
            if sum(lab.can_make(product) for lab in CATALOGUE.labs) > 1
        ]

        assert len(several) > len(CATALOGUE.products) / 2

    def test_a_cheaper_lab_is_a_slower_one(self) -> None:
        canvas = CATALOGUE.get_product("EU-CAN-12X16")
        quick, cheap = CATALOGUE.get_lab("gb-leeds"), CATALOGUE.get_lab("de-leipzig")

        def cost(lab: Lab) -> Fraction:
            amount = lab.find_cost(canvas, 1)
            assert amount is not None
            return CATALOGUE.convert(amount, lab.currency, to=Currency.GBP)

        assert cost(cheap) < cost(quick)
        assert [lab.makes[canvas.sku].production_days for lab in (cheap, quick)] == [3, 2]

    def test_one_lab_makes_nothing_but_clothing(self) -> None:
        lab = CATALOGUE.get_lab("nl-utrecht")

        kinds = {product.kind for product in CATALOGUE.products if lab.can_make(product)}

        assert kinds == {"clothing"}

    def test_no_lab_costs_more_than_the_price(self) -> None:
        for lab in CATALOGUE.labs:
            for product in CATALOGUE.products:
                cost = lab.find_cost(product, 1)
                assert cost is None or 0 < cost < product.base_prices[lab.currency]


class TestLabs:
    def test_every_lab_has_holidays_in_each_of_three_years(self) -> None:
        for lab in CATALOGUE.labs:
            for year in (2026, 2027, 2028):
                assert sum(day.year == year for day in lab.holidays) >= 5

    def test_every_lab_is_in_a_time_zone(self) -> None:
        assert all(ZoneInfo(lab.time_zone).key == lab.time_zone for lab in CATALOGUE.labs)

    def test_usual_labs_let_cancel_until_they_accept(self) -> None:
        lab = CATALOGUE.get_lab("gb-leeds")

        assert lab.can_cancel_until is lab.can_change_shipping_until is LastChance.SUBMITTED
        assert lab.can_hold_until is LastChance.NEVER


class TestPrices:
    @pytest.mark.parametrize("method", [BUDGET, STANDARD])
    def test_british_prints_travel_by_second_class_mail(self, method: ShippingMethod) -> None:
        offered = [
            (service.find_cost("Prints", 1, Currency.GBP), service)
            for service in CATALOGUE.services
            if service.goes_to("GB") and method in service.methods and "Prints" in service.bands
        ]

        [(price, service), *_] = sorted(offered, key=lambda offer: offer[0] or 0)

        assert (service.name, price) == ("2nd Class Royal Mail", 199)
        assert (service.carrier, service.tracked) == ("RoyalMailSecondClass", False)

    def test_every_service_has_a_price_in_every_currency(self) -> None:
        prices = [
            service.find_cost(band, copies, currency)
            for service in CATALOGUE.services
            for band in service.bands
            for currency in Currency
            for copies in (1, 100)
        ]

        assert all(price is not None and price > 0 for price in prices)

    def test_every_band_can_be_tracked_to_every_country(self) -> None:
        for country in COUNTRIES:
            tracked = {
                band
                for service in CATALOGUE.services
                if service.tracked and service.goes_to(country)
                for band in service.bands
            }
            assert tracked == set(CATALOGUE.bands)
