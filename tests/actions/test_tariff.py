"""What merchants pay for shipping is what the list says, in every version and whoever prints."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from printworks.actions.images.images import add_images
from printworks.actions.orders.orders import change_order
from printworks.actions.orders.quotes import find_shipping
from printworks.actions.submission.submit import submit_order
from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Currency
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.orders import ShippingMethod
from printworks.store.engine.database import Database
from printworks.store.images.images import ItemSum, NewImage
from printworks.store.orders.orders import Order, get_order
from printworks.store.orders.shipments import list_shipments, sum_costs
from printworks.wire.v2.catalogue import ShippingRateOut as RateOfVersion2
from printworks.wire.v2.shipping import methods_in
from printworks.wire.v3.prices import ShippingRateOut as RateOfVersion3
from tests.catalogue.folders import a_lab, a_product, a_service, a_tariff, a_whole_folder
from tests.factories import a_merchant, a_work, an_order, plan_shipments

CATALOGUE: Final = open_catalogue(None)
ADDRESS: Final = {"address1": "1 High Street", "town_or_city": "York", "postal_code": "YO1 1AA"}
METHODS: Final[Mapping[str, tuple[ShippingMethod, ...]]] = {
    **{version: methods_in(version) for version in ("2.3", "2.5", "2.6")},
    "3.0": tuple(ShippingMethod),
}


class Listed(NamedTuple):
    """A price of the list, for one copy, with what tells it apart."""

    band: str
    method: ShippingMethod
    is_tracked: bool
    price: int | None


def list_prices(version: str, country: str, currency: Currency) -> Iterator[Listed]:
    """List the prices as a version shows them."""
    for rate in CATALOGUE.tariff.list_rates(country, CATALOGUE.bands, METHODS[version]):
        if version == "3.0":
            shown = RateOfVersion3.of(rate, currency)
            yield Listed(shown.band, shown.method, shown.isTracked, shown.price)
        else:
            older = RateOfVersion2.of(rate, currency)
            in_pounds = older.price if version == "2.6" else older.priceGBP
            yield Listed(older.band, rate.method, older.isTracked, in_pounds)


def a_quoted_order(country: str, method: ShippingMethod, *, is_tracked: bool) -> Order:
    """Make an order of which only matters where it goes and how."""
    given = dict.fromkeys(Order.__struct_fields__) | {
        "destination_country": country,
        "shipping_method": method,
        "is_tracked": is_tracked,
    }
    return Order(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("version", METHODS)
def test_every_charge_is_listed_and_every_listed_price_is_charged(version: str) -> None:
    asked = 0
    for country in COUNTRIES:
        by_band = {one.shipping_band: one for one in CATALOGUE.list_sold_to(country)}
        listed = list(list_prices(version, country, Currency.GBP))
        charged = set()
        for band, product in by_band.items():
            for method in METHODS[version]:
                for wish in (False, True):
                    order = a_quoted_order(country, method, is_tracked=wish)
                    price = find_shipping(
                        order, [ItemSum(product.sku, 0, 1)], CATALOGUE, Currency.GBP
                    )
                    offered = [one for one in listed if one[:2] == (band, method)]
                    [entry] = [one for one in offered if one.is_tracked is wish] or offered
                    assert price == entry.price, (country, entry)
                    charged.add(entry)
                    asked += 1
        assert charged == set(listed)
    assert asked == len(COUNTRIES) * len(CATALOGUE.bands) * len(METHODS[version]) * 2


def a_catalogue_of_two_labs(where: Path, **changed: str) -> Catalogue:
    """Make one in which each of two labs prints one of two products of the same band."""
    labs = a_lab('{ skus = ["PHOTO-*"], each = 5 }') + a_lab(
        '{ skus = ["OTHER"], each = 7 }', code='"dale"', country='"IE"'
    )
    services = a_service(labs='["hill", "dale"]')
    other = a_product(sku='"OTHER"', type=None)
    files = {"labs": labs, "services": services, **changed}
    return Catalogue.load(a_whole_folder(where, a_product(), other, **files))


class TestTheWholeOrder:
    def test_a_band_is_paid_for_once_even_if_two_labs_send_it(
        self, database: Database, tmp_path: Path
    ) -> None:
        catalogue = a_catalogue_of_two_labs(tmp_path)
        url = "https://shop.example/cat.jpg"
        both = [NewImage(sku=sku, url=url, copies=30) for sku in ("PHOTO-4X6", "OTHER")]
        with database.writing() as db:
            merchant = a_merchant(db)
            work = a_work(db, merchant, catalogue=catalogue)
            order = an_order(db, merchant, **ADDRESS)
            add_images(work, order, both)
            quoted = get_order(db, merchant.id, order.id)
            submit_order(work, quoted)
            charged = get_order(db, merchant.id, order.id)
            shipments = list_shipments(db, order.id)

        # Sixty copies are one further step of fifty.
        assert quoted.shipping_price == charged.shipping_price == 299 + 90
        assert charged.price == 60 * 20 + 389
        assert {one.lab: (one.items_cost, one.shipping_cost) for one in shipments} == {
            "hill": (150, 199),
            "dale": (210, 199),
        }
        assert sum_costs(shipments) == (360, 398)

    def test_an_order_that_no_lab_can_make_now_has_its_price_all_the_same(
        self, database: Database, tmp_path: Path
    ) -> None:
        catalogue = a_catalogue_of_two_labs(
            tmp_path, labs=a_lab(paused="true"), services=a_service()
        )
        with database.writing() as db:
            merchant = a_merchant(db)
            order = an_order(db, merchant, **ADDRESS)
            new = NewImage(sku="OTHER", url="https://shop.example/cat.jpg", copies=1)
            work = a_work(db, merchant, catalogue=catalogue)
            add_images(work, order, [new])
            quoted = get_order(db, merchant.id, order.id)

            assert plan_shipments(work, order.id) == []
        assert quoted.shipping_price == 299

    def test_without_a_destination_nothing_is_charged(self, database: Database) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = an_order(db, merchant, destination_country=None)
            new = NewImage(sku="GLOBAL-PHO-4X6-PRO", url="https://shop.example/cat.jpg", copies=1)
            add_images(a_work(db, merchant), order, [new])

            assert get_order(db, merchant.id, order.id).shipping_price == 0

    def test_what_is_paid_for_with_tracking_is_sent_so(
        self, database: Database, tmp_path: Path
    ) -> None:
        parcel = a_service(
            code='"parcel"',
            tracked="true",
            bands="{ Prints = { items = 50, GBP = [900, 80], EUR = [990, 95] } }",
        )
        folder = a_whole_folder(
            tmp_path, services=a_service() + parcel, tariff=a_tariff(tracked="true")
        )
        with database.writing() as db:
            merchant = a_merchant(db)
            order = an_order(db, merchant)
            new = NewImage(sku="PHOTO-4X6", url="https://shop.example/cat.jpg", copies=1)
            work = a_work(db, merchant, catalogue=Catalogue.load(folder))
            add_images(work, order, [new])
            [shipment] = plan_shipments(work, order.id)

            assert shipment.is_tracked
            assert get_order(db, merchant.id, order.id).shipping_price == 299
            assert shipment.shipping_cost == 900

    @pytest.mark.parametrize("country", ["GB", "DE", "FR"])
    def test_another_print_country_means_other_labs_at_the_same_price(
        self, database: Database, country: str
    ) -> None:
        with database.writing() as db:
            merchant = a_merchant(db)
            order = an_order(db, merchant, destination_country="FR", **ADDRESS)
            new = NewImage(sku="GLOBAL-PHO-4X6-PRO", url="https://shop.example/cat.jpg", copies=1)
            work = a_work(db, merchant, catalogue=CATALOGUE)
            add_images(work, order, [new])
            before = get_order(db, merchant.id, order.id)
            after = change_order(work, before, {"print_country": country})
            [shipment] = plan_shipments(work, order.id)

        assert CATALOGUE.get_lab(shipment.lab).country == country
        assert (after.price, after.shipping_price) == (before.price, before.shipping_price)
