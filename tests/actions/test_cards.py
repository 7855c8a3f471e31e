"""A merchant's own card: saved once, whoever settles it and in whatever order."""

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from printworks.actions.accounts.lifecycle import close_merchant
from printworks.actions.payments.cards import (
    begin_card,
    describe_request,
    recheck_card,
    remove_card,
    settle_card,
)
from printworks.actions.payments.payments import request_payment
from printworks.actions.work import Work
from printworks.errors import NotFound, WrongState
from printworks.payments.cards import CardDetails, CardPage, CardRefused
from printworks.rules.cards import CardState
from printworks.rules.jobs import JobKind
from printworks.rules.payments import Billing, Cards
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import Database
from printworks.store.money.cards import find_setup_by_key, find_shown_card, lock_setup
from printworks.store.money.payments import SavedCard, get_card, save_card
from printworks.store.tables import jobs, merchants
from tests.factories import a_merchant, a_system_work, a_work, an_order

CARDS = Cards("stripe", timedelta(days=1), timedelta(days=30), needs_saved_card=True)


def a_shop(db: Connection, billing: Billing = Billing.CARD) -> Work:
    """Begin work for a merchant who pays like this."""
    merchant = a_merchant(db)
    db.execute(update(merchants).where(merchants.c.id == merchant.id).values(billing=billing))
    return a_work(db, get_merchant(db, merchant.id), cards=CARDS)


def a_card(number: str = "4242", **values: Any) -> CardDetails:
    """Describe a card that was entered."""
    given = {
        "customer": "cus_1",
        "payment_method": f"pm_{number}",
        "brand": "visa",
        "last_four": number,
        "expires_month": 12,
        "expires_year": 2040,
    }
    return CardDetails(**{**given, **values})


def forgotten(db: Connection) -> list[str]:
    """Return which cards are to be forgotten."""
    found = db.scalars(select(jobs.c.args).where(jobs.c.kind == JobKind.FORGET_CARD)).all()
    return [args["card"] for args in found]


def test_a_card_is_saved_once_however_often_it_is_settled(database: Database) -> None:
    with database.writing() as db:
        work = a_shop(db)
        setup = begin_card(work)
        settle_card(work, setup.id, CardPage(url="https://x", reference="cs_1"))
        settle_card(work, setup.id, CardPage(url="https://x", reference="cs_2"))
        for _ in range(2):
            settled = settle_card(work, setup.id, a_card())
        settle_card(work, setup.id, CardRefused(reason="Too late."))

        assert (settled.state, settled.reference) == (CardState.SAVED, "cs_1")
        assert get_card(db, work.merchant.id) == SavedCard("cus_1", "pm_4242")
        shown = find_shown_card(db, work.merchant.id)
        assert shown is not None
        assert (shown.brand, shown.last_four) == ("visa", "4242")
        assert forgotten(db) == []
        assert describe_request(work.merchant, setup).key == setup.key


def test_another_card_takes_the_place_of_the_former_which_is_forgotten(database: Database) -> None:
    with database.writing() as db:
        work = a_shop(db)
        save_card(db, work.merchant.id, SavedCard("cus_1", "pm_former"))
        settle_card(work, begin_card(work).id, a_card())

        assert forgotten(db) == ["pm_former"]


def test_of_two_pages_the_later_one_counts(database: Database) -> None:
    with database.writing() as db:
        work = a_shop(db)
        first, second = begin_card(work), begin_card(work)
        settle_card(work, second.id, a_card("4444"))
        late = settle_card(work, first.id, a_card("4242"))

        assert late.state is CardState.REPLACED
        assert get_card(db, work.merchant.id).payment_method == "pm_4444"
        assert forgotten(db) == ["pm_4242"]


def test_a_refusal_changes_nothing(database: Database) -> None:
    with database.writing() as db:
        work = a_shop(db)
        save_card(db, work.merchant.id, SavedCard("cus_1", "pm_former"))
        refused = settle_card(work, begin_card(work).id, CardRefused(reason="No."))

        assert (refused.state, refused.reason) == (CardState.REFUSED, "No.")
        assert get_card(db, work.merchant.id).payment_method == "pm_former"
        assert find_shown_card(db, work.merchant.id) is None


def test_where_no_card_is_charged_none_is_saved(database: Database) -> None:
    with database.writing() as db:
        work = a_work(db, a_merchant(db))
        with pytest.raises(WrongState):
            begin_card(work)
        save_card(db, work.merchant.id, SavedCard("cus_1", "pm_1"))
        remove_card(work)

        assert get_card(db, work.merchant.id) == SavedCard("cus_1", "")
        assert forgotten(db) == []


def test_a_card_is_removed_only_where_nothing_needs_it(database: Database) -> None:
    with database.writing() as db:
        by_card, on_account = a_shop(db), a_shop(db, Billing.ACCOUNT)
        with pytest.raises(WrongState, match="No card is saved"):
            remove_card(on_account)
        for work in (by_card, on_account):
            settle_card(work, begin_card(work).id, a_card(str(work.merchant.id)))
        with pytest.raises(WrongState, match="paid by this card"):
            remove_card(by_card)
        card = get_card(db, on_account.merchant.id)
        order = an_order(db, on_account.merchant)
        request_payment(on_account, order, CARDS, amount=100, card=card)
        with pytest.raises(WrongState, match="being paid"):
            remove_card(on_account)


def test_what_is_removed_is_forgotten(database: Database) -> None:
    with database.writing() as db:
        work = a_shop(db, Billing.ACCOUNT)
        settle_card(work, begin_card(work).id, a_card())
        remove_card(work)

        assert get_card(db, work.merchant.id).payment_method == ""
        assert find_shown_card(db, work.merchant.id) is None
        assert forgotten(db) == ["pm_4242"]


def test_a_closed_account_has_no_card_and_saves_none(database: Database) -> None:
    with database.writing() as db:
        with_card, without = a_shop(db), a_shop(db)
        settle_card(with_card, begin_card(with_card).id, a_card())
        open_pages = [begin_card(work) for work in (with_card, without)]
        for work in (with_card, without):
            close_merchant(work, "It moved")

        assert get_card(db, with_card.merchant.id) == SavedCard("cus_1", "")
        assert find_shown_card(db, with_card.merchant.id) is None
        assert forgotten(db) == ["pm_4242"]
        for setup in open_pages:
            late = settle_card(without, setup.id, a_card(f"late_{setup.id}"))
            assert late.state is CardState.REPLACED
        assert get_card(db, without.merchant.id).payment_method == ""
        assert len(forgotten(db)) == 3


def test_an_event_lets_a_page_be_looked_at_once(database: Database) -> None:
    with database.writing() as db:
        setup = begin_card(a_shop(db))
        system = a_system_work(db)
        for key in (setup.key, setup.key, "unknown", "\0"):
            recheck_card(system, key, event_id="evt_1")

        kinds = db.scalars(select(jobs.c.kind)).all()
        assert kinds.count(JobKind.CHECK_CARD) == 2
        assert find_setup_by_key(db, "é") is None
        with pytest.raises(NotFound):
            lock_setup(db, 4711)
