"""What photos are in the catalogue, and what they become when their order changes, through 2.x."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from printworks.settings import Settings
from tests.api.client import Client
from tests.api.v2.shop import a_photo, add, create, see, seen, set_status, upload
from tests.catalogue.folders import a_product, a_whole_folder
from tests.worker.shops import A_PICTURE

TYPE_NAMES = Path(__file__).parents[2].joinpath("catalogue", "photo_types.txt").read_text().split()
HOODIE = "Hoodie_AWD_JH001"
SIZES = "`attributes.size` is required. Valid values are: [S,M,L,XL,XXL]."


class TestAttributes:
    @pytest.mark.every_version
    def test_what_has_no_default_must_be_chosen(self, v2: Client) -> None:
        order_id = create(v2)
        hoodie = a_photo(type=HOODIE, attributes={"colour": "navy"})

        one = v2.post(f"/Orders/{order_id}/Photos", hoodie)
        several = v2.post(f"/Orders/{order_id}/Photos/Batch", [a_photo(), hoodie])
        sent = upload(v2, order_id, A_PICTURE, type=HOODIE, **{"attributes[colour]": "navy"})

        assert (one.status, one.error) == (400, SIZES)
        assert (several.status, several.error) == (400, f"Element 2: {SIZES}")
        assert (sent.status, sent.error) == (400, SIZES)
        assert see(v2, order_id)["photos"] == []

    @pytest.mark.every_version
    def test_the_catalogue_says_what_has_a_default(self, v2: Client) -> None:
        items = seen(v2.get("/Catalogue/GB/Pro"))["items"]
        attributes = {item["name"]: item["attributes"] for item in items}

        assert attributes["4x6"] == [
            {
                "name": "finish",
                "validValues": ["lustre", "glossy", "matte"],
                "defaultValue": "lustre",
            }
        ]
        assert [each["defaultValue"] for each in attributes[HOODIE]] == [None, None]

    def test_what_is_chosen_or_not_is_shown(self, v2: Client) -> None:
        order_id = create(v2)

        sent = seen(upload(v2, order_id, A_PICTURE, **{"attributes[finish]": "gloss"}))

        assert sent["attributes"] == {"finish": "glossy"}
        assert add(v2, order_id, type="4x18")["attributes"] == {"frameColour": "black"}

    @pytest.mark.parametrize("quality", ["Pro", "Standard"])
    @pytest.mark.parametrize("country", ["GB", "US", "AU", "JP"])
    def test_the_catalogue_has_no_names_but_those_in_use(
        self, v2: Client, country: str, quality: str
    ) -> None:
        items = seen(v2.get(f"/Catalogue/{country}/{quality}"))["items"]

        assert items
        assert {item["name"] for item in items} <= set(TYPE_NAMES)

    def test_what_has_no_type_is_shown_by_its_sku(self, v2: Client, v3: Client) -> None:
        order_id = create(v2)
        image = {"sku": "M-STI-3X4", "url": "https://shop.example/a.jpg", "copies": 1}
        v3.post(f"/orders/{order_id}/images", image)

        assert [photo["type"] for photo in see(v2, order_id)["photos"]] == ["M-STI-3X4"]
        assert add(v2, order_id, type="M-STI-3X4")["type"] == "M-STI-3X4"


@pytest.mark.both_databases
class TestChangingTheOrder:
    @pytest.mark.every_version
    def test_another_quality_level_is_another_product_at_another_price(
        self, v2: Client, v3: Client
    ) -> None:
        order_id = create(v2)
        before = add(v2, order_id, attributes={"finish": "matte"})

        changed = seen(v2.put(f"/Orders/{order_id}", {"qualityLevel": "Standard"}))

        [photo] = changed["photos"]
        assert (photo["id"], photo["type"]) == (before["id"], "4x6")
        assert (before["price"], photo["price"]) == (28, 19)
        assert changed["price"] == 19 + changed["shippingInfo"]["price"]
        assert photo["attributes"] == {"finish": "matte"}
        [image] = v3.get(f"/orders/{order_id}").data["images"]
        assert image["sku"] == "GLOBAL-PHO-4X6"

    @pytest.mark.every_version
    @pytest.mark.parametrize(
        ("type_", "change", "reason"),
        [
            (
                "4x18",
                {"qualityLevel": "Standard"},
                "4x18 is not sold to GB in quality level Standard.",
            ),
            ("C8x8", {"destinationCountryCode": "JP"}, "C8x8 is not sold to JP."),
            (
                "C8x8",
                {"destinationCountryCode": "JP", "qualityLevel": ""},
                "C8x8 is not sold to JP.",
            ),
            (
                "C8x8",
                {"destinationCountryCode": "JP", "countryCode": "DE", "address1": "2 Hill Road"},
                "C8x8 is not sold to JP.",
            ),
        ],
    )
    def test_a_change_that_leaves_a_photo_unsold_changes_nothing(
        self, v2: Client, type_: str, change: dict[str, str], reason: str
    ) -> None:
        order_id = create(v2)
        add(v2, order_id)
        add(v2, order_id, type=type_)
        before = see(v2, order_id)

        answer = v2.put(f"/Orders/{order_id}", change)

        assert (answer.status, answer.error) == (400, reason)
        assert see(v2, order_id) == before

    def test_another_print_country_keeps_what_its_catalogue_has(self, v2: Client) -> None:
        order_id = create(v2)
        before = [add(v2, order_id), add(v2, order_id, type="C8x8")]

        changed = seen(v2.put(f"/Orders/{order_id}", {"countryCode": "DE"}))
        refused = v2.put(f"/Orders/{order_id}", {"countryCode": "JP"})

        assert changed["photos"] == before
        assert (refused.status, refused.error) == (400, "C8x8 is not sold to JP.")
        assert set_status(v2, order_id, "Submitted").status == 200

    def test_no_country_at_all_keeps_everything_until_there_is_one(self, v2: Client) -> None:
        order_id = create(v2)
        add(v2, order_id, type="C8x8")
        nowhere = {"destinationCountryCode": "", "countryCode": ""}

        [kept] = seen(v2.put(f"/Orders/{order_id}", nowhere))["photos"]
        refused = v2.put(f"/Orders/{order_id}", {"countryCode": "JP"})

        assert (kept["type"], kept["price"]) == ("C8x8", 0)
        assert (refused.status, refused.error) == (400, "C8x8 is not sold to JP.")

    def test_whoever_gave_a_sku_of_another_quality_keeps_it(self, v2: Client, v3: Client) -> None:
        order_id = create(v2)
        image = {"sku": "GLOBAL-PHO-4X6", "url": "https://shop.example/a.jpg", "copies": 1}
        v3.post(f"/orders/{order_id}/images", image)

        v2.put(f"/Orders/{order_id}", {"destinationCountryCode": "IE"})

        [shown] = v3.get(f"/orders/{order_id}").data["images"]
        assert shown["sku"] == "GLOBAL-PHO-4X6"

    def test_a_quality_level_that_comes_later_counts_then(self, v2: Client, v3: Client) -> None:
        order_id = create(v2, qualityLevel="")
        add(v2, order_id)

        v2.put(f"/Orders/{order_id}", {"qualityLevel": "Standard"})

        [shown] = v3.get(f"/orders/{order_id}").data["images"]
        assert shown["sku"] == "GLOBAL-PHO-4X6"


class TestAnotherChoiceOfAttributes:
    @pytest.fixture
    def settings(self, settings: Settings, tmp_path: Path) -> Settings:
        """A catalogue in which a type has more finishes in Pro than in Standard."""
        pro = a_product(quality='["Pro"]', attributes='{ finish = ["matte", "glossy"] }')
        standard = a_product(
            sku='"PHOTO-4X6-S"',
            quality='["Standard"]',
            attributes='{ finish = ["matte"], edge = ["white", "black"] }',
            defaults='{ edge = "white" }',
        )
        folder = a_whole_folder(tmp_path, pro, standard)
        return msgspec.structs.replace(settings, catalogue=folder)

    def test_what_the_new_product_offers_is_kept_and_its_defaults_are_added(
        self, v2: Client
    ) -> None:
        order_id = create(v2)
        add(v2, order_id, attributes={"finish": "matte"})

        [photo] = seen(v2.put(f"/Orders/{order_id}", {"qualityLevel": "Standard"}))["photos"]

        assert photo["attributes"] == {"finish": "matte", "edge": "white"}

    def test_what_it_does_not_offer_refuses_the_change(self, v2: Client) -> None:
        order_id = create(v2)
        before = add(v2, order_id, attributes={"finish": "gloss"})

        answer = v2.put(f"/Orders/{order_id}", {"qualityLevel": "Standard"})

        assert (answer.status, answer.error) == (
            400,
            "4x6 is not sold to GB in quality level Standard with its attributes: Value of 'glossy' "
            "supplied for attribute 'finish' isn't in the list of supported values. "
            "Valid values are: [matte].",
        )
        assert see(v2, order_id)["photos"] == [before]


def _ask_for_a_photo(client: Client, order_id: int) -> Any:
    return client.get(f"/Orders/{order_id}/Photos/999")


def _delete_a_photo(client: Client, order_id: int) -> Any:
    return client.delete(f"/Orders/{order_id}/Photos/999")


def _add_to_a_cancelled_order(client: Client, order_id: int) -> Any:
    set_status(client, order_id, "Cancelled")
    return client.post(f"/Orders/{order_id}/Photos", a_photo())


def _ask_for_what_is_not_sold(client: Client, order_id: int) -> Any:
    return client.post(f"/Orders/{order_id}/Photos", a_photo(type=" C20x30_1_25_au "))


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (_ask_for_a_photo, "The photo with the specified id was not found"),
        (_delete_a_photo, "The photo with the specified id was not found"),
        (
            _add_to_a_cancelled_order,
            "Photos cannot be added to an order that is Cancelled; "
            "only to one that is NotYetSubmitted.",
        ),
        (
            _ask_for_what_is_not_sold,
            "There is no item of type C20x30_1_25_au in quality level Pro for GB.",
        ),
    ],
)
@pytest.mark.every_version
def test_a_refusal_speaks_of_photos_and_types(
    v2: Client, ask: Callable[[Client, int], Any], sentence: str
) -> None:
    assert ask(v2, create(v2)).error == sentence


@pytest.mark.every_version
def test_what_is_not_sold_to_the_destination_is_refused_by_its_type(v2: Client) -> None:
    order_id = create(v2, countryCode="GB", destinationCountryCode="JP")
    canvas = a_photo(type="c8x8")

    one = v2.post(f"/Orders/{order_id}/Photos", canvas)
    several = v2.post(f"/Orders/{order_id}/Photos/Batch", [a_photo(), canvas])
    sent = upload(v2, order_id, A_PICTURE, type="C8x8")

    assert (one.status, one.error) == (400, "C8x8 is not sold to JP.")
    assert (several.status, several.error) == (400, "Element 2: C8x8 is not sold to JP.")
    assert (sent.status, sent.error) == (400, "C8x8 is not sold to JP.")
    assert see(v2, order_id)["photos"] == []
