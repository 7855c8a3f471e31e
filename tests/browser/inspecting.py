"""What must hold for every page, whatever it says."""

from typing import Any, Final

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

_GRAVE: Final = {"serious", "critical"}
# What passed is as long as the page, and nobody reads it.
_INSPECT: Final = "axe.run({resultTypes: ['violations']}).then(found => found.violations)"
_WIDER_THAN_THE_WINDOW: Final = (
    "document.documentElement.scrollWidth > document.documentElement.clientWidth"
)
# What can be pressed by a finger: 24 CSS pixels each way, as WCAG 2.2 asks, unless it is within text.
_TOO_SMALL: Final = """
    [...document.querySelectorAll('button, .button, input:not([type=hidden]), summary')]
        .filter(each => each.checkVisibility())
        .map(each => [each.outerHTML, each.getBoundingClientRect()])
        .filter(([, box]) => box.height < 24 || box.width < 24)
        .map(([text]) => text)
"""


def check_page(page: Page) -> None:
    """Fail if somebody could not use the page: by eye, by ear, by finger or by keyboard."""
    assert list_violations(page) == [], page.url
    assert page.evaluate(_TOO_SMALL) == [], page.url
    check_width(page)


def check_width(page: Page) -> None:
    """Fail if the page has to be scrolled sideways."""
    assert not page.evaluate(_WIDER_THAN_THE_WINDOW), f"{page.url} is wider than its window"


def list_violations(page: Page) -> list[Any]:
    """Return what axe finds grave, with the elements that it means."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        # It is half a megabyte: the browser keeps it for all that this window will show.
        page.add_init_script(AXE_SCRIPT)
    return [
        (each["id"], [node["html"] for node in each["nodes"]])
        for each in page.evaluate(_INSPECT)
        if each["impact"] in _GRAVE
    ]
