"""A merchant walks from home through the catalogue to an order, and lets a colleague in."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ON_THE_WAY, NewPage
from tests.browser.houses import PASSWORD, House, press

pytestmark = pytest.mark.slow
PATIENCE = 20_000


@pytest.mark.parametrize("size", ON_THE_WAY)
def test_from_home_to_the_catalogue_and_a_colleague(
    open_page: NewPage, house: House, size: str
) -> None:
    page = open_page(size)
    house.sign_up(page, "Fox & Daughters", f"{size}-home@shop.example")
    expect(page.get_by_text("Nothing needs your attention.")).to_be_visible()
    expect(page.get_by_text("1 of 9 done")).to_be_visible()

    page.get_by_role("link", name="See the catalogue").click()
    page.get_by_role("link", name=re.compile("^Mug")).click()
    page.get_by_role("link", name=re.compile("10 oz")).first.click()
    page.get_by_role("link", name="Order this").click()
    expect(page).to_have_url(re.compile("sku=MUG-10OZ"))
    press(page, "Use a sample address")
    press(page, "Create order")
    expect(page.get_by_text("The order is ready to submit.")).to_be_visible(timeout=PATIENCE)

    page.goto(house.at("/home"))
    expect(page.get_by_text("3 of 9 done")).to_be_visible()
    page.get_by_role("link", name="Invite a colleague").click()
    form = page.locator("#invite")
    form.get_by_label("Email address").fill(f"{size}-tom@shop.example")
    form.get_by_label("Role").select_option("viewer")
    form.get_by_role("button", name="Create link").click()
    link = page.locator("#link .secret").inner_text()

    colleague = open_page(size)
    colleague.goto(link)
    colleague.get_by_label("Password").fill(PASSWORD)
    press(colleague, "Accept invitation")
    expect(colleague).to_have_url(house.at("/home"))
    expect(colleague.get_by_role("link", name="New order")).to_have_count(0)

    page.goto(house.at("/home"))
    expect(page.get_by_text("4 of 9 done")).to_be_visible()
    press(page, "Hide this list")
    expect(page.get_by_text("4 of 9 done")).to_have_count(0)
    page.locator("#bell").click()
    expect(page.get_by_text("No news yet")).to_be_visible()
