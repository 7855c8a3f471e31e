"""A merchant's account: how it pays, what it owes, and its statement by month."""

import csv
import io
import re
from datetime import UTC, datetime

import msgspec
import pytest

from printworks.dashboard.merchant.account.months import Month, list_months
from printworks.rules.ledger import EntryKind
from printworks.rules.payments import Billing
from printworks.rules.spreadsheets import as_text
from printworks.settings import Settings
from printworks.store.accounts.merchants import set_billing
from printworks.store.engine.database import Database
from printworks.store.money.ledger import NewLedgerEntry, post_entry, set_credit_limit
from printworks.store.money.payments import SavedCard, save_card
from tests.api.production import see, submit
from tests.dashboard.visits import ask_merchant
from tests.dashboard.windows import Window
from tests.factories import NOON

HOSTILE = "<script>alert(1)</script>"


def whose(window: Window) -> int:
    """Return whose account somebody sees."""
    assert window.person is not None
    assert window.person.merchant_id is not None
    return window.person.merchant_id


def post(
    database: Database,
    window: Window,
    kind: EntryKind,
    amount: int,
    *,
    memo: str = "",
    at: datetime = NOON,
) -> None:
    """Write down that money moved, as an operator does."""
    merchant_id = whose(window)
    with database.writing() as db:
        key = f"{kind}-{amount}-{at.isoformat()}"
        post_entry(
            db,
            merchant_id,
            NewLedgerEntry(key=key, kind=kind, amount=amount, currency="GBP", memo=memo),
            now=at,
        )


def download(window: Window, month: str) -> list[dict[str, str]]:
    """Return the rows of the statement of a month."""
    answer = window.open(f"/account/statement.csv?month={month}")
    assert answer.status == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert f"statement-{month}.csv" in answer.headers["content-disposition"]
    return list(csv.DictReader(io.StringIO(answer.body.decode())))


class TestMeans:
    def test_a_new_merchant_of_a_sandbox_pays_with_a_card_that_is_simulated(
        self, alice: Window
    ) -> None:
        said = alice.words("/account")
        assert "Payment method By card" in said
        assert "Card Test card" in said
        assert "You owe £0.00" in said
        assert "No charges yet" in said

    def test_on_account_it_says_what_is_owed_and_what_is_left(
        self, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            set_billing(db, whose(alice), Billing.ACCOUNT)
            set_credit_limit(db, whose(alice), 100_000)
        price = see(alice.api, submit(alice.api))["price"]

        said = alice.words("/account")

        assert "Payment method On account" in said
        assert f"You owe £{price / 100:.2f}" in said
        assert "Credit limit £1,000.00" in said
        assert f"Available credit £{(100_000 - price) / 100:.2f}" in said

    @pytest.mark.both_databases
    def test_a_payment_that_waits_has_a_link(self, alice: Window, bob: Window) -> None:
        order, url = ask_merchant(alice.api)

        page = alice.open("/account").body.decode()

        assert url.removeprefix("https://print.example") in page
        assert f'href="/orders/{order}"' in page
        assert "Pending payments" not in bob.words("/account")


class TestWithStripe:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """A service whose cards are charged by Stripe."""
        return msgspec.structs.replace(
            settings, payments="stripe", stripe_secret_key="sk_test_1", stripe_webhook_secret="x"
        )

    def test_only_a_hint_of_the_card_is_shown(self, alice: Window, database: Database) -> None:
        assert "Card None saved" in alice.words("/account")
        with database.writing() as db:
            save_card(db, whose(alice), SavedCard("cus_Customer1", "pm_Method9876"))

        page = alice.open("/account").body.decode()

        assert "…9876" in page
        assert "Method" not in page.split("<body", 1)[1]
        assert "Customer1" not in page


class TestStatement:
    @pytest.mark.both_databases
    def test_each_line_has_its_order_and_what_was_owed_after_it(
        self, alice: Window, bob: Window, database: Database
    ) -> None:
        order = submit(alice.api, merchantOrderId="A-1")
        price = see(alice.api, order)["price"]
        post(database, alice, EntryKind.CREDIT, 500, memo=f"late {HOSTILE}")

        page = alice.open("/account")
        said = alice.words("/account")

        assert HOSTILE not in page.body.decode()
        assert f'<a href="/orders/{order}">Charged for order {order}</a>' in page.body.decode()
        # The newest first: the credit, the charge, the payment by card.
        amounts = re.findall(
            r"(?:Credited late .*?|order \d+ A-1) (£\S+) (You owe nothing|You owe £\S+|£\S+ in your favour)",
            said,
        )
        money = f"£{price / 100:.2f}"
        assert amounts == [
            ("£5.00", "£5.00 in your favour"),
            (money, "You owe nothing"),
            (money, f"{money} in your favour"),
        ]
        assert "\N{MINUS SIGN}" not in said
        assert "£5.00" in said.split("In your favour")[1][:10]
        assert f"Charged in November 2026 {money}" in said
        assert "Refunds and credits £5.00" in said
        assert "No charges yet" in bob.words("/account")

    @pytest.mark.both_databases
    def test_a_long_month_goes_on_where_the_page_before_it_ended(
        self, alice: Window, database: Database
    ) -> None:
        for amount in range(1, 31):
            post(database, alice, EntryKind.CHARGE, amount)

        first = alice.words("/account")
        [older] = re.findall(r'href="([^"]+)" rel="next"', alice.open("/account").body.decode())
        second = alice.words(older.replace("&amp;", "&"))

        # 1 + 2 + ... + 30, and after the fifth of them.
        assert "£0.30 You owe £4.65" in first
        assert "£0.05 You owe £0.15" not in first
        assert "£0.05 You owe £0.15" in second
        assert "£0.01 You owe £0.01" in second

    @pytest.mark.both_databases
    def test_a_month_shows_its_own_and_balances_go_through_all(
        self, alice: Window, database: Database
    ) -> None:
        december = datetime(2026, 12, 1, tzinfo=UTC)
        post(database, alice, EntryKind.CHARGE, 100)
        post(database, alice, EntryKind.CHARGE, 1000, at=december)
        # Written later, with the time of somebody who was slower.
        post(database, alice, EntryKind.CHARGE, 10_000)

        november, newest = alice.words("/account?month=2026-11"), alice.words("/account")

        assert "£100.00 You owe £111.00" in november
        assert "£1.00 You owe £1.00" in november
        assert "Charged in November 2026 £101.00" in november
        # The last entry is one of November.
        assert "November 2026" in newest
        assert "£10.00 You owe £11.00" in alice.words("/account?month=2026-12")
        assert "No entries in January 2027" in alice.words("/account?month=2027-01")
        assert [row["owed"] for row in download(alice, "2026-11")] == ["1.00", "111.00"]

    def test_what_is_downloaded_is_a_table_without_formulas(
        self, alice: Window, bob: Window, database: Database
    ) -> None:
        order = submit(alice.api, merchantOrderId="=1+1")
        price = see(alice.api, order)["price"] / 100
        post(database, alice, EntryKind.CREDIT, 500, memo='@SUM(A1), "quoted"')

        payment, charge, credit = download(alice, "2026-11")

        assert (charge["order"], charge["reference"]) == (str(order), "'=1+1")
        assert (charge["amount"], charge["owed"]) == (f"{price:.2f}", "0.00")
        assert (payment["what"], payment["owed"]) == ("payment", f"-{price:.2f}")
        assert credit["memo"] == '\'@SUM(A1), "quoted"'
        assert (credit["amount"], credit["owed"]) == ("-5.00", "-5.00")
        assert download(bob, "2026-11") == []

    def test_a_month_that_is_none_is_not_there(self, alice: Window, database: Database) -> None:
        post(database, alice, EntryKind.CHARGE, 100)
        assert alice.open("/account/statement.csv").status == 200
        for month in ("", "2026", "2026-13", "0000-01", "9999-12", "2026-1", "%D9%A2026-11"):
            assert alice.open(f"/account/statement.csv?month={month}").status == 404, month
            assert "Charged in November 2026" in alice.words(f"/account?month={month}")


def test_months_are_counted_over_new_year() -> None:
    months = list_months(Month(2026, 11), Month(2027, 2), most=3)
    assert [str(month) for month in months] == ["2027-02", "2027-01", "2026-12"]
    assert Month(2026, 12).span.until == datetime(2027, 1, 1, tzinfo=UTC)
    assert list_months(Month(2026, 12), Month(2026, 11), most=3) == []


@pytest.mark.parametrize(
    "text",
    [
        *("=1", "+1", "-1", "@A", "\t=1", "\r=1", "  =1", "\n-1", "\0A"),
        # In full width, small, and as the sign of typography.
        *("\uff1d1", "\uff0b1", "\uff0d1", "\uff20A", "\ufe661", "\ufe631", "\u22121"),
        # Behind what nobody sees.
        *("\u200b=1", "\ufeff=1", "\u00ad@A", "\u2060\u200d+1", "\u00a0\u3000-1", "\x1f=1"),
        *("\u202e=1", "\u0301=1", "\u3164=1", "\u2800\uff1d1", "\ufe0f=1", "\U000e0001=1"),
    ],
)
def test_what_looks_like_a_formula_becomes_a_text(text: str) -> None:
    assert as_text(text) == f"'{text}"


def test_a_plain_text_stays_as_it_is() -> None:
    plain = [
        "",
        "A-1",
        "late parcel",
        " x",
        "\u200bx",
        "Ä=1",
        "\uff11\uff12",
        "\u2013 late",
        "\u200b",
    ]
    assert [as_text(text) for text in plain] == plain
