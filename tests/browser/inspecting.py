"""What must hold for every page, whatever it says."""

from typing import Any, Final

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.scale import IS_FULL

_GRAVE: Final = {"serious", "critical"}
# Rules of axe that never find anything grave: they would take a tenth of its time.
_NOT_GRAVE: Final = (
    *("aria-allowed-role", "empty-heading", "empty-table-header", "heading-order"),
    *("image-redundant-alt", "landmark-banner-is-top-level"),
    *("landmark-complementary-is-top-level", "landmark-contentinfo-is-top-level"),
    *("landmark-main-is-top-level", "landmark-no-duplicate-banner"),
    *("landmark-no-duplicate-contentinfo", "landmark-no-duplicate-main", "landmark-one-main"),
    *("landmark-unique", "meta-viewport-large", "page-has-heading-one"),
    *("presentation-role-conflict", "region", "scope-attr-valid", "skip-link"),
)
# What passed is as long as the page, and nobody reads it.
_INSPECT: Final = """
    options => axe.run({resultTypes: ['violations'], preload: false, ...options})
        .then(found => found.violations)
"""
# What the contrast of texts depends on: their colour, whether they are large or switched off, and what is
# behind them as far as it can be seen through. What could lie over something else is one of a kind.
_LOOKS: Final = """
    () => {
        const behind = element => {
            const style = getComputedStyle(element), colour = style.backgroundColor;
            const isInFlow = ['static', 'relative'].includes(style.position);
            const own = [colour, style.backgroundImage, style.opacity,
                isInFlow ? '' : `${element.tagName}.${element.className}#${element.id}`].join(' ');
            const isNothing = own === 'rgba(0, 0, 0, 0) none 1 ';
            const isWhole = colour.startsWith('rgb(') && style.opacity === '1' && isInFlow;
            const rest = isWhole || !element.parentElement ? '' : behind(element.parentElement);
            return isNothing ? rest : `${own}|${rest}`;
        };
        const hasText = element => element.value || [...element.childNodes].some(
            node => node.nodeType === Node.TEXT_NODE && node.data.trim());
        const looks = new Set();
        for (const element of document.body.querySelectorAll('*')) {
            if (!hasText(element) || !element.checkVisibility()) continue;
            const style = getComputedStyle(element);
            const size = parseFloat(style.fontSize), isBold = style.fontWeight >= 700;
            const isLarge = size >= 24 || (isBold && size >= 18.66);
            const isOff = element.closest('[disabled], [aria-disabled=true]') !== null;
            looks.add([style.color, isLarge, isOff, style.textShadow, behind(element)].join(' '));
        }
        return [...looks];
    }
"""
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
    """Return what axe finds grave, with the elements that it means.

    The contrast of a text depends on how it looks alone, and takes axe two thirds of its time: a
    page that has no text of a new look is not asked for it again.
    """
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
        # It is half a megabyte: the browser keeps it for all that this window will show.
        page.add_init_script(AXE_SCRIPT)
    looks = frozenset(page.evaluate(_LOOKS))
    left_out = _NOT_GRAVE if IS_FULL or looks - _seen else (*_NOT_GRAVE, "color-contrast")
    options = {"rules": {rule: {"enabled": False} for rule in left_out}}
    grave = [
        (each["id"], [node["html"] for node in each["nodes"]])
        for each in page.evaluate(_INSPECT, options)
        if each["impact"] in _GRAVE
    ]
    if not grave:
        _seen.update(looks)
    return grave


# Looks of texts that were found to be readable in this process.
_seen: Final[set[str]] = set()
