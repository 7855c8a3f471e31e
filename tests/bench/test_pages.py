"""The benchmark looks at every page of a shop that is large, and has all that pages show."""

from datetime import UTC, datetime

import pytest

from bench.million import fill
from bench.pages import measure_pages
from printworks.store.engine.database import Database

pytestmark = pytest.mark.slow


def test_every_page_of_a_filled_shop_is_measured(database: Database) -> None:
    # Sessions end by the clock of the program that runs.
    now = datetime.now(UTC)
    merchant = fill(database, 200, 6, now=now)
    shown = measure_pages({"shop": (database, merchant)}, 1, now=now)["shop"]

    assert {"/invoices", "/console/reports", "/console/versions/{id}"} <= shown.keys()
    assert all(page.size > 0 for page in shown.values())
