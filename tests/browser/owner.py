"""What the owner of a print shop does in the forms of the catalogue, step by step."""

import json
from collections.abc import Callable, Mapping
from importlib import resources
from pathlib import Path
from typing import Final

from playwright.sync_api import Page, expect

from printworks.catalogue.opening import open_catalogue
from printworks.imaging.processor import DrawnMockup, ImageProcessor, PreparedImage
from printworks.rules.sizing import Layout, Sizing
from tests.browser.houses import House, press
from tests.browser.streams import OrderStream
from tests.running import Merchant, command

# Draws a page under a name, or does nothing.
Draw = Callable[[Page, str], None]

SAMPLE: Final = resources.files("printworks.dashboard") / "static" / "sample.jpg"
PRICES: Final = {
    "PRINT-9X13": "9.50",
    "PRINT-10X15": "9.90",
    "PRINT-13X18": "11.50",
    "PRINT-15X20": "12.90",
    "PRINT-18X24": "14.50",
    "PRINT-20X30": "16.90",
    "CANVAS-20X20": "24.00",
    "CANVAS-30X30": "29.00",
    "CANVAS-30X40": "34.00",
    "CANVAS-40X60": "49.00",
    "CANVAS-50X70": "64.00",
    "CANVAS-60X90": "89.00",
}
LABS: Final = {"leipzig": "print", "erfurt": "print, canvas"}
# The product that is sold all the time while its price changes, and what it then costs.
SKU: Final = "PRINT-9X13"
DEARER: Final = "11.90"
# Of which products there are photographs: in which form they are drawn for this.
PHOTOGRAPHED: Final = {"PRINT": "GLOBAL-PHO-4X6-PRO", "CANVAS": "EU-CAN-8X8"}
# What is typed into which field of a product, and what is said there.
MISTAKES: Final = {
    "sku": ("9 x 13", "made of letters, digits, hyphens and dots"),
    "image": ("large", "such as"),
    "price.EUR": ("dear", "must be an amount such as 4.95"),
    "sold_to": ("Atlantis", "Atlantis"),
    "pixels": ("many", "such as"),
}


def photograph_products(folder: Path) -> dict[str, Path]:
    """Return a photograph of a product of each kind, drawn from the sample."""
    catalogue, found = open_catalogue(None), {}
    source = folder / "sample.jpg"
    source.write_bytes(SAMPLE.read_bytes())
    with ImageProcessor(slots=1) as processor:
        for kind, sku in PHOTOGRAPHED.items():
            product, out = catalogue.get_product(sku), folder / kind
            out.mkdir()
            prepared = processor.prepare(source, Layout(product.print_area, Sizing.CROP), out)
            assert isinstance(prepared, PreparedImage), prepared
            plan = product.plan_mockup({}, is_turned=False)
            assert plan is not None
            drawn = processor.draw_mockup(prepared.proofs.preview, plan, out)
            assert isinstance(drawn, DrawnMockup), drawn
            found[kind] = drawn.file
    return found


def fill(page: Page, texts: Mapping[str, str]) -> None:
    """Type into fields by their labels."""
    for label, text in texts.items():
        page.get_by_label(label, exact=True).first.fill(text)


def make_catalogue(
    page: Page, house: House, folder: Path, draw: Draw, prices: Mapping[str, str] = PRICES
) -> str:
    """Make a catalogue from nothing and publish it; return the address of its version."""
    edit = begin_draft(page, house)
    add_products(page, edit, prices, photograph_products(folder), draw)
    add_labs(page, edit, draw)
    add_shipping(page, edit, draw)
    make_mistakes(page, edit, draw)
    page.goto(edit)
    expect(page.get_by_role("heading", name="Ready to be published")).to_be_visible()
    draw(page, "ready")
    page.get_by_role("link", name="See what changes").click()
    return publish(page, draw, "changes")


def change_price_while_orders_arrive(
    page: Page, ours: str, stream: OrderStream, draw: Draw, *, seconds: float
) -> None:
    """Raise a price and go back, both while orders arrive."""
    with stream.flowing():
        stream.flow_for(seconds / 4)
        change_price(page, ours, draw)
        stream.flow_for(3 * seconds / 4)
        roll_back(page, ours, draw)
        stream.flow_for(seconds)


def add_merchant(house: House) -> Merchant:
    """Add a merchant who pays on account."""
    words = ("merchant", "add", "Fox & Daughters", "--currency", "EUR", "--billing", "account")
    service = house.service
    added = json.loads(command(*words, "--json", data=service.data, settings=service.settings))
    return Merchant(added["merchantId"], added["apiKey"])


def begin_draft(page: Page, house: House) -> str:
    """Begin a catalogue with nothing; return the address of its forms."""
    page.goto(house.at("/console/versions"))
    page.locator("#new-title").fill("Our own catalogue")
    page.get_by_label("Begin with").select_option("nothing")
    page.locator("#new").get_by_label("EUR").check()
    press(page, "Make a draft")
    page.wait_for_url("**/edit*")
    return page.url.partition("?")[0]


def add_products(
    page: Page,
    edit: str,
    prices: Mapping[str, str],
    photographs: Mapping[str, Path],
    draw: Draw,
) -> None:
    """Add products, each like the one before, with a photograph of each kind."""
    page.goto(f"{edit}/new/products")
    last = ""
    for sku, price in prices.items():
        kind, _, size = sku.partition("-")
        width, height = size.split("X")
        name = f"{kind.capitalize()} {width} \N{MULTIPLICATION SIGN} {height} cm"
        fill(page, {"SKU": sku, "Name": name, "Printed size": f"{width} x {height}"})
        fill(page, {"Price in EUR": price, "Sold to": "Germany\nAustria"})
        page.get_by_label("Kind").select_option(kind.lower())
        page.get_by_label("Measured in").select_option("cm")
        page.get_by_label("Shipping band").select_option("Parcels")
        if kind != last:
            page.locator("#picture").set_input_files(photographs[kind])
            draw(page, f"new-product-{kind.lower()}")
        last = kind
        press(page, "Add and make another like it")
        expect(page.get_by_text("It was added.")).to_be_visible()
    page.goto(f"{edit}/products")
    expect(page.locator("td.drawn img")).to_have_count(len(prices))
    draw(page, "products")
    page.goto(f"{edit}/products/{SKU}")
    draw(page, "product")


def add_labs(page: Page, edit: str, draw: Draw) -> None:
    """Add two labs."""
    for code, kinds in LABS.items():
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
                "Items it can make a day": "5000",
                "Kinds": kinds,
                "Cost in per cent of the price": "40",
            },
        )
        page.get_by_label("Currency of its costs").select_option("EUR")
        draw(page, f"lab-{code}")
        press(page, "Add lab")
        expect(page.get_by_text("It was added.")).to_be_visible()
    draw(page, "labs")


def add_shipping(page: Page, edit: str, draw: Draw) -> None:
    """Add a shipping service, and the tariff that merchants pay."""
    methods = ("Budget", "Standard", "Express", "Overnight")
    parcels = {
        "bands.Parcels.items": "10",
        "bands.Parcels.EUR.0": "4.90",
        "bands.Parcels.EUR.1": "2",
    }
    page.goto(f"{edit}/new/services")
    fill(page, {"Name": "Parcel", "Short name": "parcel", "To": "Germany\nAustria"})
    page.get_by_label("Carrier").select_option("DHL")
    for box in ("Leipzig", "Erfurt", *methods):
        page.get_by_label(box, exact=True).check()
    fill(page, {"Working days on the way, at least": "1", "At most": "2"})
    for name, text in parcels.items():
        page.locator(f'[name="{name}"]').fill(text)
    draw(page, "service")
    press(page, "Add service")
    expect(page.get_by_text("It was added.")).to_be_visible()
    page.goto(f"{edit}/new/tariff")
    fill(page, {"Name": "Parcel", "To": "Everywhere"})
    for box in methods:
        page.get_by_label(box, exact=True).check()
    for name, text in parcels.items():
        page.locator(f'[name="{name}"]').fill(text)
    draw(page, "tariff")
    press(page, "Add tariff")
    expect(page.get_by_text("It was added.")).to_be_visible()


def make_mistakes(page: Page, edit: str, draw: Draw) -> None:
    """Type what is wrong into five fields, and see each named where it is; save nothing."""
    page.goto(f"{edit}/products/{SKU}")
    page.locator("details.sheet > summary").first.click()
    for name, (typed, _) in MISTAKES.items():
        page.locator(f'[name="{name}"]').fill(typed)
    press(page, "Save product")
    expect(page.get_by_text("5 fields are wrong").first).to_be_visible()
    for name, (typed, said) in MISTAKES.items():
        wrong = page.locator(f'[name="{name}"]')
        expect(wrong).to_have_attribute("aria-invalid", "true")
        expect(wrong).to_have_value(typed)
        expect(page.locator(f'[id="{name}-error"]')).to_contain_text(said)
    expect(page.locator('[name="sku"]')).to_be_focused()
    draw(page, "mistakes")


def publish(page: Page, draw: Draw, name: str) -> str:
    """Publish the version whose page is open; return its address."""
    draw(page, name)
    press(page, "Publish")
    expect(page.get_by_text("The version was published.")).to_be_visible()
    expect(page.get_by_text("In use").first).to_be_visible()
    return page.url.partition("?")[0]


def change_price(page: Page, ours: str, draw: Draw) -> None:
    """Make a draft of a version with another price, and publish it."""
    page.goto(ours)
    page.locator("#copy-title").fill("Dearer")
    press(page, "Make a draft of it")
    page.wait_for_url("**/edit*")
    page.goto(f"{page.url.partition('?')[0]}/products/{SKU}")
    page.locator('[name="price.EUR"]').fill(DEARER)
    press(page, "Save product")
    expect(page.get_by_text("It was saved.")).to_be_visible()
    page.goto(page.url.partition("/edit")[0])
    expect(page.get_by_text(DEARER).first).to_be_visible()
    publish(page, draw, "dearer")


def roll_back(page: Page, ours: str, draw: Draw) -> None:
    """Return to a version."""
    page.goto(ours)
    draw(page, "before-rolling-back")
    press(page, "Roll back to it")
    expect(page.get_by_text("Back to version").first).to_be_visible()
    draw(page, "rolled-back")
