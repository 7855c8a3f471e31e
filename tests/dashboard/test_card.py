"""A merchant saves, replaces and removes its own card at the simulated bank."""

import re

import pytest
from sqlalchemy import update

from printworks.rules.cards import CardState
from printworks.rules.payments import Billing
from printworks.store.engine.database import Database
from printworks.store.money.cards import find_setup_by_key, find_shown_card
from printworks.store.money.payments import SavedCard, get_card, save_card
from printworks.store.tables import merchants, saved_cards
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.api.images import add, create
from tests.api.production import set_status
from tests.dashboard.visits import visit, words_of
from tests.dashboard.windows import Window, find_token, merchant_of

PAGE = "/settings/card"


def begin(alice: Window) -> str:
    """Ask for a page on which a card is saved; return its address here."""
    answer = alice.do(PAGE, "replace-card")
    assert answer.status == 200, words_of(answer)
    [address] = re.findall(r"url=https://[^/]+(/bank/cards/\S+)", answer.headers["refresh"])
    return str(address)


def choose(window: Window, bank: str, card: str) -> str:
    """Choose a card on the page of the bank; return where it leads."""
    token = find_token(window.open(bank))
    answer = window.send(bank, {"form_token": token, "card": card})
    assert answer.status == 303
    return answer.headers["location"]


@pytest.mark.both_databases
def test_a_card_is_saved_shown_and_replaced(alice: Window, database: Database) -> None:
    assert "No card is saved." in alice.words(PAGE)
    back = choose(alice, begin(alice), "4242")

    assert "Your card is saved" in alice.words(back)
    assert "Your card is saved" in alice.words(back)
    words = alice.words(PAGE)
    assert "Visa … 4242" in words
    assert "the end of December 2040" in words
    with database.reading() as db:
        first = get_card(db, merchant_of(db, alice).id)

    alice.words(choose(alice, begin(alice), "4444"))
    assert "Mastercard … 4444" in alice.words(PAGE)
    with database.reading() as db:
        assert get_card(db, merchant_of(db, alice).id) != first


def test_nothing_changes_without_a_choice_or_on_a_page_that_was_given_up(
    alice: Window, bob: Window, database: Database
) -> None:
    given_up = begin(alice)
    latest = begin(alice)
    late = choose(bob, given_up, "4242") if bob.open(given_up).status == 200 else ""
    back = choose(alice, latest, "none")

    assert "No card was saved" in alice.words(back)
    assert "No card is saved." in alice.words(PAGE)
    assert "No card is saved." in bob.words(PAGE)
    assert late == ""


def test_whoever_comes_back_with_the_key_settles_it_for_its_merchant_alone(
    alice: Window, bob: Window, browser: Client, database: Database
) -> None:
    back = choose(alice, begin(alice), "4242")

    seen = visit(browser, back)

    assert "Your card is saved" in words_of(seen)
    assert b"4242" not in seen.body
    assert "Visa … 4242" in alice.words(PAGE)
    assert "No card is saved." in bob.words(PAGE)
    assert visit(browser, "/payments/cards/unknown").status == 404
    assert visit(browser, "/bank/cards/unknown").status == 404


def test_before_the_card_is_entered_the_return_says_so(alice: Window, database: Database) -> None:
    bank = begin(alice)
    back = bank.replace("/bank/", "/payments/")

    assert "No card was saved yet" in alice.words(back)
    with database.reading() as db:
        setup = find_setup_by_key(db, back.rpartition("/")[2])
    assert setup is not None
    assert setup.state is CardState.WAITING


def test_a_card_is_removed_only_by_a_merchant_on_account(alice: Window, database: Database) -> None:
    alice.words(choose(alice, begin(alice), "4242"))
    refused = alice.do(PAGE, "remove-card")
    with database.writing() as db:
        mine = merchants.c.id == merchant_of(db, alice).id
        db.execute(update(merchants).where(mine).values(billing=Billing.ACCOUNT))
    removed = alice.follow(alice.do(PAGE, "remove-card"))

    assert refused.status == 400
    assert "Your orders are paid by this card" in words_of(refused)
    assert "The card was removed." in removed
    with database.reading() as db:
        assert find_shown_card(db, merchant_of(db, alice).id) is None


@pytest.mark.parametrize(
    ("card", "sentence"),
    [("0069", "Visa … 0069 has expired."), ("0002", "Your bank declined Visa … 0002:")],
)
def test_home_tells_of_a_card_that_cannot_be_charged(
    alice: Window, card: str, sentence: str, clock: MovableClock
) -> None:
    assert "Replace the card" not in alice.words("/home")
    alice.words(choose(alice, begin(alice), card))
    order = create(alice.api)
    add(alice.api, order)
    set_status(alice.api, order, "Submitted")

    home = alice.words("/home")

    assert sentence in home
    assert "Replace the card" in home
    clock.advance(seconds=1)
    assert "Replace" in alice.words(PAGE)


def test_home_says_when_a_card_expires(alice: Window, database: Database) -> None:
    alice.words(choose(alice, begin(alice), "4242"))
    with database.writing() as db:
        db.execute(update(saved_cards).values(expires_month=11, expires_year=2026))

    assert "Visa … 4242 expires at the end of November 2026." in alice.words("/home")


def test_a_card_that_an_operator_has_set_is_known_without_details(
    alice: Window, database: Database
) -> None:
    with database.writing() as db:
        save_card(db, merchant_of(db, alice).id, SavedCard("cus_1", "pm_1234"))

    assert "A card was set by the operator" in alice.words(PAGE)
