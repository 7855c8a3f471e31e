"""Money posted by hand in the console, and what waits for a second person."""

from typing import Any

import pytest

from printworks.actions.payments.by_hand import PostingByHand, post_money
from printworks.actions.work import Actor
from printworks.rules.approvals import MoneyTerms
from printworks.rules.ledger import EntryKind
from printworks.rules.people import Realm, Role
from printworks.store.engine.database import Database
from printworks.store.money.ledger import read_books
from tests.api.client import Server
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, merchant_of, open_console
from tests.factories import a_work

APPROVALS = "/console/approvals"


def money_of(alice: Window) -> str:
    return f"/console/merchants/{alice.code}/money"


def owed(database: Database, alice: Window) -> int:
    with database.reading() as db:
        return read_books(db, merchant_of(db, alice).id).balance


def ask(database: Database, alice: Window, who: str) -> int:
    """Let somebody ask for a large debit."""
    with database.writing() as db:
        work = a_work(
            db,
            merchant_of(db, alice),
            actor=Actor(Realm.OPERATOR, who),
            money_terms=MoneyTerms(approve_above=0),
        )
        posting = PostingByHand(kind=EntryKind.DEBIT, amount=1250, memo="<b>rent</b>")
        return post_money(work, posting).approval or 0


@pytest.mark.both_databases
def test_money_is_posted_and_reversed(operator: Window, alice: Window, database: Database) -> None:
    page = money_of(alice)

    done = operator.do(page, "post-money", kind="debit", amount="12.50", memo="rent")
    assert done.headers["location"].startswith(f"/console/ledger?merchant={alice.code}")
    assert owed(database, alice) == 1250
    assert "1: Debit, £12.50" in operator.words(page)

    operator.do(page, "reverse-money", entry="1", memo="a mistake")
    statement = operator.words(f"/console/ledger?merchant={alice.code}")
    assert owed(database, alice) == 0
    assert "Debit reversed" in statement
    assert "Debit reversed" in alice.words("/account")


@pytest.mark.parametrize(
    ("form", "fields", "said"),
    [
        ("post-money", {"kind": "charge"}, "Choose what is posted"),
        ("post-money", {"amount": "much"}, "Enter an amount"),
        ("post-money", {"memo": ""}, "Write the reason"),
        ("post-money", {"kind": "payout"}, "At most 0.00 GBP can be paid out"),
        ("post-money", {"again": "x"}, "Enter an amount"),
        ("reverse-money", {"entry": ""}, "Choose an entry"),
    ],
)
def test_what_cannot_be_posted_is_refused(
    operator: Window,
    alice: Window,
    database: Database,
    form: str,
    fields: dict[str, Any],
    said: str,
) -> None:
    given = {"kind": "debit", "amount": "12.50", "memo": "rent", **fields}

    assert said in words_of(operator.do(money_of(alice), form, **given))

    assert owed(database, alice) == 0


@pytest.mark.both_databases
def test_somebody_else_approves(operator: Window, alice: Window, database: Database) -> None:
    nothing = operator.words(APPROVALS)
    asked = ask(database, alice, "ann@example.com")
    page = operator.words(APPROVALS)

    operator.do(APPROVALS, "approve-money", approval=asked)

    assert "Nothing waits for approval" in nothing
    assert "Debit: £12.50" in page
    assert "<b>rent</b>" in page
    assert owed(database, alice) == 1250
    again = words_of(operator.do(APPROVALS, "approve-money", approval=asked))
    assert "This entry has already been approved or rejected." in again


def test_ones_own_can_only_be_withdrawn(
    operator: Window, alice: Window, database: Database
) -> None:
    asked = ask(database, alice, "admin@works.example")
    page = operator.words(APPROVALS)

    refused = operator.do(APPROVALS, "approve-money", approval=asked)
    operator.do(APPROVALS, "reject-money", approval=asked)

    assert "Withdraw entry" in page
    assert "Approve entry" not in page
    assert "Somebody else must approve it" in words_of(refused)
    assert "Nothing waits for approval" in operator.words(APPROVALS)
    assert owed(database, alice) == 0


def test_who_only_looks_decides_nothing(server: Server, database: Database, alice: Window) -> None:
    asked = ask(database, alice, "ann@example.com")
    viewer = open_console(server, database, Role.VIEWER)

    assert "Approve entry" not in viewer.words(APPROVALS)
    assert viewer.do(APPROVALS, "reject-money", approval=asked).status == 403
    assert viewer.open(money_of(alice)).status == 403
