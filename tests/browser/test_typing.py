"""Nothing that was typed gets lost, and nothing is done twice, in a real browser."""

import re
from typing import Final

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import NewPage
from tests.browser.houses import PASSWORD, House, press
from tests.browser.inspecting import check_page

pytestmark = pytest.mark.slow
# How long something may take on a busy machine.
PATIENCE: Final = 30_000
SESSION: Final = "__Host-printworks"


def fill_in(page: Page, house: House) -> None:
    """Fill in the form of a new order, so that it could be sent."""
    page.goto(house.at("/orders/new"))
    press(page, "Use a sample address")
    expect(page.locator("#town_or_city")).to_have_value("York", timeout=PATIENCE)


def count_orders(page: Page, house: House) -> int:
    page.goto(house.at("/orders"))
    return len(set(re.findall(r'href="/orders/(\d+)"', page.content())))


def test_a_session_that_is_lost_in_the_middle_of_a_form_loses_nothing(
    open_page: NewPage, house: House
) -> None:
    page = open_page("phone", may_complain=True)
    house.sign_up(page, "Lost", "lost@shop.example")
    fill_in(page, house)
    page.locator("#recipient_name").fill("Zoe Hill")
    page.locator("#reference").fill("R-77")
    page.context.clear_cookies(name=SESSION)

    page.locator("#new-order [data-create]").click()
    expect(page.get_by_text("What you typed is kept for an hour")).to_be_visible(timeout=PATIENCE)
    check_page(page)
    page.get_by_label("Email address").fill("lost@shop.example")
    page.get_by_label("Password").fill(PASSWORD)
    press(page, "Sign in")

    expect(page.get_by_text("What you typed is here again")).to_be_visible(timeout=PATIENCE)
    expect(page.locator("#recipient_name")).to_have_value("Zoe Hill")
    expect(page.locator("#reference")).to_have_value("R-77")
    check_page(page)
    assert "/orders/new" in page.url
    page.locator("#new-order [data-create]").click()
    expect(page).to_have_url(re.compile(r"/orders/\d+"), timeout=PATIENCE)
    assert count_orders(page, house) == 1


def test_a_form_that_is_sent_again_and_again_makes_one_order(
    open_page: NewPage, house: House
) -> None:
    page = open_page("desktop", may_complain=True)
    house.sign_up(page, "Twice", "twice@shop.example")
    fill_in(page, house)

    # Sent past the lock of the page, as without a script, before there is an answer.
    page.evaluate(
        "() => { const form = document.getElementById('new-order');"
        " form.submit(); setTimeout(() => form.submit(), 50) }"
    )
    expect(page).to_have_url(re.compile(r"/orders/\d+"), timeout=PATIENCE)
    assert count_orders(page, house) == 1

    fill_in(page, house)
    page.locator("#new-order [data-create]").dblclick()
    expect(page).to_have_url(re.compile(r"/orders/\d+"), timeout=PATIENCE)
    assert count_orders(page, house) == 2


def test_what_was_typed_is_offered_after_the_tab_was_closed_and_gone_after_signing_out(
    open_page: NewPage, house: House
) -> None:
    page = open_page("desktop", may_complain=True)
    house.sign_up(page, "Draft", "draft@shop.example")
    page.goto(house.at("/orders/new"))
    page.locator("#reference").fill("Half of it")
    again = page.context.new_page()
    page.close()

    again.goto(house.at("/orders/new"))
    press(again, "Restore what you typed")
    expect(again.locator("#reference")).to_have_value("Half of it")
    check_page(again)
    again.reload()
    expect(again.get_by_text("You typed something here before")).to_be_visible()
    press(again, "Sign out")

    assert again.evaluate("Object.keys(localStorage).length") == 0


def test_what_is_wrong_is_said_where_the_cursor_is(open_page: NewPage, house: House) -> None:
    page = open_page("phone", may_complain=True)
    house.sign_up(page, "Wrong", "wrong@shop.example")
    fill_in(page, house)
    page.locator("#copies").evaluate("field => { field.type = 'text'; field.value = 'many' }")
    page.evaluate("document.getElementById('new-order').submit()")

    expect(page.locator("#copies")).to_be_focused(timeout=PATIENCE)
    expect(page.locator("#copies")).to_have_attribute("aria-invalid", "true")
    check_page(page)
