"""The catalogue and the countries through the older versions."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from printworks.catalogue.countries import COUNTRIES
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.api.v2.shop import seen
from tests.catalogue.folders import a_product, a_whole_folder

pytestmark = pytest.mark.every_version


@pytest.mark.parametrize(
    ("country", "quality", "name", "facts"),
    [
        ("GB", "Pro", "4x6", ("4x6 inch print", 4, 6, 4, 6, "inches", 600, 900)),
        (
            "GB",
            "Pro",
            "4x18",
            ("4x18 poster mounted in 10x24 frame", 4, 18, 10, 24, "inches", 600, 2700),
        ),
        ("IE", "Standard", "9x12_cm", ("9x12 cm print", 9, 12, 9, 12, "cm", 540, 720)),
    ],
)
def test_it_shows_what_clients_know(
    v2: Client, country: str, quality: str, name: str, facts: tuple[object, ...]
) -> None:
    catalogue = seen(v2.get(f"/Catalogue/{country}/{quality}"))

    [item] = [each for each in catalogue["items"] if each["name"] == name]
    shown = (
        "description", "imageHorizontalSize", "imageVerticalSize", "fullProductHorizontalSize",
        "fullProductVerticalSize", "sizeUnits", "recommendedHorizontalResolution",
        "recommendedVerticalResolution",
    )  # fmt: skip
    assert tuple(item[each] for each in shown) == facts


def test_a_canvas_is_larger_than_its_frame(v2: Client) -> None:
    items = seen(v2.get("/Catalogue/AU/Standard"))["items"]

    wanted = "20x30 inch gallery wrapped canvas on 1.25 inch stretchers"
    [canvas] = [each for each in items if each["description"] == wanted]
    assert (canvas["imageHorizontalSize"], canvas["imageVerticalSize"]) == (22.75, 32.75)
    assert (canvas["fullProductHorizontalSize"], canvas["fullProductVerticalSize"]) == (20, 30)


def test_whole_sizes_are_whole_numbers(v2: Client) -> None:
    assert b'"imageHorizontalSize":4,' in v2.get("/Catalogue/GB/Pro").body


def test_a_quality_level_has_its_own_types(v2: Client) -> None:
    names = {each["name"] for each in seen(v2.get("/catalogue/gb/standard/"))["items"]}

    assert "4x6" in names
    assert "4x18" not in names


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("/Catalogue/QQ/Pro", "Country with code QQ not found"),
        ("/Catalogue/GB/Best", "QualityLevel Best not found"),
    ],
)
def test_what_is_unknown_is_not_found(v2: Client, path: str, sentence: str) -> None:
    answer = v2.get(path)

    assert (answer.status, answer.error) == (404, sentence)


def test_every_known_country_has_a_catalogue_and_rates_for_its_bands(v2_6: Client) -> None:
    for code in list(COUNTRIES)[::25]:
        catalogue = seen(v2_6.get(f"/Catalogue/{code}/Standard"))

        bands = {item["shippingBand"] for item in catalogue["items"]}
        assert {rate["band"] for rate in catalogue["shippingRates"]} == bands


def test_every_country_is_listed_in_capitals(v2: Client) -> None:
    countries = seen(v2.get("/Country"))

    assert {each["countryCode"] for each in countries} == set(COUNTRIES)
    assert all(each["name"] == each["name"].upper() for each in countries)
    assert any(each["hasProducts"] for each in countries)


@pytest.mark.parametrize("product_type", ['"4x6"', None])
def test_a_country_has_products_if_its_catalogue_lists_any(
    v2: Client, settings: Settings, database: Database, tmp_path: Path, product_type: str | None
) -> None:
    folder = a_whole_folder(tmp_path, a_product(type=product_type))
    url = database.url.render_as_string(hide_password=False)
    changed = msgspec.structs.replace(settings, database_url=url, catalogue=folder)
    with closing(Server(build_app(changed, MovableClock()))) as server:
        shop = replace(v2, server=server)
        countries = {one["countryCode"]: one["hasProducts"] for one in seen(shop.get("/Country"))}
        listed = seen(shop.get("/Catalogue/GB/Standard"))["items"]

    assert countries["GB"] == bool(listed) == (product_type is not None)
