"""Where people see tax, once there is a seller."""

import csv
import io

import pytest

from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.images import add, create
from tests.api.production import see, submit
from tests.dashboard.ordering import an_order
from tests.dashboard.visits import ask_recipient, visit, words_of
from tests.dashboard.windows import Window
from tests.sellers import sell


def pounds(amount: int) -> str:
    return f"£{amount / 100:,.2f}"


def test_without_a_seller_nobody_speaks_of_tax(alice: Window, operator: Window) -> None:
    order_id = submit(alice.api)

    pages = (f"/orders/{order_id}", "/orders/new", "/account", "/catalogue")
    assert all("tax" not in alice.words(page).lower() for page in pages)
    assert "is tax" not in operator.words(f"/console/orders/{order_id}")


@pytest.mark.both_databases
def test_an_order_shows_its_tax_and_what_will_be_charged(
    alice: Window, database: Database, operator: Window
) -> None:
    sell(database)
    order_id = create(alice.api)
    add(alice.api, order_id, copies=2)
    order = see(alice.api, order_id)

    said = alice.words(f"/orders/{order_id}")
    assert f"Tax {pounds(order['tax'])} It costs you {pounds(order['total'])}" in said
    assert f"{pounds(order['total'])} will be charged" in said
    assert f"{pounds(order['tax'])} is tax." in operator.words(f"/console/orders/{order_id}")
    assert pounds(order["total"]) in alice.words("/orders")


def test_a_draft_from_before_the_seller_shows_what_it_will_cost_now(
    alice: Window, database: Database
) -> None:
    order_id, address = an_order(alice)
    before = see(alice.api, order_id)
    sell(database, is_gross=True)

    said = alice.words(address)
    assert f"Tax included {pounds(round(before['price'] / 6))}" in said


def test_the_form_of_a_new_order_adds_tax(alice: Window, database: Database) -> None:
    sell(database)

    assert "Tax £" in alice.words("/orders/new?sku=GLOBAL-PHO-4X6-PRO&country=GB")


def test_statement_and_orders_as_csv_have_a_column_for_it(
    alice: Window, database: Database
) -> None:
    sell(database)
    order = see(alice.api, submit(alice.api))

    exported = alice.open("/orders/export.csv").body.decode("utf-8-sig")
    [row] = csv.DictReader(io.StringIO(exported))
    assert row["tax_amount"] == f"{order['tax'] / 100:.2f}"
    assert row["total"] == f"{order['total'] / 100:.2f}"
    statement = alice.open("/account/statement.csv?month=2026-11").body.decode()
    lines = csv.DictReader(io.StringIO(statement))
    [line] = [one for one in lines if one["what"] == "charge"]
    assert line["tax"] == f"{order['tax'] / 100:.2f}"
    assert f"{pounds(order['tax'])} of it tax" in alice.words("/account")


@pytest.mark.parametrize(("is_gross", "label"), [(False, "Tax £"), (True, "Tax included £")])
def test_the_checkout_charges_the_recipient(
    v3: Client, browser: Client, database: Database, *, is_gross: bool, label: str
) -> None:
    sell(database, is_gross=is_gross)
    url = ask_recipient(v3, email="mary@example.com")

    assert label in words_of(visit(browser, url))
