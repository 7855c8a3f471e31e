"""Draws what an owner does in the forms of the catalogue, as pictures of `docs/pages`: run `make pictures`.

The prices change while twenty orders a second arrive; what was measured is printed.
"""

import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from playwright.sync_api import Browser, Page, sync_playwright

from tests.browser.drawing import draw, launch, open_window
from tests.browser.houses import House, open_house
from tests.browser.owner import (
    SKU,
    add_merchant,
    change_price_while_orders_arrive,
    make_catalogue,
)
from tests.browser.streams import OrderStream, read_charges
from tests.worker.hosts import PictureHost, holds
from tests.worker.shops import A_PICTURE

RATE: Final = 20
SECONDS: Final = 45
# The steps that the documentation shows.
SHOWN: Final = {
    *("new-product-print", "products", "product", "lab-erfurt", "tariff", "mistakes"),
    *("ready", "changes", "dearer", "rolled-back"),
}


def main() -> None:
    """Let an owner work while orders arrive, and draw each step."""
    with TemporaryDirectory() as name, sync_playwright() as playwright:
        browser, folder = launch(playwright), Path(name)
        with open_house(folder / "data") as house, PictureHost() as host:
            _tell(browser, house, folder, host.at("/cat.jpg", holds(A_PICTURE)))
        browser.close()


def _tell(browser: Browser, house: House, folder: Path, picture: str) -> None:
    with open_window(browser, "desktop") as page:
        house.enter_console(page, "owner@works.example")
        ours = make_catalogue(page, house, folder, _draw_step)
        for size in ("desktop", "phone"):
            _look_as_merchant(browser, house, size)
        image = {"sku": SKU, "url": picture, "copies": 1}
        stream = OrderStream(house.service, add_merchant(house), image, RATE)
        change_price_while_orders_arrive(page, ours, stream, _draw_step, seconds=SECONDS)
        charged = read_charges(house.database)
        assert charged == {one.order: one.quoted for one in stream.done}
        sys.stdout.write(f"{stream.describe()}\n")


def _draw_step(page: Page, name: str) -> None:
    if name in SHOWN:
        draw(page, f"owner-{name}", whole=True)


def _look_as_merchant(browser: Browser, house: House, size: str) -> None:
    with open_window(browser, size) as page:
        show = partial(draw, page, whole=size == "desktop")
        house.sign_up(page, f"Shop on a {size}", f"{size}@fox.example")
        page.goto(house.at("/catalogue?kind=all&country=DE"))
        show(f"owner-catalogue-{size}")
        page.goto(house.at("/orders/new?country=DE"))
        show(f"owner-order-{size}")


if __name__ == "__main__":
    main()
