"""`printworks ledger` and `printworks merchant billing`."""

import json
from pathlib import Path

import pytest
from sqlalchemy import update

from printworks.actions.payments.by_hand import PostingByHand, post_money
from printworks.actions.work import Actor
from printworks.rules.approvals import MoneyTerms
from printworks.rules.ledger import EntryKind
from printworks.rules.people import Realm
from printworks.store.engine.database import Database
from printworks.store.tables import merchants
from tests.cli.operators import Operator
from tests.cli.program import run
from tests.factories import a_work

# A database that is there: to migrate another one would take a second of each test.
pytestmark = pytest.mark.usefixtures("sqlite_url")


def add_merchant(data: Path) -> str:
    """Let a merchant in and return its id."""
    added = json.loads(run("merchant", "add", "Alice", "--json", "--data", data).said)
    return str(added["merchantId"])


def test_a_ledger_without_entries_adds_up(tmp_path: Path) -> None:
    add_merchant(tmp_path)

    ended = run("ledger", "verify", "--data", tmp_path)

    assert ended.code == 0
    assert ended.said == "1 merchant, 0 entries: everything adds up.\n"


def test_a_payment_shows_in_the_statement_and_in_what_is_owed(tmp_path: Path) -> None:
    merchant = add_merchant(tmp_path)

    posted = run("ledger", "payment", merchant, "1250", "--memo", "transfer 17", "--data", tmp_path)

    assert (
        posted.said
        == f"Posted as entry 1; {merchant} owes nothing, and has 12.50 GBP in its favour.\n"
    )
    assert "transfer 17" in run("ledger", "statement", merchant, "--data", tmp_path).said
    assert (
        "owes     nothing, and has 12.50 GBP in its favour"
        in run("merchant", "billing", merchant, "--data", tmp_path).said
    )
    assert run("ledger", "verify", "--data", tmp_path).code == 0


def test_the_same_reference_is_posted_once(tmp_path: Path) -> None:
    merchant = add_merchant(tmp_path)
    same = ("ledger", "credit", merchant, "5", "--memo", "m", "--key", "k", "--data", tmp_path)
    assert run(*same).code == 0

    again = run(*same)

    assert again.code == 0
    assert again.said.startswith("That was posted before")


def test_a_balance_that_was_tampered_with_is_found(tmp_path: Path) -> None:
    add_merchant(tmp_path)
    database = Database(f"sqlite:///{tmp_path / 'printworks.db'}")
    with database.writing() as db:
        db.execute(update(merchants).values(balance=-1000))
    database.close()

    ended = run("ledger", "verify", "--json", "--data", tmp_path)

    assert ended.code == 1
    assert [fault["fault"] for fault in json.loads(ended.said)["faults"]] == ["balance"]


def test_a_limit_can_be_set_and_lifted(tmp_path: Path) -> None:
    merchant = add_merchant(tmp_path)

    assert (
        "5.00 GBP"
        in run("merchant", "billing", merchant, "--limit", "500", "--data", tmp_path).said
    )
    assert (
        "limit    none"
        in run("merchant", "billing", merchant, "--limit", "none", "--data", tmp_path).said
    )
    assert run("merchant", "billing", merchant, "--limit", "lots", "--data", tmp_path).code == 2


def test_a_merchant_can_be_put_on_account_and_back_to_a_card(tmp_path: Path) -> None:
    merchant = add_merchant(tmp_path)

    said = run("merchant", "billing", merchant, "--data", tmp_path).said
    assert "pays by  card" in said
    assert "card     none saved" in said
    said = run("merchant", "billing", merchant, "--by", "account", "--data", tmp_path).said
    assert "pays by  account" in said
    card = ("--by", "card", "--card", "cus_1", "pm_1")
    said = run("merchant", "billing", merchant, *card, "--data", tmp_path).said
    assert "pays by  card" in said
    assert "card     pm_1" in said
    assert run("merchant", "billing", merchant, "--by", "cash", "--data", tmp_path).code == 2
    wrong = run("merchant", "billing", merchant, "--card", "cus 1", "pm_1", "--data", tmp_path)
    assert wrong.code == 2


@pytest.mark.parametrize(
    ("settings", "options", "billing"),
    [
        ({}, (), "card"),
        ({"payments": "account"}, (), "account"),
        ({}, ("--billing", "account"), "account"),
        ({"payments": "account"}, ("--billing", "card"), "card"),
    ],
)
def test_a_new_merchant_pays_as_the_service_does(
    tmp_path: Path, settings: dict[str, str], options: tuple[str, ...], billing: str
) -> None:
    added = run("merchant", "add", "Alice", *options, "--json", "--data", tmp_path, **settings)
    merchant = json.loads(added.said)["merchantId"]

    said = run("merchant", "billing", merchant, "--data", tmp_path).said
    assert f"pays by  {billing}" in said


@pytest.mark.both_databases
def test_money_is_debited_paid_out_and_reversed(keeper: Operator) -> None:
    code = keeper.merchant.code
    debited = keeper.asks("ledger", "debit", code, "900", "--memo", "rush fee")
    reversed_one = keeper.asks("ledger", "reverse", code, "1", "--memo", "a mistake")
    refused = keeper.asks("ledger", "pay-out", code, "1", "--memo", "transfer")
    keeper.asks("ledger", "credit", code, "500", "--memo", "sorry")
    paid = keeper.asks("ledger", "pay-out", code, "500", "--memo", "transfer")

    assert debited.said == "Posted as entry 1.\n"
    assert reversed_one.said == "Posted as entry 2.\n"
    assert "At most 0.00 GBP can be paid out" in refused.complained
    assert paid.said == "Posted as entry 4.\n"
    assert keeper.asks("ledger", "verify").code == 0


@pytest.mark.both_databases
def test_a_large_amount_waits_for_somebody_in_the_console(keeper: Operator) -> None:
    code = keeper.merchant.code
    asked = keeper.asks("ledger", "debit", code, "900", "--memo", "fee", approve_above="100")
    listed = keeper.asks("ledger", "approvals")
    own = keeper.asks("ledger", "approve", "1")
    rejected = keeper.asks("ledger", "reject", "1")

    assert asked.said == "A second person must approve it: approval 1.\n"
    assert "9.00 GBP" in listed.said
    assert "Somebody else must approve it" in own.complained
    assert rejected.said == "Approval 1 is rejected.\n"
    assert keeper.asks("ledger", "approvals").said == "Nothing waits for approval.\n"


def test_somebody_on_the_console_asked_and_the_command_line_approves(keeper: Operator) -> None:
    with keeper.database.writing() as db:
        ann = Actor(Realm.OPERATOR, "ann@example.com")
        work = a_work(db, keeper.merchant, actor=ann, money_terms=MoneyTerms(approve_above=0))
        post_money(work, PostingByHand(kind=EntryKind.DEBIT, amount=900, memo="fee"))

    assert keeper.asks("ledger", "approve", "1").said == "Posted as entry 1.\n"
