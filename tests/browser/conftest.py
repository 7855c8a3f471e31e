"""A real browser, in the sizes and colours that people use."""

import shutil
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from tests.browser.houses import House, open_house
from tests.scale import IS_FULL

Scheme = Literal["light", "dark"]
NewPage = Callable[..., Page]

SIZES: Final[dict[str, dict[str, Any]]] = {
    "desktop": {"viewport": {"width": 1280, "height": 800}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "device_scale_factor": 2,
        "is_mobile": True,
        "has_touch": True,
    },
}
# What is pressed on the way from one page to the next is the same at every size.
ON_THE_WAY: Final = list(SIZES) if IS_FULL else ["phone"]
# The gallery shows every part of a page in all of them.
LOOKS: Final = [("phone", "light"), ("desktop", "dark")] if IS_FULL else [("phone", "light")]


def find_browser() -> str | None:
    """Return where the browser is: without its own windows and menus, if there is such a one."""
    return shutil.which("chromium-headless-shell") or shutil.which("chromium")


# No longer than these tests: its event loop would be in the way of others.
@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """The browser of this machine; nothing is downloaded."""
    found = find_browser()
    if found is None:
        pytest.fail(
            "These tests need a browser; on Debian: apt-get install chromium-headless-shell",
            pytrace=False,
        )
    with sync_playwright() as playwright:
        # Containers often have little shared memory.
        browser = playwright.chromium.launch(
            executable_path=found, args=["--disable-dev-shm-usage"]
        )
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A sandbox that runs, for the tests of a file."""
    with open_house(tmp_path_factory.mktemp("house") / "data") as house:
        yield house


@pytest.fixture
def open_page(chromium: Browser) -> Iterator[NewPage]:
    """Opens windows; each fails its test if the browser has something to complain about."""
    contexts: list[BrowserContext] = []
    complaints: list[str] = []

    def open_one(
        size: str = "phone",
        scheme: Scheme = "light",
        *,
        may_complain: bool = False,
        **options: Any,
    ) -> Page:
        context = chromium.new_context(
            color_scheme=scheme,
            # The certificate comes from the service's own authority.
            ignore_https_errors=True,
            **{**SIZES[size], **options},
        )
        contexts.append(context)
        page = context.new_page()
        if not may_complain:
            page.on("console", lambda message: complaints.append(message.text))
            page.on("pageerror", lambda error: complaints.append(str(error)))
        return page

    yield open_one
    for context in contexts:
        context.close()
    # A page whose status is an error counts as a resource that failed to load.
    assert [each for each in complaints if not each.startswith("Failed to load resource")] == []
