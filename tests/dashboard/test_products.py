"""How products look: families with their sizes inside, and drawings of them."""

import re

import pytest

from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.product_families import (
    FamilyFilter,
    SizeClass,
    classify,
    find_family,
    list_families,
    search_families,
)
from printworks.dashboard.shared.product_pictures import (
    draw_motif,
    draw_product,
    draw_swatch,
)
from printworks.rules.sizing import Units
from tests.dashboard.reading_pages import PageReader


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """All that is sold."""
    return open_catalogue(None)


class TestFamilies:
    def test_every_product_is_in_one_family(self, catalogue: Catalogue) -> None:
        families = list_families(catalogue)

        skus = [product.sku for family in families for product in family.products]
        assert sorted(skus) == sorted(product.sku for product in catalogue.products)
        assert len(families) < len(skus) / 5
        for family in families:
            assert {product.kind for product in family.products} == {family.kind}
            assert len({tuple(a.name for a in one.attributes) for one in family.products}) == 1

    def test_names_have_no_size(self, catalogue: Catalogue) -> None:
        names = [family.name for family in list_families(catalogue)]

        assert [name for name in names if re.search(r"\d+x\d+|\bA\d\b|\s\s|of$", name)] == []
        assert "Print mounted in classic frame" in names
        assert {"Print", "Print, standard quality"} <= set(names)

    def test_a_family_is_found_by_any_of_its_products(self, catalogue: Catalogue) -> None:
        small, large = (catalogue.get_product(f"FRA-CLA-{size}") for size in ("6X6", "A2"))

        assert find_family(catalogue, small) is find_family(catalogue, large)

    def test_what_is_looked_for_is_found_in_the_country_only(self, catalogue: Catalogue) -> None:
        def names(country: str, **wanted: str) -> list[str]:
            found = search_families(catalogue, country, FamilyFilter(**wanted))
            return [family.name for family, _ in found]

        assert names("GB", text="PRISM") == []
        assert names("AU", text="prism gloss") == ["Acrylic prism, gloss"]
        assert names("GB", text="mug", kind="case") == []
        assert "Print" not in names("GB", kind="print", size="large")

    def test_sizes_are_told_by_the_longer_side_in_any_units(self, catalogue: Catalogue) -> None:
        sizes = {classify(catalogue.get_product(sku)) for sku in ("M-STI-2X2", "MAG-FRIDGE")}

        assert sizes == {SizeClass.SMALL}
        assert classify(catalogue.get_product("GLOBAL-POS-10X15")) is SizeClass.MEDIUM
        assert classify(catalogue.get_product("FRA-CLA-A2")) is SizeClass.LARGE
        assert {product.units for product in catalogue.products} == set(Units)


class TestDrawings:
    def test_every_product_has_a_small_drawing_that_runs_nothing(
        self, catalogue: Catalogue
    ) -> None:
        drawings = {product.sku: draw_product(product) for product in catalogue.products}

        assert max(map(len, drawings.values())) < 2_500
        for drawing in drawings.values():
            assert 'aria-hidden="true"' in drawing
            assert "#motif" in drawing
            numbers = re.findall(r'(?:width|height)="(-?[\d.e-]+)"', drawing)
            assert min(map(float, numbers)) > 0
        together = "".join(dict.fromkeys(drawings.values()))
        assert PageReader(f"{draw_motif()}{together}").dangers == []

    def test_a_frame_has_the_colour_that_is_chosen_and_a_mount_if_there_is_one(
        self, catalogue: Catalogue
    ) -> None:
        plain, mounted = map(catalogue.get_product, ("FRA-CLA-6X6", "FRA-CLA-12X12-6X6"))

        assert draw_product(plain) != draw_product(plain, {"frameColour": "white"})
        assert draw_product(plain, {"frameColour": "no such"}) != ""
        assert draw_product(mounted).count("<rect") > draw_product(plain).count("<rect")

    def test_colours_have_swatches_and_sizes_have_none(self) -> None:
        assert draw_swatch("Navy") is not None
        assert draw_swatch("XXL") is None
