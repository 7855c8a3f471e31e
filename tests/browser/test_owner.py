"""An owner makes a catalogue from nothing in a browser, publishes it, changes a price, goes back."""

from collections.abc import Iterator, Mapping
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage
from tests.browser.houses import House, open_house, press
from tests.browser.inspecting import check_page

PATIENCE: Final = 60_000
PRODUCTS: Final = {
    f"PRINT-{size}": {"Name": f"Print {size} cm", "Printed size": size.lower().replace("x", " x ")}
    for size in ("9X13", "10X15", "13X18", "15X20", "18X24", "20X30")
} | {
    f"CANVAS-{size}": {"Name": f"Canvas {size} cm", "Printed size": size.lower()}
    for size in ("20X20", "30X30", "30X40", "40X60", "50X70", "60X90")
}
LABS: Final = {"leipzig": "print", "erfurt": "print, canvas"}


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A sandbox that runs."""
    with open_house(tmp_path_factory.mktemp("house") / "data") as house:
        yield house


def fill(page: Page, texts: Mapping[str, str]) -> None:
    """Type into fields by their labels."""
    for label, text in texts.items():
        page.get_by_label(label, exact=True).first.fill(text)


def add_lab(page: Page, edit: str, code: str, kinds: str) -> None:
    page.goto(f"{edit}/new/labs")
    fill(
        page,
        {
            "Name": code.capitalize(),
            "Short name": code,
            "Country": "Germany",
            "Time zone": "Europe/Berlin",
            "Begins the same day what comes before": "12:00",
            "Working days for production": "2",
            "Items it can make a day": "500",
            "Kinds": kinds,
            "Cost in per cent of the price": "40",
        },
    )
    page.get_by_label("Currency of its costs").select_option("EUR")
    press(page, "Add lab")
    expect(page.get_by_text("It was added.")).to_be_visible()


def add_shipping(page: Page, edit: str) -> None:
    parcels = {
        "bands.Parcels.items": "10",
        "bands.Parcels.EUR.0": "4.90",
        "bands.Parcels.EUR.1": "2",
    }
    page.goto(f"{edit}/new/services")
    fill(page, {"Name": "Parcel", "Short name": "parcel", "To": "Germany\nAustria"})
    page.get_by_label("Carrier").select_option("DHL")
    for box in ("Leipzig", "Erfurt", "Budget", "Standard", "Express", "Overnight"):
        page.get_by_label(box, exact=True).check()
    fill(page, {"Working days on the way, at least": "1", "At most": "2"})
    for name, text in parcels.items():
        page.locator(f'[name="{name}"]').fill(text)
    press(page, "Add service")
    expect(page.get_by_text("It was added.")).to_be_visible()
    page.goto(f"{edit}/new/tariff")
    fill(page, {"Name": "Parcel", "To": "Everywhere"})
    for box in ("Budget", "Standard", "Express", "Overnight"):
        page.get_by_label(box, exact=True).check()
    for name, text in parcels.items():
        page.locator(f'[name="{name}"]').fill(text)
    press(page, "Add tariff")
    expect(page.get_by_text("It was added.")).to_be_visible()


def add_products(page: Page, edit: str) -> None:
    page.goto(f"{edit}/new/products")
    for sku, texts in PRODUCTS.items():
        fill(page, {"Article number": sku, **texts, "Price in EUR": "9.50"})
        kind = sku.partition("-")[0].lower()
        page.get_by_label("Kind").select_option(kind)
        page.get_by_label("Measured in").select_option("cm")
        page.get_by_label("Shipping band").select_option("Parcels")
        fill(page, {"Sold to": "Germany\nAustria"})
        press(page, "Add and make another like it")
        expect(page.get_by_text("It was added.")).to_be_visible()


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_an_owner_makes_a_catalogue_from_nothing(open_page: NewPage, house: House) -> None:
    page = open_page("desktop")
    page.set_default_timeout(PATIENCE)
    house.enter_console(page, "owner@works.example")
    page.goto(house.at("/console/versions"))
    page.locator("#new-title").fill("Our own catalogue")
    page.get_by_label("Begin with").select_option("nothing")
    page.locator("#new").get_by_label("EUR").check()
    press(page, "Make a draft")
    page.wait_for_url("**/edit*")
    edit = page.url.partition("?")[0]

    add_products(page, edit)
    for code, kinds in LABS.items():
        add_lab(page, edit, code, kinds)
    add_shipping(page, edit)
    page.goto(edit)
    expect(page.get_by_role("heading", name="Ready to be published")).to_be_visible()
    check_page(page)
    page.goto(f"{edit}/products/PRINT-9X13")
    page.goto(f"{edit}/products")
    page.goto(f"{edit}/tariff/0")
    page.goto(edit)
    page.get_by_role("link", name="See what changes").click()
    press(page, "Publish")
    expect(page.get_by_text("In use").first).to_be_visible()
    ours = page.url.partition("?")[0]

    page.locator("#copy-title").fill("Dearer")
    press(page, "Make a draft of it")
    page.wait_for_url("**/edit*")
    page.goto(f"{page.url.partition('?')[0]}/products/PRINT-9X13")
    fill(page, {"Price in EUR": "dear"})
    press(page, "Save product")
    wrong = page.locator('[name="price.EUR"]')
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(wrong).to_be_focused()
    check_page(page)
    wrong.fill("9.90")
    press(page, "Save product")
    expect(page.get_by_text("It was saved.")).to_be_visible()
    page.goto(page.url.partition("/edit")[0])
    expect(page.get_by_text("9.90").first).to_be_visible()
    press(page, "Publish")
    expect(page.get_by_text("In use").first).to_be_visible()
    page.goto(ours)
    press(page, "Roll back to it")
    expect(page.get_by_text("Back to version").first).to_be_visible()
