"""Every state of every page can be used by everybody: on a phone, at a desk, by day and by night."""

from collections.abc import Iterator
from typing import Final

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import NewPage
from tests.browser.gallery import ENDLESS, STATES, serve
from tests.browser.inspecting import check_page, check_width, list_violations
from tests.scale import IS_FULL, some_of

# Whoever zooms a desktop to 400 % has 320 pixels.
WIDTHS: Final = (320, 390, 700, 1000, 1280)
# The names of all parts that a page is made of.
PARTS: Final = "[...document.querySelectorAll('[class]')].flatMap(each => [...each.classList])"


@pytest.fixture(scope="module")
def gallery() -> Iterator[str]:
    """Where the states are shown."""
    with serve() as address:
        yield address


def show(page: Page, address: str) -> None:
    """Open a state, which must be the one that is meant and not the page that says sorry."""
    answer = page.goto(address)
    assert answer is not None
    assert answer.status != 500, address


def test_every_state_can_be_used_by_everybody(open_page: NewPage, gallery: str) -> None:
    page = open_page("phone", "light")

    for name in STATES:
        show(page, f"{gallery}/{name}")
        check_page(page)


def test_at_a_desk_by_night_it_is_the_same(open_page: NewPage, gallery: str) -> None:
    page = open_page("desktop", "dark")

    seen: set[str] = set()
    for name in STATES:
        show(page, f"{gallery}/{name}")
        parts = set(page.evaluate(PARTS))
        # Colours belong to classes: each is looked at where it is first shown.
        if IS_FULL or parts - seen:
            check_page(page)
        seen |= parts


def test_nothing_has_to_be_scrolled_sideways(open_page: NewPage, gallery: str) -> None:
    """Not everybody has a wide window, or writes short words."""
    page = open_page("desktop")

    for name in (*STATES, *ENDLESS):
        show(page, f"{gallery}/{name}")
        for width in WIDTHS if name in ENDLESS else some_of(WIDTHS, part=3):
            page.set_viewport_size({"width": width, "height": 800})
            check_width(page)


def test_a_text_that_cannot_be_read_is_found_on_every_page_that_has_it(open_page: NewPage) -> None:
    page = open_page("phone")
    text = "<html lang='en'><title>Prints</title><h1>Prints</h1><main style='{}'><p>Of cats</p>"
    white = "background: rgb(255 255 255)"
    unreadable = (
        "color: #ccc",
        "color: #222; background: rgb(0 0 0 / 0.9)",
        # All that is in it fades, on whatever ground of its own.
        f"{white}; opacity: 0.3",
    )

    for style in unreadable:
        for now, names in ((white, []), (style, ["color-contrast"])):
            for _ in range(2):
                page.set_content(text.format(now))
                assert [name for name, _ in list_violations(page)] == names
