"""Operators make price lists in the console, and pages say how a price came about."""

import pytest

from printworks.actions.orders.quotes import price_order
from printworks.rules.price_lists import PriceLine
from printworks.store.engine.database import Database
from printworks.store.orders.orders import get_order_to_change
from tests.actions.complaints import a_draft
from tests.actions.price_lists import a_list_of, an_owner, read_book
from tests.api.images import PHOTO
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of
from tests.factories import a_work

PRICES = "/console/prices"
TABLE = f"sku,from_copies,currency,price,percent_off\n{PHOTO},10,GBP,0.15,\n,,,,5\n".encode()


def add_list(operator: Window, **typed: str) -> str:
    """Add a list; return where it is shown."""
    terms = {"name": "Schools", "percent_off": "12.5", **typed}
    return operator.do(PRICES, "add-prices", **terms).headers["location"].partition("?")[0]


@pytest.mark.both_databases
def test_a_list_is_added_filled_given_to_a_merchant_and_ended(
    operator: Window, alice: Window
) -> None:
    assert "No price lists yet" in operator.words(PRICES)
    page = add_list(operator, valid_from="2026-11-01T08:00", valid_until="2027-11-01T08:00")
    assert "12.5 % off everything" in operator.words(page)
    assert "Nobody's yet" in operator.words(PRICES)

    operator.upload(page, "import-prices", [("file", "prices.csv", TABLE)])
    operator.do(page, "assign-prices", merchant=alice.code)
    shown = operator.words(page)
    assert "0.15 GBP" in shown
    assert "Every product" in shown
    assert "In use" in shown
    assert "Lines replaced" in shown
    assert PHOTO.encode() in operator.open(f"{page}/lines.csv").body

    operator.do(page, "suspend-prices")
    assert "Use it again" in operator.words(page)
    operator.do(page, "resume-prices")
    operator.do(
        page, "change-prices", name="Pupils", percent_off="5", valid_from="2026-11-01T08:00"
    )
    assert "Pupils" in operator.words(page)
    operator.do(page, "assign-prices")
    assert "It is nobody's yet" in operator.words(page)
    operator.do(page, "end-prices")
    assert "Replace the lines" not in operator.words(page)


@pytest.mark.both_databases
def test_a_group_is_added_and_given_a_list(operator: Window, alice: Window) -> None:
    page = add_list(operator)
    operator.do(PRICES, "add-group", group="All schools")
    operator.do(PRICES, "put-into-group", merchant=alice.code, into="1")
    operator.do(page, "assign-prices", group="1")

    assert "For the group All schools" in operator.words(page)
    operator.do(PRICES, "put-into-group", merchant=alice.code)
    both = operator.do(page, "assign-prices", group="1", merchant=alice.code)
    assert "either a merchant or a group" in words_of(both)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ({"percent_off": "101"}, "from 0 to 100"),
        ({"name": ""}, "Enter a name"),
        ({"valid_from": "soon"}, "Enter a date and a time"),
        ({"valid_until": "2001-01-01T00:00"}, "after the beginning"),
    ],
)
def test_what_is_typed_wrong_is_said_at_its_field(
    operator: Window, typed: dict[str, str], said: str
) -> None:
    terms = {"name": "Schools", "percent_off": "1", **typed}

    assert said in words_of(operator.do(PRICES, "add-prices", **terms))


def test_a_file_that_is_wrong_or_missing_is_refused(operator: Window) -> None:
    page = add_list(operator)
    wrong = TABLE.replace(PHOTO.encode(), b"NOPE")

    assert "Row 2: there is no product NOPE" in words_of(
        operator.upload(page, "import-prices", [("file", "prices.csv", wrong)])
    )
    assert "Choose a CSV file" in words_of(operator.do(page, "import-prices"))


@pytest.mark.both_databases
def test_an_order_says_how_its_price_came_about(
    operator: Window, alice: Window, database: Database
) -> None:
    with database.writing() as db:
        merchant = merchant_of(db, alice)
        draft = a_draft(db, merchant)
        a_list_of(an_owner(db), merchant, PriceLine(PHOTO, 1, "GBP", 11))
        work = a_work(db, merchant, price_book=read_book(db))
        price_order(work, get_order_to_change(db, merchant.id, draft.id), {})

    shown = alice.words(f"/orders/{draft.id}")
    assert "£0.11 each, by your price list; the catalogue says £0.28." in shown
    assert "This price is kept until" in shown
    assert "by the list “Spring”" in operator.words(f"/console/orders/{draft.id}")
