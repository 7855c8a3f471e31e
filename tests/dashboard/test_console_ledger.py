"""The ledger in the console: whose money moved, and whether it adds up."""

import re
from datetime import timedelta

import pytest
from sqlalchemy import update

from printworks.dashboard.console import ledger
from printworks.rules.ledger import EntryKind
from printworks.rules.people import Role
from printworks.store.accounts.merchants import Merchant
from printworks.store.engine.database import Database
from printworks.store.money.ledger import NewLedgerEntry, post_entry
from printworks.store.tables import merchants
from tests.api.client import Server
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, open_console
from tests.factories import NOON
from tests.worker.queues import add_merchant

LEDGER = "/console/ledger"


def pay(database: Database, merchant: Merchant, *amounts: int, memo: str = "") -> None:
    """Write down payments of a merchant, a second apart."""
    with database.writing() as db:
        for number, amount in enumerate(amounts):
            post_entry(
                db,
                merchant.id,
                NewLedgerEntry(
                    key=f"{memo} {number}",
                    kind=EntryKind.PAYMENT,
                    amount=amount,
                    currency="GBP",
                    memo=memo or f"payment {number:03}",
                ),
                now=NOON + timedelta(seconds=number // 2),
            )


class TestEntries:
    @pytest.mark.both_databases
    def test_those_of_all_merchants_are_read_page_by_page(
        self, operator: Window, database: Database
    ) -> None:
        one, other = add_merchant(database, "One"), add_merchant(database, "Other")
        pay(database, one, *[100] * 40)
        pay(database, other, *[100] * 40)

        seen: list[str] = []
        address = LEDGER
        while address:
            page = operator.open(address).body.decode()
            seen += re.findall(r'data-label="Entry" class="number">([0-9]+)<', page)
            found = re.findall(r'href="([^"]+)" rel="next"', page)
            address = found[0].replace("&amp;", "&") if found else ""

        # Each entry of both, once, and the latest first.
        assert sorted(map(int, seen)) == sorted([*range(1, 41)] * 2)
        assert seen[0] == "40"
        assert seen[-1] == "1"

    @pytest.mark.both_databases
    def test_those_of_one_merchant_are_its_statement(
        self, operator: Window, database: Database
    ) -> None:
        one, other = add_merchant(database, "One <b>"), add_merchant(database, "Other")
        pay(database, one, 2550, memo="<i>mine</i>")
        pay(database, other, 9999, memo="theirs")

        page = operator.open(f"{LEDGER}?merchant={one.code}")
        said = words_of(page)

        assert "Statement of One <b>" in said
        assert "<i>mine</i>" in said
        assert b"<i>mine</i>" not in page.body
        assert "theirs" not in said
        assert "£25.50 In their favour" in said

    def test_an_unknown_merchant_and_a_strange_cursor_are_no_trouble(
        self, operator: Window
    ) -> None:
        assert "No merchant nobody" in operator.words(f"{LEDGER}?merchant=nobody")
        for cursor in ("x", "1.2", "9" * 17 + ".1.1", "1.1.1", "%00", "-1.1.1"):
            assert "No entries yet" in operator.words(f"{LEDGER}?before={cursor}")


@pytest.mark.both_databases
class TestVerifying:
    def test_a_ledger_that_adds_up_is_told(self, operator: Window, database: Database) -> None:
        pay(database, add_merchant(database), 100, 200)

        page = operator.do(LEDGER, "verify-ledger")

        assert page.status == 200
        assert "All ledgers are consistent: 2 entries, 1 merchants" in words_of(page)

    def test_one_that_does_not_is_told_with_what_is_wrong(
        self, operator: Window, database: Database
    ) -> None:
        merchant = add_merchant(database, "Careless")
        pay(database, merchant, 100, 200)
        with database.writing() as db:
            db.execute(update(merchants).values(balance=7))

        said = words_of(operator.do(LEDGER, "verify-ledger"))

        assert "1 problem found" in said
        assert "Careless : The merchant owes -300, and the balance says 7." in said

    def test_it_happens_once_at_a_time(self, operator: Window) -> None:
        with ledger._verifying:
            refused = operator.do(LEDGER, "verify-ledger")

        assert refused.status == 400
        assert "already being verified" in words_of(refused)
        assert operator.do(LEDGER, "verify-ledger").status == 200

    def test_only_an_admin_asks_for_it(self, server: Server, database: Database) -> None:
        viewer = open_console(server, database, Role.VIEWER)

        assert "Verify ledgers" not in viewer.words(LEDGER)
        token = viewer.token("/console/settings")
        sent = viewer.send(LEDGER, {"form_token": token, "do": "verify-ledger"})
        assert sent.status == 403
