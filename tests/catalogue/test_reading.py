"""Reading a folder: what an operator may write."""

import re
import tempfile
from contextlib import suppress
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.catalogue.form_reading import list_fields
from printworks.catalogue.forms import FamilyForm
from printworks.catalogue.problems import BadCatalogue
from printworks.catalogue.products import (
    Attribute,
    Currency,
    Product,
    QualityLevel,
    Size,
)
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.sizing import Pixels
from tests.catalogue.folders import WORDS, a_family, a_folder, a_product

PAGE = Path(__file__).parents[2] / "docs" / "operate" / "catalogue.md"


def read_one(where: Path, *products: str) -> Product:
    [product] = Catalogue.load(a_folder(where, *products)).products
    return product


class TestProducts:
    def test_a_product_has_what_is_written(self, tmp_path: Path) -> None:
        product = read_one(
            tmp_path,
            a_product(
                quality='["Pro"]',
                attributes='{ finish = ["matte", "gloss"], size = ["S", "M"] }',
                defaults='{ finish = "gloss" }',
            ),
        )

        assert (product.sku, product.type_name) == ("PHOTO-4X6", "4x6")
        assert product.quality_levels == (QualityLevel.PRO,)
        assert product.attributes == (
            Attribute("finish", ("matte", "gloss"), "gloss"),
            Attribute("size", ("S", "M"), None),
        )
        assert product.sold_to == {"GB", "IE"}
        assert product.find_price(Currency.EUR, country="IE") == 25

    def test_without_more_it_is_in_inches_in_both_qualities(self, tmp_path: Path) -> None:
        product = read_one(tmp_path, a_product())

        assert product.quality_levels == tuple(QualityLevel)
        assert product.full_size == product.image_size == Size(Decimal(4), Decimal(6))
        assert product.recommended_pixels == Pixels(600, 900)
        assert product.attributes == ()

    def test_a_product_without_a_type_is_found_by_its_sku(self, tmp_path: Path) -> None:
        product = read_one(tmp_path, a_product(type=None))

        assert product.type_name is None
        assert product.type_names == ("PHOTO-4X6", "PHOTO_4X6")

    def test_a_family_has_a_product_for_each_row(self, tmp_path: Path) -> None:
        family = a_family('"image", "GBP", "EUR"', '"4x6", 20, 25', '"8x10", 90, 99')

        products = Catalogue.load(a_folder(tmp_path, family)).products

        assert [product.sku for product in products] == ["PHOTO-4X6", "PHOTO-8X10"]
        assert products[1].description == "8x10 inch print"
        assert products[1].base_prices == {Currency.GBP: 90, Currency.EUR: 99}

    def test_a_cell_wins_unless_it_is_empty(self, tmp_path: Path) -> None:
        family = a_family(
            '"image", "type", "GBP", "EUR"', '"4x6", "small", 20, 25', '"8x10", "", 90, 99'
        )

        products = Catalogue.load(a_folder(tmp_path, family)).products

        assert [product.type_name for product in products] == ["small", "8x10"]

    def test_a_price_may_differ_in_one_country(self, tmp_path: Path) -> None:
        product = read_one(tmp_path, a_product(price="{ GBP = 20, EUR = 25, EUR-IE = 29 }"))

        assert product.find_price(Currency.EUR, country="GB") == 25
        assert product.find_price(Currency.EUR, country="ie") == 29

    def test_prices_for_each_country_need_no_base_price(self, tmp_path: Path) -> None:
        product = read_one(tmp_path, a_product(price="{ GBP = 20, EUR-IE = 29, EUR-GB = 30 }"))

        assert product.find_price(Currency.EUR, country="GB") == 30

    def test_a_column_may_hold_the_price_in_one_country(self, tmp_path: Path) -> None:
        product = read_one(tmp_path, a_family('"image", "GBP", "EUR", "EUR-IE"', '"4x6", 1, 2, 3'))

        assert product.find_price(Currency.EUR, country="IE") == 3

    def test_a_cell_may_hold_all_prices(self, tmp_path: Path) -> None:
        product = read_one(tmp_path, a_family('"image", "price"', '"4x6", { GBP = 1, EUR = 2 }'))

        assert product.base_prices == {Currency.GBP: 1, Currency.EUR: 2}

    def test_a_wrapped_picture_is_larger_than_the_product(self, tmp_path: Path) -> None:
        product = read_one(tmp_path, a_product(image=None, full='"20x30"', wrap="1.375"))

        assert str(product.image_size) == "22.75x32.75"
        assert product.recommended_pixels == Pixels(3413, 4913)

    @pytest.mark.parametrize(
        ("keys", "pixels"),
        [
            ({"units": '"cm"'}, Pixels(240, 360)),
            ({"density": "300"}, Pixels(1200, 1800)),
            ({"pixels": '"111x222"'}, Pixels(111, 222)),
        ],
    )
    def test_recommended_pixels_follow_from_units_and_density(
        self, keys: dict[str, str], pixels: Pixels, tmp_path: Path
    ) -> None:
        assert read_one(tmp_path, a_product(**keys)).recommended_pixels == pixels

    def test_products_may_be_spread_over_files(self, tmp_path: Path) -> None:
        folder = a_folder(tmp_path, a_product(), more=a_product(sku='"OTHER"', type='"other"'))

        assert [product.sku for product in Catalogue.load(folder).products] == [
            "OTHER",
            "PHOTO-4X6",
        ]

    def test_a_group_may_contain_a_group(self, tmp_path: Path) -> None:
        words = WORDS + 'NEAR = ["ISLES", "FR"]\n'
        folder = a_folder(tmp_path, a_product(sold_to='["NEAR"]'), words=words)

        [product] = Catalogue.load(folder).products

        assert product.sold_to == {"GB", "IE", "FR"}

    def test_the_same_type_may_be_two_products_in_two_countries(self, tmp_path: Path) -> None:
        british = a_product(sold_to='["GB"]')
        irish = a_product(sku='"OTHER"', sold_to='["IE"]')
        catalogue = Catalogue.load(a_folder(tmp_path, british, irish))

        found = catalogue.find_type("4x6", quality=QualityLevel.PRO, country="IE")

        assert found is not None
        assert found.sku == "OTHER"

    def test_the_example_of_the_manual_is_a_catalogue(self, tmp_path: Path) -> None:
        example = re.search(r"```toml\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
        assert example is not None
        (tmp_path / "example.toml").write_text(example[1])

        catalogue = Catalogue.load(tmp_path)

        assert len(catalogue.products) == 5
        assert str(catalogue.get_product("CANVAS-12X16").image_size) == "15x19"
        assert catalogue.get_product("MUG-WHITE").find_price(Currency.EUR, country="IE") == 560

    def test_the_manual_names_every_key(self) -> None:
        manual = PAGE.read_text(encoding="utf-8")

        assert [key for key in list_fields(FamilyForm) if f"`{key}`" not in manual] == []


TOML_VALUES = st.sampled_from(
    [
        *("1", "-1", "1.5", "nan", "inf", "true", "1979-05-27", '""', '"x"', '"4x6"', '"{image}"'),
        *("[]", "[[]]", "[1]", '["GB"]', '[["4x6"]]', "{}", "{ a = 1 }", "{ GBP = {} }", "[{}]"),
        *('"GBP"', '["image"]', '["price"]', "[[{ GBP = 1 }]]", '["image", "sku"]'),
    ]
)


@given(st.dictionaries(st.sampled_from(list(list_fields(FamilyForm))), TOML_VALUES, max_size=4))
def test_nothing_that_is_toml_breaks_the_reader(changed: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as where:
        folder = a_folder(Path(where), a_product(**changed))

        with suppress(BadCatalogue):
            Catalogue.load(folder)


@given(
    st.dictionaries(
        st.sampled_from(["currencies", "kinds", "bands", "groups", "products", "x"]), TOML_VALUES
    )
)
def test_nothing_that_is_toml_breaks_the_word_lists(words: dict[str, str]) -> None:
    text = "".join(f"{key} = {value}\n" for key, value in words.items())
    with tempfile.TemporaryDirectory() as where:
        folder = a_folder(Path(where), a_product(), words=text)

        with suppress(BadCatalogue):
            Catalogue.load(folder)
