"""Operators make price lists in the console, and pages say how a price came about."""

import html
import re

import pytest

from printworks.actions.orders.quotes import price_order
from printworks.rules.price_lists import PriceLine
from printworks.store.engine.database import Database
from printworks.store.money.price_lists import set_group
from printworks.store.orders.orders import get_order_to_change
from tests.actions.complaints import a_draft
from tests.actions.price_lists import a_list_of, an_owner, read_book
from tests.api.conftest import MovableClock
from tests.api.images import PHOTO
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window, merchant_of
from tests.factories import a_merchant, a_work

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
    assert "Not assigned" in operator.words(PRICES)

    operator.upload(page, "import-prices", [("file", "prices.csv", TABLE)])
    operator.do(page, "assign-prices", merchant=alice.code)
    shown = operator.words(page)
    assert "0.15 GBP" in shown
    assert "Every product" in shown
    assert "In use" in shown
    assert "Lines replaced" in shown
    assert PHOTO.encode() in operator.open(f"{page}/lines.csv").body

    operator.do(page, "suspend-prices")
    assert "Resume it" in operator.words(page)
    operator.do(page, "resume-prices")
    operator.do(
        page, "change-prices", name="Pupils", percent_off="5", valid_from="2026-11-01T08:00"
    )
    assert "Pupils" in operator.words(page)
    operator.do(page, "assign-prices")
    assert "Not assigned to anyone" in operator.words(page)
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


@pytest.mark.both_databases
def test_a_group_shows_its_members_a_page_at_a_time(operator: Window, database: Database) -> None:
    operator.do(PRICES, "add-group", group="All schools")
    assert "No merchants here" in operator.words(f"{PRICES}?group=1")
    assert "All schools No merchants" in operator.words(PRICES)
    with database.writing() as db:
        for number in range(21):
            set_group(db, a_merchant(db, f"School {number}").id, 1)

    first = operator.open(f"{PRICES}?group=1")
    [more] = re.findall(r'href="([^"]*members=\d+[^"]*)"', first.body.decode())
    assert "21 merchants" in words_of(first)
    assert "School 20" in words_of(first)
    assert "School 0 " not in words_of(first)
    assert "School 0 " in operator.words(html.unescape(more))
    assert operator.open(f"{PRICES}?group=2").status == 404


@pytest.mark.both_databases
def test_a_list_warns_of_what_it_sells_below_cost(operator: Window) -> None:
    page = add_list(operator)
    assert "Sold below cost" not in operator.words(page)
    cheap = f"sku,from_copies,currency,price,percent_off\n{PHOTO},50,GBP,0.01,\n".encode()
    operator.upload(page, "import-prices", [("file", "prices.csv", cheap)])
    assert f"{PHOTO} from 50 copies on is sold for £0.01 and costs" in operator.words(page)

    operator.do(page, "change-prices", name="Gifts", percent_off="100")
    assert "more." in operator.words(page)
    operator.do(page, "end-prices")
    assert "Sold below cost" not in operator.words(page)


def test_what_changes_prices_asks_for_the_password(
    operator: Window, alice: Window, clock: MovableClock
) -> None:
    page = add_list(operator)
    operator.do(PRICES, "add-group", group="All schools")
    clock.advance(hours=1)

    for form_action in ("change-prices", "assign-prices", "suspend-prices", "end-prices"):
        refused = operator.do(page, form_action, name="Other", merchant=alice.code)
        assert "Enter your password" in words_of(refused)
    moved = operator.do(PRICES, "put-into-group", merchant=alice.code, into="1")
    assert "Enter your password" in words_of(moved)
    assert "Not assigned to anyone" in operator.words(page)
    operator.do(page, "assign-prices", merchant=alice.code, current_password=PASSWORD)
    assert "Not assigned to anyone" not in operator.words(page)


def test_a_merchant_that_is_not_there_is_said_at_its_field(operator: Window) -> None:
    page = add_list(operator)
    for address, form_action in ((page, "assign-prices"), (PRICES, "put-into-group")):
        refused = operator.do(address, form_action, merchant="NOBODY")
        assert "No merchant has this ID" in words_of(refused)


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
