"""The catalogue that is built in: the facts that existing clients rely on, and that it is whole."""

from decimal import Decimal
from pathlib import Path

import pytest

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import (
    Attribute,
    Currency,
    Product,
    QualityLevel,
    Size,
)
from printworks.rules.sizing import Pixels, Units

CATALOGUE = open_catalogue(None)
TYPE_NAMES = Path(__file__).with_name("photo_types.txt").read_text().split()

PRO, STANDARD = QualityLevel.PRO, QualityLevel.STANDARD


def a_size(width: str, height: str) -> Size:
    return Size(Decimal(width), Decimal(height))


def get_type(name: str, quality: QualityLevel, country: str) -> Product:
    product = CATALOGUE.find_type(name, quality=quality, country=country)
    assert product is not None
    return product


class TestFacts:
    def test_a_pro_4x6_in_britain_is_a_4x6_inch_print(self) -> None:
        product = get_type("4x6", PRO, "GB")

        assert product.description == "4x6 inch print"
        assert product.image_size == product.full_size == a_size("4", "6")
        assert product.units is Units.INCHES
        assert product.recommended_pixels == Pixels(600, 900)

    def test_a_4x18_is_a_poster_in_a_10x24_frame(self) -> None:
        product = get_type("4x18", PRO, "GB")

        assert product.description == "4x18 poster mounted in 10x24 frame"
        assert product.image_size == a_size("4", "18")
        assert product.full_size == a_size("10", "24")
        assert product.recommended_pixels == Pixels(600, 2700)

    def test_a_4x18_is_offered_in_pro_only(self) -> None:
        assert CATALOGUE.find_type("4x18", quality=STANDARD, country="GB") is None

    def test_a_standard_australian_canvas_has_a_picture_larger_than_itself(self) -> None:
        [product] = [
            product
            for product in CATALOGUE.list_sold_to("AU", quality=STANDARD)
            if product.description == "20x30 inch gallery wrapped canvas on 1.25 inch stretchers"
        ]

        assert product.type_name == "C20x30_1_25_au"
        assert product.image_size == a_size("22.75", "32.75")
        assert product.full_size == a_size("20", "30")
        assert product.recommended_pixels == Pixels(3413, 4913)

    def test_a_standard_9x12_cm_print_is_sold_to_ireland(self) -> None:
        product = get_type("9x12_cm", STANDARD, "IE")

        assert product.description == "9x12 cm print"
        assert product.units is Units.CM
        assert product.image_size == a_size("9", "12")
        assert product.recommended_pixels == Pixels(540, 720)

    def test_a_standard_10x15_cm_print_is_sold_to_ireland(self) -> None:
        assert get_type("10x15_cm", STANDARD, "IE").description == "10x15 cm print"

    def test_british_prints_travel_in_the_band_prints(self) -> None:
        assert get_type("4x6", STANDARD, "GB").shipping_band == "Prints"

    @pytest.mark.parametrize(
        "sku",
        [
            "GLOBAL-PHO-4X6-PRO",
            "GLOBAL-PHO-10X12-PRO",
            "GLOBAL-PHO-16X16-PRO",
            "ART-FAP-MFA-A1",
            "FRA-INSTA-30X30",
            "FRA-INSTA-40X40",
            "FRA-BOX-HPL-MOUNT1-ACRY-A3",
            "M-STI-3X4",
        ],
    )
    def test_a_sku_in_use_is_sold(self, sku: str) -> None:
        assert CATALOGUE.get_product(sku).sku == sku

    @pytest.mark.parametrize("sku", ["FRA-INSTA-30X30", "FRA-INSTA-40X40"])
    def test_a_square_frame_is_white_or_black(self, sku: str) -> None:
        product = CATALOGUE.get_product(sku)

        assert product.attributes == (Attribute("frameColour", ("white", "black"), "black"),)

    def test_the_4x6_of_each_quality_has_a_sku_of_its_own(self) -> None:
        assert get_type("4x6", PRO, "GB").sku == "GLOBAL-PHO-4X6-PRO"
        assert get_type("4x6", STANDARD, "GB").sku == "GLOBAL-PHO-4X6"


class TestWhole:
    def test_there_are_hundreds_of_products(self) -> None:
        assert len(CATALOGUE.products) >= 660

    def test_every_type_name_in_use_is_offered_somewhere(self) -> None:
        offered = {
            name
            for name in TYPE_NAMES
            for country in COUNTRIES
            for quality in QualityLevel
            if CATALOGUE.find_type(name, quality=quality, country=country)
        }

        assert len(TYPE_NAMES) == 660
        assert offered == set(TYPE_NAMES)

    def test_no_other_type_name_is_listed(self) -> None:
        listed = {product.type_name for product in CATALOGUE.products} - {None}

        assert listed <= set(TYPE_NAMES)

    def test_every_finish_is_lustre_glossy_or_matte_and_has_a_default(self) -> None:
        offered = [each for one in CATALOGUE.products for each in one.attributes]
        finishes = [each for each in offered if each.name == "finish"]

        assert {value for each in finishes for value in each.valid_values} == {
            "lustre",
            "glossy",
            "matte",
        }
        assert all(each.default for each in finishes)

    def test_nobody_gets_clothes_without_choosing_a_size_and_a_colour(self) -> None:
        clothes = [one for one in CATALOGUE.products if one.kind == "clothing"]
        choices = {(each.name, each.default) for one in clothes for each in one.attributes}

        assert choices == {("size", None), ("colour", None)}

    def test_every_type_name_in_use_is_spelled_as_it_is_known(self) -> None:
        spelled = {name for product in CATALOGUE.products for name in product.type_names}

        assert set(TYPE_NAMES) <= spelled

    def test_every_product_has_a_price_in_every_currency_wherever_it_is_sold(self) -> None:
        prices = [
            product.find_price(currency, country=country)
            for product in CATALOGUE.products
            for country in product.sold_to
            for currency in Currency
        ]

        assert all(price is not None and price > 0 for price in prices)

    def test_every_product_is_sold_somewhere(self) -> None:
        assert all(product.sold_to for product in CATALOGUE.products)

    def test_every_declared_kind_and_band_is_used(self) -> None:
        assert {product.kind for product in CATALOGUE.products} == set(CATALOGUE.kinds)
        assert {product.shipping_band for product in CATALOGUE.products} == set(CATALOGUE.bands)

    def test_something_is_sold_to_every_country(self) -> None:
        assert all(CATALOGUE.list_sold_to(country) for country in COUNTRIES)

    def test_larger_prints_of_a_family_cost_no_less(self) -> None:
        small = CATALOGUE.get_product("GLOBAL-PHO-4X6")
        large = CATALOGUE.get_product("GLOBAL-PHO-12X16")

        assert all(small.base_prices[each] < large.base_prices[each] for each in Currency)
