"""Every state of every page can be used by everybody: on a phone, at a desk, by day and by night."""

from collections.abc import Iterator

import pytest

from tests.browser.conftest import NewPage, Scheme
from tests.browser.gallery import ENDLESS, STATES, serve
from tests.browser.inspecting import check_page, check_width


@pytest.fixture(scope="module")
def gallery() -> Iterator[str]:
    """Where the states are shown."""
    with serve() as address:
        yield address


@pytest.mark.parametrize(("size", "scheme"), [("phone", "light"), ("desktop", "dark")])
def test_every_state_can_be_used_by_everybody(
    open_page: NewPage, gallery: str, size: str, scheme: Scheme
) -> None:
    page = open_page(size, scheme)

    for name in STATES:
        page.goto(f"{gallery}/{name}")
        check_page(page)


def test_nothing_has_to_be_scrolled_sideways(open_page: NewPage, gallery: str) -> None:
    """Whoever zooms a desktop to 400 % has 320 pixels; and not everybody writes short words."""
    page = open_page("desktop")

    for name in (*STATES, *ENDLESS):
        page.goto(f"{gallery}/{name}")
        for width in (320, 390, 700, 1000, 1280):
            page.set_viewport_size({"width": width, "height": 800})
            check_width(page)
