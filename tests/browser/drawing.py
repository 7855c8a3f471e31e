"""Draws pages as pictures of the documentation."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pyvips
from playwright.sync_api import Browser, Page, Playwright

from tests.browser.conftest import SIZES, find_browser

FOLDER: Final = Path("docs/pages")
# No colour of a page is lost, and a picture is a third as large.
COLOURS: Final = 8


def launch(playwright: Playwright) -> Browser:
    """Start the browser of this machine."""
    return playwright.chromium.launch(
        executable_path=find_browser(), args=["--disable-dev-shm-usage", "--no-sandbox"]
    )


@contextmanager
def open_window(browser: Browser, size: str, **options: Any) -> Iterator[Page]:
    """Open a window of somebody during the block."""
    context = browser.new_context(ignore_https_errors=True, **{**SIZES[size], **options})
    yield context.new_page()
    context.close()


def draw(page: Page, name: str, *, whole: bool = False) -> None:
    """Draw what the window shows, or the whole page, into the folder of pictures."""
    FOLDER.mkdir(exist_ok=True)
    page.wait_for_load_state("networkidle")
    window = page.viewport_size
    if whole and window is not None:
        # As high as the page, so that what stays beside it is drawn as a whole, too.
        height = page.evaluate("document.documentElement.scrollHeight")
        page.set_viewport_size({**window, "height": max(window["height"], height)})
    drawn = page.screenshot()
    if window is not None:
        page.set_viewport_size(window)
    picture = pyvips.Image.new_from_buffer(drawn, "")
    picture.pngsave(str(FOLDER / f"{name}.png"), palette=True, bitdepth=COLOURS, effort=7)
    sys.stdout.write(f"{FOLDER / name}.png\n")
