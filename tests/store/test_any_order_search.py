"""Orders of any merchant are found by what somebody who calls can tell, each by an index."""

from typing import Any

import pytest
from sqlalchemy import Connection, update

from printworks.actions.orders.moves import move_order
from printworks.rules.orders import OrderStatus
from printworks.store.engine.database import Database
from printworks.store.orders.orders import Order, update_order
from printworks.store.tables import shipments
from printworks.store.views.console import search
from printworks.store.views.console.search import (
    PersonSearch,
    find_orders_of_person,
    search_any_orders,
)
from tests.actions.complaints import submitted
from tests.factories import a_merchant, a_work_of, an_order
from tests.store.plans import explain_on_postgresql, explain_on_sqlite

INDEXES = {
    "A-7": "ix_orders_reference (merchant_id=? AND merchant_order_id=?)",
    "Mary Fox": "ix_orders_recipient (merchant_id=? AND recipient_key>? AND recipient_key<?)",
    "yo1 1aa": "ix_orders_postcode (postal_key=?)",
    "mary@fox.example": "ix_orders_email (email_key=?)",
    "JD0123": "ix_shipments_tracking (tracking_number=?)",
}


def a_sent_order(db: Connection, **values: Any) -> Order:
    """Add an order that is on its way."""
    order = submitted(db, a_merchant(db), images=1, **values)
    return move_order(a_work_of(db, order), order, OrderStatus.COMPLETE)


def find(db: Connection, text: str, **how: Any) -> list[int]:
    return [order.id for order in search_any_orders(db, text, **{"limit": 9, **how}).orders]


def test_they_are_found_by_whatever_is_known(database: Database) -> None:
    with database.writing() as db:
        sent = a_sent_order(db, merchant_order_id="A-7", email="Mary@Fox.example")
        draft = an_order(db, a_merchant(db), merchant_order_id="A-7", postal_code="YO11AA")
        other = an_order(db, a_merchant(db), recipient_name="Tom Bear", postal_code="YO1 1AB")
        parcel = {"tracking_number": "JD0123"}
        db.execute(update(shipments).where(shipments.c.order_id == sent.id).values(parcel))

        both = [draft.id, sent.id]
        assert find(db, str(sent.id)) == [sent.id]
        assert find(db, "A-7") == both
        assert find(db, "fox") == find(db, "MARY FOX") == find(db, "Fox Mary") == both
        assert find(db, "yo1 1aa") == find(db, "YO11AA") == both
        assert find(db, "mary@fox.example ") == [sent.id]
        assert find(db, "jd0123") == find(db, "JD0123") == [sent.id]
        assert find(db, "bear") == [other.id]
        for nothing in ("", " \0", "A-70", "9" * 30, "-", "@", "%", "o" * 5000):
            assert find(db, nothing) == []


def test_a_list_says_when_it_is_cut(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.writing() as db:
        merchant = a_merchant(db)
        ids = [an_order(db, merchant).id for _ in range(3)]

        assert search_any_orders(db, "fox", limit=3).is_cut is False
        found = search_any_orders(db, "fox", limit=2)
        assert ([order.id for order in found.orders], found.is_cut) == (ids[:0:-1], True)
        monkeypatch.setattr(search, "MOST_ALIKE", 2)
        assert search_any_orders(db, "fox", limit=3).is_cut is True
        person = PersonSearch(name="Mary Fox", postcode="YO1 1AA")
        assert find_orders_of_person(db, person, limit=3).is_cut is True


def test_a_person_is_found_by_address_or_by_name_and_postcode(database: Database) -> None:
    with database.writing() as db:
        alice, bob = a_merchant(db), a_merchant(db)
        sent = submitted(db, alice, email="mary@fox.example")
        draft = an_order(db, bob, recipient_name="Dr. Mary Fox", postal_code="yo1-1aa")
        an_order(db, bob, recipient_name="Mary Fox", postal_code="YO1 1AB")
        an_order(db, bob, recipient_name="Tom Fox", postal_code="YO1 1AA")

        def whose(**person: Any) -> list[int]:
            found = find_orders_of_person(db, PersonSearch(**person), limit=9)
            return [order.id for order in found.orders]

        assert whose(email="MARY@fox.example") == [sent.id]
        assert whose(name="mary fox", postcode="yo11aa") == [draft.id, sent.id]
        assert whose(name="mary fox", postcode="yo11aa", merchant_id=bob.id) == [draft.id]
        assert whose(email="mary@fox.example", name="Fox", postcode="yo11aa") != []
        for nobody in (
            {},
            {"name": "fox"},
            {"postcode": "YO1 1AA"},
            {"name": ".", "postcode": "-"},
        ):
            assert whose(**nobody) == []


def test_a_change_is_found_too(database: Database) -> None:
    with database.writing() as db:
        order = an_order(db, a_merchant(db), postal_code="YO1 1AA", email="a@fox.example")
        update_order(db, order, {"postal_code": "N1", "email": None, "recipient_name": None})

        assert find(db, "YO1 1AA") == find(db, "a@fox.example") == find(db, "fox") == []
        assert find(db, "n1") == [order.id]


@pytest.mark.parametrize("text", INDEXES)
def test_sqlite_reads_an_index(sqlite_database: Database, text: str) -> None:
    with sqlite_database.writing() as db:
        an_order(db, a_merchant(db))

    plans = explain_on_sqlite(sqlite_database, lambda db: search_any_orders(db, text, limit=50))

    used = [line for plan in plans.values() for line in plan]
    assert any(INDEXES[text] in line for line in used), used
    # Of drafts, only the newest are read.
    scans = {line for line in used if line.startswith(("SCAN orders", "SCAN shipments"))}
    assert scans <= {"SCAN orders USING INDEX ix_orders_drafts"}


@pytest.mark.parametrize("text", INDEXES)
def test_so_does_postgresql(postgresql_database: Database, text: str) -> None:
    with postgresql_database.writing() as db:
        an_order(db, a_merchant(db))

    plans = explain_on_postgresql(
        postgresql_database, lambda db: search_any_orders(db, text, limit=50), sorts=True
    )

    index = INDEXES[text].split(" ")[0]
    assert any(index in plan for plan in plans.values()), plans
    assert not [plan for plan in plans.values() if "Seq Scan on orders" in plan]
