"""Operators make price lists, give them to merchants, and end quotes at the command line."""

from pathlib import Path

import pytest

from printworks.actions.orders.quotes import price_order
from printworks.catalogue.snapshot import Catalogue
from printworks.clock import system_clock
from printworks.store.orders.orders import get_order_to_change
from tests.actions.price_lists import read_book
from tests.cli.operators import SKU, Operator
from tests.factories import a_work

pytestmark = pytest.mark.both_databases


def test_a_list_is_added_filled_assigned_and_ended(keeper: Operator, tmp_path: Path) -> None:
    code = keeper.merchant.code
    assert keeper.asks("prices", "list").said.startswith("There are no price lists")
    added = str(keeper.reads("prices", "add", "Spring", "--off", "12.5")["list"])
    table = tmp_path / "prices.csv"
    table.write_text(f"sku,from_copies,currency,price,percent_off\n{SKU},10,GBP,0.15,\n")
    keeper.reads("prices", "import", added, str(table))
    keeper.reads("prices", "assign", added, "--merchant", code)

    [listed] = keeper.reads("prices", "list")
    assert (listed["name"], listed["state"], listed["percentOff"]) == ("Spring", "valid", "12.5")
    shown = keeper.reads("prices", "show", added)
    assert shown["lines"][0]["price"] == "0.15"
    assert [one["change"] for one in shown["changes"]] == [
        *("assign-prices", "import-prices", "add-prices")
    ]
    assert "12.5 % off" in keeper.asks("prices", "show", added).said
    assert "12.5 %" in keeper.asks("prices", "list").said
    assert keeper.asks("prices", "export", added).said.splitlines()[1] == f"{SKU},10,GBP,0.15,"
    keeper.reads("prices", "suspend", added)
    assert keeper.reads("prices", "list")[0]["state"] == "suspended"
    keeper.reads("prices", "resume", added)
    keeper.reads("prices", "assign", added)
    keeper.reads("prices", "end", added)
    assert keeper.reads("prices", "list")[0]["state"] == "ended"


def test_a_group_has_a_list(keeper: Operator) -> None:
    code = keeper.merchant.code
    added = str(
        keeper.reads("prices", "add", "Schools", "--from", "2027-01-01", "--until", "2028-01-01")[
            "list"
        ]
    )
    assert (
        "There is no group Schools"
        in keeper.asks("prices", "assign", added, "--group", "Schools").complained
    )
    keeper.reads("prices", "group", code, "Schools")
    keeper.reads("prices", "assign", added, "--group", "Schools")
    assert keeper.reads("prices", "list")[0]["groupId"]
    keeper.reads("prices", "group", code)
    both = keeper.asks("prices", "assign", added, "--group", "Schools", "--merchant", code)
    assert "either a merchant or a group" in both.complained
    missing = keeper.asks("prices", "import", added, "no-such-file.csv")
    assert "cannot be read" in missing.complained


def test_quotes_are_ended_and_prices_explained(keeper: Operator) -> None:
    order, code = keeper.adds_an_order(), keeper.merchant.code
    assert keeper.reads("quotes", "refresh", "--order", str(order.id))["orders"] == 1
    ended = keeper.asks("quotes", "refresh", "--merchant", code)
    assert ended.said.startswith("The quotes of 0 orders have ended.")
    said = keeper.asks("order", "explain", str(order.id)).said
    assert "Its prices are those of the catalogue." in said
    assert "Its quote is valid until" in said

    added = str(keeper.reads("prices", "add", "Spring", "--off", "50")["list"])
    keeper.reads("prices", "assign", added, "--merchant", code)
    with keeper.database.writing() as db:
        catalogue = Catalogue.load(keeper.catalogue)
        now = system_clock()
        work = a_work(db, keeper.merchant, now=now, catalogue=catalogue, price_book=read_book(db))
        price_order(work, get_order_to_change(db, keeper.merchant.id, order.id), {})

    said = keeper.asks("order", "explain", str(order.id)).said
    assert f"{SKU} costs 0.10 GBP each: 50 % off the catalogue's 0.20 GBP" in said
    assert f"by price list {added}, “Spring”" in said
    terms = keeper.reads("order", "explain", str(order.id))["priceTerms"]
    assert terms["items"][SKU]["basis"] == "percentage"
