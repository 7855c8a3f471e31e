"""Two hundred orders from a file, with five bad rows, in a real browser at the real program."""

import csv
import io
import re
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ON_THE_WAY, NewPage
from tests.browser.houses import House, press
from tests.browser.inspecting import check_page
from tests.worker.lots import a_file, many_rows

PATIENCE: Final = 60_000
WRONG: Final = {
    10: {"country": "Atlantis"},
    50: {"sku": "NO-SUCH"},
    99: {"copies": "none"},
    150: {"image_url": "nowhere"},
    200: {"recipient_name": ""},
}
# What a phone shows of twenty orders.
TALLEST: Final = 2000


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize("size", ON_THE_WAY)
def test_a_file_of_two_hundred_orders(
    open_page: NewPage, house: House, size: str, tmp_path: Path
) -> None:
    page = open_page(size)
    house.sign_up(page, "Fox", f"lots-{size}@shop.example")
    page.goto(house.at("/orders"))
    page.get_by_role("link", name="Import CSV").click()
    rows = [{**row, **WRONG.get(n, {})} for n, row in enumerate(many_rows(200), start=2)]
    file = tmp_path / "orders.csv"
    file.write_bytes(a_file(*rows))
    page.get_by_label("CSV file").set_input_files(file)
    press(page, "Check the file")

    expect(page.get_by_role("heading", name="195 orders can be created")).to_be_visible()
    for row, fields in WRONG.items():
        wrong = page.locator("tr", has_text=f"S-{row - 2}").first
        expect(wrong).to_contain_text(re.compile(rf"{row}\s+{next(iter(fields))}"))
    check_page(page)
    press(page, "Create the 195 good orders")
    expect(page.get_by_text("195 orders were created.")).to_be_visible(timeout=PATIENCE)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download these rows as CSV").click()
    left = list(csv.DictReader(io.StringIO(download.value.path().read_text("utf-8-sig"))))
    assert [row["reference"] for row in left] == [f"S-{row - 2}" for row in WRONG]

    page.goto(house.at("/orders"))
    expect(page.get_by_text("195 orders", exact=True)).to_be_visible()
    if size == "phone":
        twentieth = page.locator("tbody tr").nth(19).bounding_box()
        assert twentieth is not None
        assert twentieth["y"] + twentieth["height"] <= TALLEST
    # The whole row is the link.
    page.locator("tbody tr").first.click(position={"x": 180, "y": 30})
    expect(page.get_by_role("heading", level=1)).to_contain_text("Order ")

    page.goto(house.at("/orders?q=S-19&choose=all"))
    press(page, "Cancel the chosen orders")
    press(page, "Cancel the 10 orders")
    expect(page.get_by_text("10 orders were cancelled.")).to_be_visible(timeout=PATIENCE)
