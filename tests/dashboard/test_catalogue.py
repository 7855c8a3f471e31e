"""The catalogue: what a merchant pays, found on the server, a page at a time."""

import re

from printworks.catalogue.opening import open_catalogue
from printworks.catalogue.products import Currency
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window

CATALOGUE = open_catalogue(None)
PRINT = "GLOBAL-PHO-4X6-PRO"


def names_in(window: Window, address: str) -> list[str]:
    page = window.open(address)
    assert page.status == 200
    return re.findall(r'class="rack__name">([^<]+)<', page.body.decode())


def test_it_begins_with_the_kinds_and_their_lowest_prices(alice: Window) -> None:
    page = alice.open("/catalogue")
    said = words_of(page)

    assert "Canvas" in said
    assert "Fine art" in said
    cheapest = min(
        product.base_prices[Currency.GBP]
        for product in CATALOGUE.list_sold_to("GB")
        if product.kind == "sticker"
    )
    assert f"from £{cheapest / 100:.2f}" in said


def test_words_and_kinds_narrow_it_down(alice: Window) -> None:
    canvases = names_in(alice, "/catalogue?kind=canvas")
    assert len(canvases) == 24
    assert all("canvas" in name for name in canvases)
    assert names_in(alice, "/catalogue?q=10x12+canvas")
    assert "No products found" in alice.words("/catalogue?q=zeppelin")


def test_pages_follow_each_other_and_end(alice: Window) -> None:
    seen: list[str] = []
    address = "/catalogue?kind=all&sort=size"
    for _ in range(40):
        page = alice.open(address).body.decode()
        seen += re.findall(r'href="/catalogue/([^"?]+)\?', page)
        following = re.findall(r'href="([^"]+)" rel="next"', page)
        if not following:
            break
        address = following[0].replace("&amp;", "&")
    sold = [product.sku.lower() for product in CATALOGUE.list_sold_to("GB")]
    assert sorted(seen) == sorted(sold)


def test_the_cheapest_come_first_if_wanted(alice: Window) -> None:
    page = alice.open("/catalogue?sort=price").body.decode()
    prices = [float(price) for price in re.findall(r'rack__price">£([\d.]+)<', page)]
    assert prices == sorted(prices)
    assert len(prices) == 24


def test_a_product_says_what_it_costs_to_have_and_to_send(alice: Window) -> None:
    product = CATALOGUE.get_product(PRINT)
    page = alice.open(f"/catalogue/{PRINT.lower()}?country=DE")
    said = words_of(page)

    price = product.find_price(Currency.GBP, country="DE")
    assert price is not None
    assert f"£{price / 100:.2f} for one copy to Germany" in said
    assert "Shipping to Germany" in said
    assert "Overnight" in said
    assert "lustre, glossy, matte" in said
    assert f'href="/orders/new?sku={PRINT}&amp;country=DE"' in page.body.decode()
    form = alice.open(f"/orders/new?sku={PRINT}&country=DE").body.decode()
    assert PRINT in form


def test_what_is_not_sold_somewhere_says_so(alice: Window) -> None:
    product = next(one for one in CATALOGUE.products if not one.is_sold_to("GB"))

    said = alice.words(f"/catalogue/{product.sku}?country=GB")
    assert "It is not sold to United Kingdom." in said
    assert "Order this" not in said
    assert alice.open("/catalogue/nothing-at-all").status == 404
    # A country that is none is the usual one.
    assert "United Kingdom" in alice.words("/catalogue?country=XX")
