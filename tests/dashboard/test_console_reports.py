"""Reports in the console: what was sold, what it cost, and what is left."""

import csv
import io
from typing import Any

import pytest

from printworks.actions.orders.orders import cancel_order
from printworks.actions.payments.ledger import post_by_hand
from printworks.rules.ledger import EntryKind
from printworks.rules.production import LabState
from printworks.store.engine.database import Database
from printworks.store.money.ledger import list_days
from tests.actions.test_ledger import CATALOGUE
from tests.dashboard.scenes import hand_in, hear
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of
from tests.factories import a_work, a_work_of

PAGE = "/console/reports"
CSV = "/console/reports.csv"
BY = ("day", "merchant", "product", "lab", "country")


def sell(database: Database, alice: Window) -> None:
    """Sell and send something, sell something and call it off, and credit something."""
    _, shipment = hand_in(database, alice)
    hear(database, shipment, LabState.DISPATCHED)
    cancelled, _ = hand_in(database, alice)
    with database.writing() as db:
        cancel_order(a_work_of(db, cancelled, catalogue=CATALOGUE), cancelled)
        post_by_hand(a_work(db, merchant_of(db, alice)), EntryKind.CREDIT, 25, "sorry")


def read_csv(operator: Window, address: str) -> list[dict[str, str]]:
    """Download a report."""
    answer = operator.open(address)
    assert answer.headers["content-type"].startswith("text/csv")
    return list(csv.DictReader(io.StringIO(answer.body.decode())))


def pence(rows: list[dict[str, str]], column: str) -> int:
    """Add up a column."""
    return sum(round(float(row[column]) * 100) for row in rows)


@pytest.mark.both_databases
@pytest.mark.parametrize("by", BY)
def test_every_report_agrees_with_the_ledger(
    operator: Window, alice: Window, database: Database, by: str
) -> None:
    sell(database, alice)
    with database.reading() as db:
        ledger = {day.kind: day.amount for day in list_days(db, merchant_of(db, alice).id)}

    rows = read_csv(operator, f"{CSV}?by={by}")
    page = operator.words(f"{PAGE}?by={by}")

    assert pence(rows, "gross") == ledger[EntryKind.CHARGE]
    assert pence(rows, "refunded") == ledger[EntryKind.REFUND]
    assert pence(rows, "credited") == ledger[EntryKind.CREDIT] == 25
    spent = pence(rows, "items_cost") + pence(rows, "shipping_cost")
    assert spent > 0
    assert pence(rows, "margin") == pence(rows, "net") - pence(rows, "refunded_net") - 25 - spent
    assert sum(int(row["orders"]) for row in rows) == 2
    assert f"£{ledger[EntryKind.CHARGE] / 100:.2f} with tax" in page
    assert "Margin" in page


def test_lines_are_named_as_people_know_them(
    operator: Window, alice: Window, database: Database
) -> None:
    sell(database, alice)

    assert "Sun, 15 Nov 2026" in operator.words(PAGE)
    assert "Alice" in operator.words(f"{PAGE}?by=merchant")
    products = operator.words(f"{PAGE}?by=product")
    assert "Shipping" in products
    assert "Credits" in products
    assert "#" not in products
    assert "No lab" in operator.words(f"{PAGE}?by=lab")
    countries = operator.words(f"{PAGE}?by=country")
    assert "United Kingdom" in countries
    assert "No country" in countries
    assert [row["product"] for row in read_csv(operator, f"{CSV}?by=product")] == [
        *("adjustments", "shipping", "GLOBAL-PHO-4X6-PRO")
    ]


def test_a_loss_is_a_word(operator: Window, alice: Window, database: Database) -> None:
    with database.writing() as db:
        post_by_hand(a_work(db, merchant_of(db, alice)), EntryKind.CREDIT, 25, "sorry")

    page = operator.words(PAGE)

    assert "£0.25 loss" in page
    assert "-£" not in page


def test_without_sales_it_says_so(operator: Window) -> None:
    assert "Nothing was sold in this period" in operator.words(PAGE)


@pytest.mark.parametrize(
    "query",
    [
        {"from": "2026-11-15", "to": "2026-11-15"},
        # Another way round, too long, or no days.
        {"from": "2027-11-15", "to": "2026-11-15"},
        {"from": "1999-01-01", "to": "2026-11-15"},
        {"from": "0001-01-01"},
        {"from": "soon", "to": "later", "by": "luck", "currency": "gold"},
    ],
)
def test_a_period_is_read_as_well_as_it_can_be(
    operator: Window, alice: Window, database: Database, query: dict[str, Any]
) -> None:
    sell(database, alice)
    asked = "&".join(f"{name}={value}" for name, value in query.items())

    assert "2 Orders" in operator.words(f"{PAGE}?{asked}")


def test_a_long_report_is_read_page_by_page(
    operator: Window, alice: Window, database: Database
) -> None:
    sell(database, alice)

    first = operator.open(f"{PAGE}?by=product")
    after = operator.words(f"{PAGE}?by=product&after=%23shipping")

    assert "Shipping cost" in words_of(first)
    assert "Credits" not in after
