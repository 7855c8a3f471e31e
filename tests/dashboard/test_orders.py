"""The list of a merchant's orders."""

import re
from datetime import timedelta

import pytest

from printworks.store.engine.database import Database
from tests.api.conftest import MovableClock
from tests.api.images import add, create
from tests.api.production import submit
from tests.dashboard.windows import Window
from tests.factories import NOON
from tests.running import Answer

pytestmark = pytest.mark.both_databases

HOSTILE = "<script>alert(1)</script>"


def listed(page: Answer) -> list[int]:
    """Return the orders of a page, in their order."""
    assert page.status == 200
    return [int(number) for number in re.findall(r'<tr id="order-(\d+)"', page.body.decode())]


def test_a_newcomer_is_told_what_to_do_first(alice: Window, bob: Window) -> None:
    create(bob.api)
    page = alice.open("/orders").body.decode()

    assert "No orders yet" in page
    assert 'href="/orders/new"' in page
    assert 'href="/keys"' in page


def test_it_shows_what_matters_of_each_order_newest_first(
    alice: Window, bob: Window, database: Database
) -> None:
    first = create(alice.api, merchantOrderId="A-1", recipientName=HOSTILE, countryCode="DE")
    second = submit(alice.api, recipientName="Ada Lovelace")
    create(bob.api, merchantOrderId="Bob's")
    assert alice.do(f"/orders/{first}", "hold-order").status == 303

    page = alice.open("/orders")

    assert listed(page) == [second, first]
    assert HOSTILE not in page.body.decode()
    words = alice.words("/orders")
    assert f"{second} Ada Lovelace United Kingdom 1 image Submitted £" in words
    assert f"{first} A-1 {HOSTILE} Germany 0 images Not submitted Held No price yet" in words
    assert "2 orders" in words
    assert "Bob's" not in words


def test_orders_are_found_by_number_reference_recipient_status_and_day(
    alice: Window, clock: MovableClock
) -> None:
    mary = create(alice.api, merchantOrderId="WEB-7", recipientName="Mary Fox")
    clock.now = NOON + timedelta(days=3)
    ada = submit(alice.api, merchantOrderId="SHOP-9", recipientName="Ada Lovelace")

    assert listed(alice.open(f"/orders?q={mary}")) == [mary]
    assert listed(alice.open("/orders?q=SHOP")) == [ada]
    assert listed(alice.open("/orders?q=lovelace")) == [ada]
    assert listed(alice.open("/orders?status=NotYetSubmitted")) == [mary]
    assert listed(alice.open("/orders?from=2026-11-16")) == [ada]
    assert listed(alice.open("/orders?to=2026-11-17")) == [mary]
    # What cannot be read does not count.
    assert listed(alice.open("/orders?status=Lost&from=soon&before=x")) == [ada, mary]
    nothing = alice.open("/orders?q=Nobody&status=Complete")
    assert listed(nothing) == []
    assert "No orders found" in nothing.body.decode()
    assert 'value="Nobody"' in nothing.body.decode()
    assert "Clear" in nothing.body.decode()


def test_a_long_list_goes_on_where_it_ended_whatever_comes_meanwhile(alice: Window) -> None:
    orders = [create(alice.api) for _ in range(52)]
    first = alice.open("/orders?status=NotYetSubmitted")
    create(alice.api)
    [older] = re.findall(r'href="([^"]+)" rel="next"', first.body.decode())
    second = alice.open(older.replace("&amp;", "&"))

    assert len(first.body) < 100_000
    assert [*listed(first), *listed(second)] == orders[::-1]
    assert "Older" not in second.body.decode()
    assert "Newest" in second.body.decode()


def test_what_is_new_appears_and_nothing_is_sent_while_nothing_is(alice: Window) -> None:
    order = create(alice.api)
    page = alice.open("/orders?status=NotYetSubmitted")
    assert alice.look_again(page).status == 204

    add(alice.api, order)
    changed = alice.look_again(page)
    assert listed(changed) == [order]
    assert alice.look_again(changed).status == 204

    newest = create(alice.api)
    assert listed(alice.look_again(changed)) == [newest, order]
    # Whoever looks at old ones, or for a name, is left alone.
    assert "seen=" not in alice.open(f"/orders?before={newest}").body.decode()
    assert "seen=" not in alice.open("/orders?q=Mary").body.decode()
