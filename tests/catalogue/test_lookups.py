"""Looking things up in a catalogue, and refusing choices that a product does not offer."""

from collections.abc import Callable

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.catalogue.countries import COUNTRIES
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import (
    Currency,
    Product,
    QualityLevel,
    choose_attributes,
    find_turned_pictures,
)
from printworks.errors import BadInput

PRO_PRINT = "GLOBAL-PHO-4X6-PRO"
CATALOGUE = open_catalogue(None)

products = st.sampled_from(CATALOGUE.products)
countries = st.sampled_from(list(COUNTRIES))
qualities = st.sampled_from(QualityLevel)


@given(products, st.sampled_from([str.lower, str.upper, str.swapcase]))
def test_a_product_is_found_by_its_sku_in_any_case(
    product: Product, write: Callable[[str], str]
) -> None:
    assert CATALOGUE.find_product(write(product.sku)) is product


@given(products, countries, qualities)
def test_a_type_is_found_exactly_where_its_product_is_offered(
    product: Product, country: str, quality: QualityLevel
) -> None:
    is_offered = country in product.sold_to and quality in product.quality_levels

    for name in product.type_names:
        found = CATALOGUE.find_type(name.upper(), quality=quality, country=country.lower())
        assert (found is product) == is_offered


@given(countries, qualities)
def test_what_is_listed_for_a_country_is_what_can_be_found_there(
    country: str, quality: QualityLevel
) -> None:
    listed = {product.sku for product in CATALOGUE.list_sold_to(country, quality=quality)}

    for product in CATALOGUE.products:
        found = CATALOGUE.find_type(product.type_names[0], quality=quality, country=country)
        assert (found is product) == (product.sku in listed)


@given(products, countries, st.sampled_from(Currency))
def test_a_product_has_a_price_exactly_where_it_is_sold(
    product: Product, country: str, currency: Currency
) -> None:
    price = product.find_price(currency, country=country)

    assert (price is not None) == product.is_sold_to(country)


def test_a_list_without_a_quality_has_both() -> None:
    pro = CATALOGUE.list_sold_to("GB", quality=QualityLevel.PRO)
    standard = CATALOGUE.list_sold_to("GB", quality=QualityLevel.STANDARD)

    skus = {product.sku for product in CATALOGUE.list_sold_to("GB")}

    assert skus == {product.sku for product in (*pro, *standard)}


def test_a_type_can_be_asked_for_by_the_sku_with_underscores() -> None:
    found = CATALOGUE.find_type("GLOBAL_PHO_4X6_PRO", quality=QualityLevel.PRO, country="GB")

    assert found is CATALOGUE.get_product("GLOBAL-PHO-4X6-PRO")


def test_an_unknown_sku_is_refused() -> None:
    assert CATALOGUE.find_product("nothing") is None
    with pytest.raises(BadInput, match=r"^SKU not in catalogue$"):
        CATALOGUE.get_product("nothing")


def test_a_snapshot_cannot_be_changed() -> None:
    product = CATALOGUE.products[0]

    with pytest.raises(AttributeError):
        product.sku = "OTHER"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        CATALOGUE.products = ()  # type: ignore[misc]
    with pytest.raises(TypeError):
        product.base_prices[Currency.GBP] = 1  # type: ignore[index]


def test_an_offered_choice_passes() -> None:
    product = CATALOGUE.get_product("FRA-INSTA-30X30")

    assert choose_attributes(product, {"frameColour": "black"}) == {"frameColour": "black"}


def test_a_choice_is_written_as_the_product_spells_it() -> None:
    product = CATALOGUE.get_product("FRA-INSTA-30X30")

    assert choose_attributes(product, {"FRAMECOLOUR": "Black"}) == {"frameColour": "black"}


def test_what_is_not_chosen_is_the_default() -> None:
    product = CATALOGUE.get_product("FRA-INSTA-30X30")

    assert choose_attributes(product, {}) == {"frameColour": "black"}


def test_everything_that_has_no_default_must_be_chosen() -> None:
    hoodie = CATALOGUE.get_product("WEAR-HOODIE")

    with pytest.raises(BadInput) as caught:
        choose_attributes(hoodie, {})

    assert caught.value.message == (
        "`attributes.size` is required. Valid values are: [S,M,L,XL,XXL]. "
        "`attributes.colour` is required. Valid values are: [white,black,grey,navy]."
    )
    chosen = {"size": "XL", "colour": "navy"}
    assert choose_attributes(hoodie, chosen) == chosen


def test_gloss_is_another_name_of_glossy() -> None:
    product = CATALOGUE.get_product(PRO_PRINT)

    assert choose_attributes(product, {"finish": "Gloss"}) == {"finish": "glossy"}


@pytest.mark.parametrize("sku", [f" {PRO_PRINT}", f"{PRO_PRINT.lower()}\t "])
def test_blanks_around_a_sku_or_a_type_do_not_matter(sku: str) -> None:
    assert CATALOGUE.get_product(sku).sku == PRO_PRINT
    assert CATALOGUE.find_type(" 4x6 ", quality=QualityLevel.PRO, country="GB") is not None


class TestResolvingAType:
    """By the country whose catalogue counts."""

    @pytest.mark.parametrize(
        ("name", "country", "sku"),
        [
            ("4x6", "GB", PRO_PRINT),
            ("4x6", "JP", PRO_PRINT),
            ("C20x30_1_25_au", "AU", "AU-CAN-125-20X30"),
            ("C20x30_1_25_au", "GB", None),
        ],
    )
    def test_it_is_what_the_catalogue_has(self, name: str, country: str, sku: str | None) -> None:
        found = CATALOGUE.resolve_type(name, quality=None, country=country)

        assert (found and found.sku) == sku

    @pytest.mark.parametrize(
        ("quality", "sku"),
        [(QualityLevel.PRO, PRO_PRINT), (QualityLevel.STANDARD, "GLOBAL-PHO-4X6")],
    )
    def test_it_is_what_the_quality_level_means_by_it(
        self, quality: QualityLevel, sku: str
    ) -> None:
        found = CATALOGUE.resolve_type("4x6", quality=quality, country="GB")

        assert found is not None
        assert found.sku == sku


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"colour": "black"}, "Invalid attribute name colour"),
        (
            {"frameColour": "gold"},
            "Value of 'gold' supplied for attribute 'frameColour' isn't in the list of "
            "supported values. Valid values are: [white,black]",
        ),
    ],
)
def test_a_choice_that_is_not_offered_is_refused(chosen: dict[str, str], message: str) -> None:
    with pytest.raises(BadInput) as caught:
        choose_attributes(CATALOGUE.get_product("FRA-INSTA-30X30"), chosen)

    assert caught.value.message == message


def test_pictures_stay_upright_on_what_has_an_upper_edge() -> None:
    upright = {product.kind for product in CATALOGUE.products if not product.may_turn}

    assert upright == {"mug", "case", "clothing", "keyring", "photobook"}
    for product in CATALOGUE.products:
        assert product.may_turn is (product.kind not in upright)
        assert product.print_area.may_turn is product.may_turn
    assert list(find_turned_pictures(CATALOGUE.products)) == []


def test_who_forgets_to_say_so_is_warned() -> None:
    mug = CATALOGUE.get_product("MUG-10OZ-WHITE")

    [warning] = find_turned_pictures([msgspec.structs.replace(mug, may_turn=True), mug])

    assert warning == (
        "Pictures may be turned on MUG-10OZ-WHITE of the kind mug, "
        "where they would lie on their side: `turn = false` keeps them upright."
    )
