"""Draws the pictures of pages in `docs/pages`: run `make pictures`."""

import re
from importlib import resources
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.browser.drawing import draw, launch, open_window
from tests.browser.houses import House, open_house, press
from tests.running import Merchant
from tests.worker.receivers import Receiver, says

SAMPLE: Final = resources.files("printworks.dashboard") / "static" / "sample.jpg"
PEOPLE: Final = (
    ("Mary Fox", "GB", "A-1001", "Standard"),
    ("José García López", "ES", "A-1002", "Express"),
    ("Anneliese Becker", "DE", "A-1003", "Budget"),
    ("Noah Smith", "US", "A-1004", "Standard"),
    ("Charlotte Dubois", "FR", "A-1005", "Overnight"),
    ("Olivia Brown", "AU", "A-1006", "Standard"),
    ("Liam Murphy", "IE", "A-1007 sandbox:reject", "Standard"),
)
WAIT: Final = 30_000
AS_MERCHANT: Final = (
    *("/home", "/news", "/catalogue", "/team", "/settings/shop", "/orders/import", "/requests"),
    *("/invoices", "/settings/business", "/settings/card"),
)
AS_OPERATOR: Final = (
    *("privacy", "health", "mail", "catalogue", "merchants", "seller", "brand", "prices"),
    *("versions", "invoices", "reports", "lab-costs", "ledger", "approvals"),
)
SELLER: Final = {
    "name": "Works & Sons",
    "street": "1 Mill Lane",
    "postal_code": "YO1 9AA",
    "town": "York",
    "vat_id": "GB980780684",
    "email": "accounts@works.example",
    "bank": "Bank of York",
    "iban": "GB33BUKB20201555555555",
}


def main() -> None:
    """Let some people use a service, and draw what they see."""
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = launch(playwright)
        with open_house(Path(folder) / "data") as house, Receiver() as receiver:
            url = receiver.at("/callbacks", says(503, b"Out of paper"), says(200))
            _tell(browser, house, url, Path(folder))
        browser.close()


def _tell(browser: Browser, house: House, callback_url: str, folder: Path) -> None:
    with open_window(browser, "desktop") as page:
        house.enter_console(page, "owner@works.example")
        _begin_to_sell(page, house)
    with open_window(browser, "desktop") as page:
        page.goto(house.at("/"))
        draw(page, "start")
        house.sign_up(page, "Fox & Daughters", "mary@fox.example")
        _set_callback(page, house, callback_url)
        program = _make_key(page, house)
        page.goto(house.at("/orders/new"))
        draw(page, "new-order", whole=True)
        _order_by_program(house, program)
        order = _order_by_hand(page, house)
        page.goto(house.at(f"/orders/{order}"))
        draw(page, "order", whole=True)
        page.goto(house.at("/orders"))
        draw(page, "orders")
        state: Any = page.context.storage_state()
        issue = _complain(page, house, order, folder)
        page.goto(house.at("/integrations"))
        page.wait_for_timeout(500)
        draw(page, "integrations")
        page.goto(house.at("/account"))
        draw(page, "account")
        for path in AS_MERCHANT:
            page.goto(house.at(path))
            draw(page, path.strip("/").replace("/", "-"), whole=True)
        page.goto(house.at("/v3.0/docs"))
        draw(page, "reference")
        tracking = _look_at_a_draft(page, house, order)
    with open_window(browser, "phone", locale="de-DE") as page:
        page.goto(tracking)
        draw(page, "recipient-phone", whole=True)
    with open_window(browser, "phone", storage_state=state) as page:
        page.goto(house.at("/orders"))
        draw(page, "orders-phone")
        page.goto(house.at(f"/orders/{order}"))
        draw(page, "order-phone")
    with open_window(browser, "desktop") as page:
        _operate(page, house, issue)


def _begin_to_sell(page: Page, house: House) -> None:
    """Collect tax from the first order on, and agree on prices."""
    page.goto(house.at("/console/seller"))
    for name, text in SELLER.items():
        page.locator(f"main [name={name}]").fill(text)
    page.get_by_label("Country", exact=True).select_option("GB")
    press(page, "Save seller")
    page.goto(house.at("/console/prices"))
    page.get_by_label("Name", exact=True).fill("Photographers")
    page.get_by_label("Percent off everything").fill("12.5")
    press(page, "Add list")


def _look_at_a_draft(page: Page, house: House, order: int) -> str:
    """Crop a picture; return where the recipient follows the other order."""
    page.goto(house.at(f"/orders/{order}"))
    tracking = page.locator("#recipient-page a").get_attribute("href") or ""
    page.goto(house.at("/orders/new"))
    press(page, "Use a sample address")
    press(page, "Create order")
    expect(page.get_by_text("The order is ready to submit.")).to_be_visible(timeout=WAIT)
    page.locator("main a[href*='/images/']").first.click()
    expect(page.locator("#proof img")).to_be_visible(timeout=WAIT)
    draw(page, "image", whole=True)
    return tracking


def _operate(page: Page, house: House, issue: str) -> None:
    house.enter_console(page, "operator@works.example")
    draw(page, "console", whole=True)
    page.goto(house.at("/console/production"))
    draw(page, "production")
    page.locator("main a[href^='/console/shipments/']").first.click()
    draw(page, "lab-job", whole=True)
    page.goto(house.at(f"/console/issues/{issue}"))
    draw(page, "console-issue", whole=True)
    page.goto(house.at("/console/routing"))
    draw(page, "routing", whole=True)
    for name in AS_OPERATOR:
        page.goto(house.at(f"/console/{name}"))
        draw(page, f"console-{name}", whole=True)


def _set_callback(page: Page, house: House, url: str) -> None:
    page.goto(house.at("/integrations"))
    page.get_by_label("Address").fill(url)
    press(page, "Turn on")


def _make_key(page: Page, house: House) -> Merchant:
    page.goto(house.at("/keys"))
    press(page, "Create key")
    key = page.locator("code.secret").inner_text()
    [code] = re.findall(r"MerchantId: (\w+)", page.locator("main").inner_text())
    return Merchant(code, key)


def _order_by_program(house: House, program: Merchant) -> None:
    with house.service.client(program) as api:
        for name, country, reference, shipping in PEOPLE:
            members = {
                "recipientName": name,
                "countryCode": country,
                "merchantOrderId": reference,
                "preferredShippingMethod": shipping,
                "address1": "12 Orchard Lane",
                "addressTownOrCity": "York",
                "postalOrZipCode": "YO1 7HH",
            }
            api.post("/v3.0/orders", members)


def _order_by_hand(page: Page, house: House) -> int:
    for steps in (("+ 1 day",), (), ("+ 1 day",)):
        page.goto(house.at("/orders/new"))
        press(page, "Use a sample address")
        press(page, "Create order")
        press(page, "Submit the order")
        expect(page.locator(".page-head .badge", has_text="Submitted")).to_be_visible(timeout=WAIT)
        for step in steps:
            press(page, step)
            page.wait_for_load_state()
    expect(page.locator(".page-head .badge", has_text="Complete")).to_be_visible(timeout=WAIT)
    [number] = re.findall(r"/orders/(\d+)", page.url)
    page.goto(house.at("/orders/new"))
    press(page, "Use a sample address")
    press(page, "Create order")
    press(page, "Submit the order")
    return int(number)


def _complain(page: Page, house: House, order: int, folder: Path) -> str:
    photograph = folder / "torn.jpg"
    photograph.write_bytes(SAMPLE.read_bytes())
    page.goto(house.at(f"/issues/new?order={order}"))
    page.get_by_label("What is wrong?").select_option(index=1)
    page.get_by_label("Details").fill("One corner was torn when the parcel arrived.")
    page.get_by_label("Choose up to").set_input_files(photograph)
    page.get_by_role("radio").first.check()
    press(page, "Open issue")
    [issue] = re.findall(r"/issues/(\d+)", page.url)
    draw(page, "issue")
    return str(issue)


if __name__ == "__main__":
    main()
