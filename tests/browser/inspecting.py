"""What must hold for every page, whatever it says."""

from typing import Any, Final

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.scale import IS_FULL

_GRAVE: Final = {"serious", "critical"}
# Without the rules whose findings are never grave: they take a tenth of its time. What passed is as long
# as the page, and nobody reads it.
_INSPECT: Final = """
    leftOut => {
        const isNeeded = ({id, impact}) =>
            !['minor', 'moderate'].includes(impact) && !leftOut.includes(id);
        const others = axe._audit.rules.filter(rule => !isNeeded(rule));
        const rules = Object.fromEntries(others.map(({id}) => [id, {enabled: false}]));
        return axe.run({resultTypes: ['violations'], rules}).then(found => found.violations);
    }
"""
# What the contrast of texts depends on: their colour, whether they are large or switched off, and what is
# behind them as far as it can be seen through. What may lie over something else, and lets it be seen,
# looks like nothing on another page.
_LOOKS: Final = """
    () => {
        const isMoved = style => style.transform !== 'none'
            || !['static', 'relative'].includes(style.position)
            || (style.position === 'relative'
                && ['top', 'left'].some(side => parseFloat(style[side])));
        // For screen readers, or until it has the focus.
        const isUnseen = (element, style) => {
            const {right, bottom, width, height} = element.getBoundingClientRect();
            const isClipped = style.clip !== 'auto' || style.clipPath !== 'none';
            return right + scrollX <= 0 || bottom + scrollY <= 0
                || (isClipped && width <= 1 && height <= 1);
        };
        // What fades lets all that is in it be seen through, whatever that stands on.
        const fade = element => element
            ? getComputedStyle(element).opacity * fade(element.parentElement) : 1;
        const behind = element => {
            const style = getComputedStyle(element), colour = style.backgroundColor;
            const own = [colour, style.backgroundImage];
            if (colour.startsWith('rgb(')) return own.join(' ');
            if (isMoved(style)) own.push(isUnseen(element, style) ? 'unseen' : location.href);
            const rest = element.parentElement ? behind(element.parentElement) : '';
            return own.join(' ') === 'rgba(0, 0, 0, 0) none' ? rest : `${own.join(' ')}|${rest}`;
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
            looks.add([style.color, isLarge, isOff, style.textShadow, fade(element),
                behind(element)].join(' '));
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
    left_out = [] if IS_FULL or looks - _seen else ["color-contrast"]
    grave = [
        (each["id"], [node["html"] for node in each["nodes"]])
        for each in page.evaluate(_INSPECT, left_out)
        if each["impact"] in _GRAVE
    ]
    if not grave:
        _seen.update(looks)
    return grave


# Looks of texts that were found to be readable in this process.
_seen: Final[set[str]] = set()
