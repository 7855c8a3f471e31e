"""Somebody pays, in a real browser, at the real program; without scripts, on a phone and at a desk."""

import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import ON_THE_WAY, NewPage, Scheme
from tests.browser.inspecting import check_page
from tests.running import Client, Service, running
from tests.worker.hosts import PictureHost, holds
from tests.worker.shops import A_PICTURE, STICKER

AN_ORDER: Final = {
    "recipientName": "Mary Fox",
    "countryCode": "GB",
    "preferredShippingMethod": "Standard",
    "payment": "InvoiceRecipient",
}
AN_ADDRESS: Final = {
    "address1": "12 Long Lane",
    "addressTownOrCity": "York",
    "postalOrZipCode": "YO1 1AA",
    "email": "mary@example.com",
}
HTML: Final = "text/html"
SECONDS_TO_FETCH: Final = 30


@dataclass(frozen=True)
class Shop:
    """A merchant's program, and the service that it asks."""

    service: Service
    api: Client
    picture: str

    def ask_recipient(self, **members: Any) -> str:
        """Order two stickers for somebody who pays; return where."""
        order = self._order({**AN_ORDER, **members}, priceToUser=1250, copies=2)
        self._set_status(order, "AwaitingPayment", 200)
        return self._here(self.see(order)["paymentUrl"])

    def ask_merchant(self) -> str:
        """Submit an order that the bank asks about; return where it is authorised."""
        members = {"countryCode": "DE", "payment": "InvoiceMe"}
        order = self._order({**AN_ORDER, **AN_ADDRESS, **members})
        return self._here(self._set_status(order, "Submitted", 402)["data"]["url"])

    def see(self, order: int) -> dict[str, Any]:
        """Return an order."""
        found: dict[str, Any] = self.api.get(f"/v3.0/orders/{order}").data
        return found

    def newest(self) -> dict[str, Any]:
        """Return the order that was made last."""
        found: dict[str, Any] = self.api.get("/v3.0/orders?limit=1").data["content"][0]
        return found

    def pass_time(self, advance: str) -> None:
        """Move the merchant's clock, and let happen what happens meanwhile."""
        assert self.api.post("/v3.0/sandbox/clock", {"advance": advance}).status == 200

    def _order(self, members: dict[str, Any], **image: Any) -> int:
        order = int(self.api.post("/v3.0/orders", members).data["id"])
        body = {"sku": STICKER, "url": self.picture, "copies": 1, "sizing": "Crop", **image}
        assert self.api.post(f"/v3.0/orders/{order}/images", body).status == 200
        deadline = time.monotonic() + SECONDS_TO_FETCH
        while self.see(order)["images"][0]["status"] != "Ok":
            assert time.monotonic() < deadline, self.service.explain()
        return order

    def _set_status(self, order: int, status: str, expected: int) -> Any:
        answer = self.api.post(f"/v3.0/orders/{order}/status", {"status": status})
        assert answer.status == expected, answer.body
        return answer.json()

    def _here(self, url: str) -> str:
        """Return an address by another name of this machine.

        The bank is then at another origin than the page, as real ones are.
        """
        return url.replace("https://localhost:", "https://127.0.0.1:")


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    """A running service, and a merchant with a picture."""
    data = tmp_path_factory.mktemp("service") / "data"
    # What recipients pay above the price would pay for what the merchant has to authorise.
    with running(data, balance_pays="false") as service, PictureHost() as host:
        merchant = service.add_merchant("Fox & Daughters")
        with service.client(merchant) as api:
            yield Shop(service, api, host.at("/sunset.jpg", holds(A_PICTURE)))


def press(page: Page, name: str) -> None:
    """Press the button that is called so."""
    page.get_by_role("button", name=name).click()


def heading(page: Page, text: str | re.Pattern[str]) -> None:
    """Wait until the page is the one with this heading."""
    expect(page.get_by_role("heading", level=1)).to_have_text(text)


@pytest.mark.parametrize("size", ON_THE_WAY)
def test_a_recipient_says_where_it_goes_and_pays(open_page: NewPage, shop: Shop, size: str) -> None:
    url = shop.ask_recipient()
    page = open_page(size, java_script_enabled=False)

    page.goto(url)
    heading(page, "Where should we send your order?")
    press(page, "Continue")
    heading(page, "Where should we send your order?")
    expect(page.get_by_label("Address")).to_have_accessible_description(
        "Error: Enter the street address."
    )
    page.get_by_label("Address").fill("12 Long Lane")
    page.get_by_label("Town or city").fill("York")
    page.get_by_label("Postcode").fill("YO1 1AA")
    page.get_by_label("Email").fill("mary@example.com")
    press(page, "Continue")
    heading(page, "Review and pay")
    page.get_by_role("button", name=re.compile("^Pay £")).click()
    heading(page, "Authorise this payment?")
    expect(page.get_by_text("Nothing is charged")).to_be_visible()
    press(page, "Authorise")
    heading(page, "Thank you for your payment")

    order = shop.newest()
    assert order["status"] == "Submitted"
    assert order["address1"] == "12 Long Lane"
    expect(page.get_by_text(f"Your order number is {order['id']}.")).to_be_visible()


def test_the_bank_is_at_another_site_than_the_form(open_page: NewPage, shop: Shop) -> None:
    url = shop.ask_recipient(**AN_ADDRESS)
    page = open_page()

    page.goto(url)
    page.get_by_role("button", name=re.compile("^Pay £")).click()
    heading(page, "Authorise this payment?")

    assert url.startswith("https://127.0.0.1:")
    assert page.url.startswith("https://localhost:")


def test_a_declined_payment_can_be_tried_again(open_page: NewPage, shop: Shop) -> None:
    page = open_page(java_script_enabled=False)
    page.goto(shop.ask_recipient(**AN_ADDRESS))

    page.get_by_role("button", name=re.compile("^Pay £")).click()
    press(page, "Decline")
    expect(page.get_by_role("alert")).to_contain_text("The payment was declined")
    page.get_by_role("button", name=re.compile("^Pay £")).click()
    press(page, "Authorise")

    heading(page, "Thank you for your payment")


def test_a_merchant_authorises_a_payment(open_page: NewPage, shop: Shop) -> None:
    page = open_page("desktop", java_script_enabled=False)

    page.goto(shop.ask_merchant())
    heading(page, "Authorise this payment?")
    press(page, "Authorise")

    heading(page, "Payment received")
    assert shop.newest()["status"] == "Submitted"


def test_the_pictures_are_seen(open_page: NewPage, shop: Shop) -> None:
    page = open_page()

    page.goto(shop.ask_recipient(**AN_ADDRESS), wait_until="load")

    widths = page.eval_on_selector_all(".item img", "all => all.map(each => each.naturalWidth)")
    assert len(widths) == 1
    assert widths[0] > 0


def test_everything_can_be_done_with_the_keyboard(open_page: NewPage, shop: Shop) -> None:
    page = open_page("desktop")
    page.goto(shop.ask_recipient(**AN_ADDRESS))

    for name in ("Skip to content", "Pay"):
        page.keyboard.press("Tab")
        assert name in page.evaluate("document.activeElement.textContent")
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    page.keyboard.press("Enter")

    assert outline == "solid"
    heading(page, "Authorise this payment?")


def test_a_form_on_another_site_pays_nothing(open_page: NewPage, shop: Shop) -> None:
    """Even one that has got hold of the token of our own form."""
    page = open_page()
    url = shop.ask_recipient(**AN_ADDRESS)
    page.goto(url)
    token = page.locator("[name=form_token]").input_value()
    evil = f"""<form method=post action="{url}"><input name=form_token value="{token}">
        <button name=do value=pay>Win a prize</button></form>"""
    page.route("https://evil.example/", lambda route: route.fulfill(body=evil, content_type=HTML))

    page.goto("https://evil.example/")
    press(page, "Win a prize")

    heading(page, "This form could not be accepted")
    assert shop.newest()["status"] == "AwaitingPayment"
    page.goto(url)
    heading(page, "Review and pay")


def test_a_page_cannot_be_framed(open_page: NewPage, shop: Shop) -> None:
    page = open_page(may_complain=True)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    url = shop.ask_recipient(**AN_ADDRESS)
    frame = f"https://127.0.0.1:{shop.service.port}/frame"
    page.route(frame, lambda route: route.fulfill(body=f'<iframe src="{url}">', content_type=HTML))

    page.goto(frame, wait_until="load")

    assert [each for each in said if "frame-ancestors 'none'" in each]


def test_the_pages_of_the_program_can_be_used_by_everybody(open_page: NewPage, shop: Shop) -> None:
    page = open_page("phone", "dark")

    for url in (shop.ask_recipient(), shop.ask_recipient(**AN_ADDRESS), shop.ask_merchant()):
        page.goto(url)
        check_page(page)
    page.goto(f"https://127.0.0.1:{shop.service.port}/")
    heading(page, "Orders in, prints out")
    check_page(page)


IN_GERMANY: Final = {
    "preferredShippingMethod": "Express",
    "countryCode": "DE",
    "recipientName": "Erika Fuchs",
    "address1": "Lange Gasse 1",
    "addressTownOrCity": "Berlin",
    "postalOrZipCode": "10115",
    "email": "erika@example.com",
}


@pytest.mark.slow
@pytest.mark.parametrize(("size", "scheme"), [("phone", "light"), ("desktop", "dark")])
def test_a_recipient_pays_in_german_and_sees_the_parcel_leave(
    open_page: NewPage, shop: Shop, size: str, scheme: Scheme
) -> None:
    page = open_page(size, scheme, locale="de-DE")
    url = shop.ask_recipient(**IN_GERMANY)

    page.goto(url)
    heading(page, "Prüfen und bezahlen")
    expect(page.locator("html")).to_have_attribute("lang", "de")
    expect(page.get_by_text("Deutschland")).to_be_visible()
    check_page(page)
    page.get_by_role("button", name=re.compile(r"[0-9],[0-9]{2} £ bezahlen$")).click()
    heading(page, "Diese Zahlung freigeben?")
    check_page(page)
    press(page, "Zahlung freigeben")
    heading(page, "Vielen Dank für Ihre Zahlung")
    check_page(page)
    shop.pass_time("PT1H")
    page.reload()
    heading(page, re.compile("^Ihre Bestellung (ist unterwegs|wurde zugestellt)$"))
    expect(page.get_by_role("link", name="Paket verfolgen")).to_have_attribute(
        "href", re.compile("^https://tracking.example/LX")
    )
    check_page(page)
    page.get_by_role("link", name="Français").click()
    heading(page, re.compile("^Votre commande (est en route|a été livrée)$"))
    page.goto(page.url.partition("?")[0])
    heading(page, re.compile("^Votre commande"))
    page.emulate_media(media="print")
    expect(page.get_by_role("link", name="Français")).to_be_hidden()
    expect(page.get_by_role("row", name=re.compile("^Payé"))).to_be_visible()
