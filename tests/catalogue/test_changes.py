"""What differs between two catalogues is said in words that an owner knows."""

from pathlib import Path

import msgspec

from printworks.catalogue.changes import list_changes
from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.snapshot import Catalogue
from tests.catalogue.folders import (
    RATES,
    WORDS,
    a_lab,
    a_product,
    a_promise,
    a_service,
    a_tariff,
    a_whole_folder,
)

SECOND = {"sku": '"PHOTO-5X7"', "type": '"5x7"', "image": '"5x7"'}


def compare(where: Path, *products: str, **changed: str) -> list[str]:
    """Compare the usual catalogue with one in which something is different."""
    for name in ("before", "after"):
        (where / name).mkdir()
    before = Catalogue.load(a_whole_folder(where / "before", a_product()))
    after = Catalogue.load(a_whole_folder(where / "after", *(products or [a_product()]), **changed))
    return [str(change) for change in list_changes(before, after)]


def test_the_same_catalogue_has_no_changes(tmp_path: Path) -> None:
    assert compare(tmp_path) == []


def test_another_price_is_named_with_its_currency(tmp_path: Path) -> None:
    dearer = a_product(price="{ GBP = 25, EUR = 25 }")

    assert compare(tmp_path, dearer) == [
        "product PHOTO-4X6, price GBP: 0.20 → 0.25",
        # The lab of these catalogues asks for a part of the price.
        "lab hill, product PHOTO-4X6: cost 0.08, production days 2 → cost 0.10, production days 2",
    ]


def test_products_come_and_go(tmp_path: Path) -> None:
    said = compare(tmp_path, a_product(**SECOND))

    assert "product PHOTO-4X6: removed" in said
    assert "product PHOTO-5X7: added" in said


def test_labs_services_tariffs_promises_and_rates_are_compared(tmp_path: Path) -> None:
    said = compare(
        tmp_path,
        labs=a_lab(capacity="77", paused="true"),
        services=a_service(tracked="true"),
        promises=a_promise(Budget="12"),
        tariff=a_tariff(bands="{ Prints = { items = 50, GBP = [399, 90], EUR = [340, 105] } }"),
        rates=RATES.replace("0.85", "0.9"),
        words=WORDS + "# The same.\n",
    )

    text = "\n".join(said)
    assert "capacity: " in text
    assert " → 77" in text
    assert "paused: no → yes" in text
    assert "tracked: no → yes" in text
    assert "promise Budget to everywhere, days: 9 → 12" in text
    assert "price GBP: items 50, first 2.99, further 0.90 → items 50, first 3.99" in text
    assert "catalogue, exchange rates: GBP 1, EUR 0.85 → GBP 1, EUR 0.9" in text


def test_of_a_long_list_only_what_differs_is_said() -> None:
    everything = open_catalogue(None)
    product = next(one for one in everything.products if len(one.sold_to) > 100)
    narrower = msgspec.structs.replace(product, sold_to=product.sold_to - {"GB"})
    others = tuple(one for one in everything.products if one is not product)
    changed = msgspec.structs.replace(
        everything, products=(narrower, *others), fingerprint="another"
    )

    assert list_changes(everything, Catalogue.load(everything.texts)) == ()
    [change] = list_changes(everything, changed)
    assert (change.part, change.before, change.after) == ("sold to", "… GB", "…")
