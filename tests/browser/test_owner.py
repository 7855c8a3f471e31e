"""An owner makes a catalogue in a browser, publishes it, and changes a price while orders arrive."""

import sys
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import Page

from tests.browser.conftest import NewPage
from tests.browser.houses import open_house
from tests.browser.inspecting import check_page
from tests.browser.owner import (
    PRICES,
    SKU,
    add_merchant,
    change_price_while_orders_arrive,
    make_catalogue,
)
from tests.browser.streams import OrderStream, read_charges
from tests.conftest import BACKENDS
from tests.scale import IS_FULL, some_of
from tests.worker.hosts import PictureHost, holds
from tests.worker.shops import A_PICTURE

PATIENCE: Final = 60_000
# Orders a second, and for how many seconds at least.
RATE: Final = 20 if IS_FULL else 4
SECONDS: Final = 45 if IS_FULL else 0
# A print at each of the two prices, with its shipping.
USUAL, DEAR = 950 + 490, 1190 + 490
# Two products of each of the two kinds, or all.
SOLD: Final = dict(some_of(list(PRICES.items()), part=3))
# What is inspected in every run.
INSPECTED: Final = {"new-product-print", "mistakes", "ready"}


def inspect(page: Page, name: str) -> None:
    """Check what an owner sees at a step."""
    if IS_FULL or name in INSPECTED:
        check_page(page)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("backend", BACKENDS if IS_FULL else BACKENDS[:1])
def test_prices_change_in_the_browser_while_orders_arrive(
    open_page: NewPage, tmp_path: Path, database_url: str
) -> None:
    page = open_page("desktop")
    page.set_default_timeout(PATIENCE)
    with (
        open_house(tmp_path / "data", database_url=database_url) as house,
        PictureHost() as host,
    ):
        house.enter_console(page, "owner@works.example")
        ours = make_catalogue(page, house, tmp_path, inspect, SOLD)
        image = {"sku": SKU, "url": host.at("/cat.jpg", holds(A_PICTURE)), "copies": 1}
        stream = OrderStream(house.service, add_merchant(house), image, RATE)

        change_price_while_orders_arrive(page, ours, stream, inspect, seconds=SECONDS)

        charged = read_charges(house.database)
    sys.stdout.write(f"{stream.describe()}\n")
    assert stream.refusals == []
    assert charged == {one.order: one.quoted for one in stream.done}
    assert {one.quoted for one in stream.done} <= {USUAL, DEAR}
    if IS_FULL:
        assert len(stream.done) >= 0.9 * RATE * SECONDS
        assert stream.list_prices()[0] == stream.list_prices()[-1] == USUAL
        assert DEAR in stream.list_prices()
