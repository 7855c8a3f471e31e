"""Somebody puts an order together by looking: products, pictures, prices."""

import base64
import re
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.sync_api import Locator, Page, Route, expect

from tests.browser.conftest import ON_THE_WAY, SIZES, NewPage
from tests.browser.houses import House, press
from tests.browser.inspecting import check_page
from tests.browser.test_dashboard import PATIENCE
from tests.worker.shops import A_PICTURE, NOT_A_PICTURE

A_PORTRAIT: Final = resources.files("printworks.dashboard") / "static" / "sample.jpg"

# What a browser does with files that are dropped.
_DROP: Final = """
(zone, files) => {
  const dropped = new DataTransfer();
  for (const [name, content] of files) {
    const bytes = Uint8Array.from(atob(content), (each) => each.charCodeAt(0));
    dropped.items.add(new File([bytes], name, { type: "image/jpeg" }));
  }
  zone.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true }));
}
"""


def drop(page: Page, files: Sequence[tuple[str, bytes]]) -> None:
    """Drop files on the form, all at once."""
    written = [(name, base64.b64encode(content).decode()) for name, content in files]
    page.locator("[data-drop-here]").evaluate(_DROP, written)


def tiles(page: Page, state: str) -> Locator:
    """Return the pictures that have come so far."""
    return page.locator(f'.print[data-state="{state}"]')


def choose(page: Page, kind: str, tile: str) -> None:
    """Look at the products of a kind, and choose one."""
    page.get_by_label(kind, exact=True).check()
    page.get_by_role("button", name=tile).first.click()
    expect(page.get_by_role("heading", name=tile)).to_be_visible(timeout=PATIENCE)


@pytest.mark.parametrize("size", SIZES)
def test_of_six_files_that_are_dropped_the_bad_one_says_why_and_five_are_printed(
    open_page: NewPage, house: House, size: str
) -> None:
    page = open_page(size)
    house.sign_up(page, "Six", f"six-{size}@shop.example")
    page.goto(house.at("/orders/new"))
    choose(page, "Frame", "Print mounted in classic frame")
    page.get_by_label("White", exact=True).check()

    good = [(f"{number}.jpg", A_PICTURE) for number in range(1, 6)]
    drop(page, [*good[:3], ("letter.jpg", NOT_A_PICTURE), *good[3:]])

    expect(tiles(page, "added")).to_have_count(5, timeout=PATIENCE)
    bad = tiles(page, "refused")
    expect(bad).to_contain_text("The file is not a picture of a format that is accepted")
    expect(bad.get_by_role("button", name="Retry letter.jpg")).to_be_hidden()
    expect(page.locator(".ordering__price")).to_contain_text("5 \N{MULTIPLICATION SIGN} ")
    check_page(page)
    page.reload()
    expect(page.get_by_alt_text("Proof of ")).to_have_count(5)
    page.get_by_role("button", name=re.compile("^Remove ")).first.click()
    expect(page.get_by_alt_text("Proof of ")).to_have_count(4)
    expect(page.locator(".ordering__price")).to_contain_text(
        "4 \N{MULTIPLICATION SIGN} ", timeout=PATIENCE
    )
    press(page, "Use a sample address")
    press(page, "Create order")
    expect(page.get_by_text("The order is ready to submit.")).to_be_visible(timeout=PATIENCE)


def test_a_late_answer_about_the_country_leaves_the_product_and_all_that_was_typed(
    open_page: NewPage, house: House
) -> None:
    page = open_page("desktop")
    house.sign_up(page, "Late", "late@shop.example")
    page.goto(house.at("/orders/new"))
    held: list[Route] = []
    page.route(re.compile("country=DE"), lambda route: held.append(route), times=1)
    page.get_by_label("Country").select_option("DE")
    expect(page.get_by_label("Country")).to_have_value("DE")
    choose(page, "Mug", "White mug, 15 oz")
    page.get_by_label("Copies of each image").fill("3")
    page.get_by_label("Postcode").fill("10115")
    expect(page.locator(".ordering__price")).to_contain_text(
        "3 \N{MULTIPLICATION SIGN} White mug", timeout=PATIENCE
    )

    [late] = held
    with page.expect_response(re.compile("country=DE.*$"), timeout=PATIENCE):
        late.continue_()
    page.wait_for_load_state("networkidle")

    expect(page.get_by_role("heading", name="White mug, 15 oz")).to_be_visible()
    expect(page.locator("input[name=sku]")).to_have_value("MUG-15OZ-WHITE")
    expect(page.locator(".ordering__price")).to_contain_text("3 \N{MULTIPLICATION SIGN} White mug")
    expect(page.get_by_label("Copies of each image")).to_have_value("3")
    expect(page.get_by_label("Country")).to_have_value("DE")
    expect(page.get_by_label("Postcode")).to_have_value("10115")


def test_a_product_that_is_not_sold_to_a_country_stays_chosen_and_says_so(
    open_page: NewPage, house: House
) -> None:
    page = open_page("desktop")
    house.sign_up(page, "Away", "away@shop.example")
    page.goto(house.at("/orders/new"))
    page.get_by_label("Country").select_option("AU")
    expect(page.locator("#tiles")).to_contain_text("Acrylic prism", timeout=PATIENCE)
    choose(page, "Acrylic", "Acrylic prism, gloss")

    page.get_by_label("Country").select_option("GB")

    expect(page.locator("#chosen")).to_contain_text("It stays chosen", timeout=PATIENCE)
    expect(page.get_by_role("heading", name="Acrylic prism, gloss")).to_be_visible()
    page.get_by_label("Country").select_option("AU")
    expect(page.locator("#chosen")).not_to_contain_text("It stays chosen", timeout=PATIENCE)


@pytest.mark.parametrize("size", ON_THE_WAY)
def test_a_picture_that_was_lost_on_its_way_is_sent_again_by_a_button(
    open_page: NewPage, house: House, size: str
) -> None:
    page = open_page(size)
    house.sign_up(page, "Again", f"again-{size}@shop.example")
    page.goto(house.at("/orders/new"))
    page.route("**/orders/*/images", lambda route: route.abort(), times=1)

    drop(page, [("cat.jpg", A_PICTURE)])
    expect(tiles(page, "failed")).to_contain_text("The connection was lost", timeout=PATIENCE)
    press(page, "Use a sample address")
    press(page, "Create order")
    expect(page.get_by_text("A picture is not uploaded.")).to_be_visible()
    page.get_by_role("button", name="Retry cat.jpg").click()

    expect(tiles(page, "added")).to_have_count(1, timeout=PATIENCE)
    page.get_by_role("button", name="Remove cat.jpg").click()
    expect(page.locator(".print")).to_have_count(0, timeout=PATIENCE)


@pytest.mark.parametrize("size", ON_THE_WAY)
def test_pictures_are_added_to_an_order_that_is_there(
    open_page: NewPage, house: House, tmp_path: Path, size: str
) -> None:
    picture = tmp_path / "cat.jpg"
    picture.write_bytes(A_PICTURE)
    page = open_page(size)
    house.sign_up(page, "More", f"more-{size}@shop.example")
    page.goto(house.at("/orders/new"))
    press(page, "Use a sample address")
    press(page, "Create order")
    expect(page.get_by_text("The order is ready to submit.")).to_be_visible(timeout=PATIENCE)
    page.goto(page.url.partition("?")[0] + "/images")
    choose(page, "Clothing", "Heavy T-shirt")

    page.get_by_label("Files").set_input_files(picture)
    expect(tiles(page, "refused")).to_contain_text("Choose the size of the product")
    page.get_by_label("XL", exact=True).check()
    page.get_by_label("Navy", exact=True).check()
    page.get_by_role("button", name="Retry cat.jpg").click()

    expect(tiles(page, "added")).to_have_count(1, timeout=PATIENCE)
    expect(page.get_by_role("heading", name="2 images")).to_be_visible(timeout=PATIENCE)
    check_page(page)


def test_a_portrait_on_a_mug_is_cropped_and_not_turned(open_page: NewPage, house: House) -> None:
    page = open_page("phone", "dark")
    house.sign_up(page, "Upright", "upright@shop.example")
    page.goto(house.at("/orders/new"))
    choose(page, "Mug", "White mug, 15 oz")

    drop(page, [("lake.jpg", A_PORTRAIT.read_bytes())])

    expect(tiles(page, "added")).to_have_count(1, timeout=PATIENCE)
    page.reload()
    proof = page.get_by_alt_text("Proof of ").first
    width, height = proof.evaluate(
        "async (proof) => { await proof.decode(); return [proof.naturalWidth, proof.naturalHeight]; }"
    )
    # As wide as the mug is around, with the sky above the lake; a turned one would be tall.
    assert width > 2 * height
    expect(page.get_by_text(re.compile("printed (portrait|landscape)"))).to_have_count(0)


def test_the_shelf_is_used_by_keyboard_alone(open_page: NewPage, house: House) -> None:
    page = open_page("desktop")
    house.sign_up(page, "Keys", "keyboard@shop.example")
    page.goto(house.at("/orders/new"))
    page.get_by_label("Find a product").focus()

    page.keyboard.type("canvas floating")
    expect(page.locator("#tiles button")).to_have_count(1, timeout=PATIENCE)
    page.keyboard.press("Enter")
    focus = page.locator("#tiles button")
    for _ in range(10):
        if focused(focus):
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")

    expect(page.get_by_role("heading", name="Canvas in a floating frame")).to_be_visible(
        timeout=PATIENCE
    )
    assert page.url == house.at("/orders/new")


def focused(button: Locator) -> Any:
    """Say whether the keyboard is there."""
    return button.evaluate("each => each === document.activeElement")
