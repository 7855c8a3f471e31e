"""`printworks merchant` and `printworks key`."""

import json
import zipfile
from pathlib import Path

import pytest

from printworks.actions.accounts import exporting
from printworks.actions.sellers import change_business
from printworks.catalogue.products import Currency
from printworks.store.accounts.merchants import hash_key, list_merchants
from printworks.store.accounts.requests import note_key_uses
from printworks.store.engine.database import Database
from printworks.store.money.cards import ShownCard, write_shown_card
from printworks.store.money.payments import SavedCard, save_card
from printworks.store.money.reminders import add_reminder
from tests.cli.operators import Operator
from tests.cli.program import run
from tests.factories import NOON, a_new_reminder, a_work
from tests.sellers import GERMAN

# A database that is there: to migrate another one would take a second of each test.
pytestmark = pytest.mark.usefixtures("sqlite_url")


def test_adding_a_merchant_prints_one_line_of_json(database_url: str, tmp_path: Path) -> None:
    ended = run(
        "merchant", "add", "A shop", "--json", "--data", tmp_path, database_url=database_url
    )

    assert ended.code == 0
    assert ended.said.count("\n") == 1
    assert list(json.loads(ended.said)) == ["merchantId", "apiKey"]


@pytest.mark.parametrize(
    ("words", "currency"),
    [
        ([], Currency.GBP),
        (["--currency", "EUR"], Currency.EUR),
        (["--currency", "usd"], Currency.USD),
    ],
)
def test_a_merchant_is_charged_in_the_currency_that_it_was_added_with(
    database_url: str, tmp_path: Path, words: list[str], currency: Currency
) -> None:
    to = ("--data", tmp_path)
    ended = run("merchant", "add", "A shop", *words, *to, database_url=database_url)

    assert ended.code == 0
    database = Database(database_url)
    with database.reading() as db:
        [merchant] = list_merchants(db)
    database.close()
    assert merchant.currency is currency


def test_a_currency_that_has_no_prices_is_explained(tmp_path: Path) -> None:
    ended = run("merchant", "add", "A shop", "--currency", "XAU", "--data", tmp_path)

    assert ended.code == 2
    assert "'XAU' is not one of 'gbp'" in ended.complained


def test_a_merchant_can_be_added_before_the_first_start(tmp_path: Path) -> None:
    data = tmp_path / "new" / "data"

    ended = run("merchant", "add", "A shop", "--data", data)

    assert ended.code == 0
    assert "pw_sandbox_" in ended.said
    assert data.stat().st_mode & 0o777 == 0o700


def test_the_data_folder_may_be_named_before_or_after_or_in_the_environment(
    tmp_path: Path,
) -> None:
    added = json.loads(run("merchant", "add", "A [shop]", "--json", "--data", tmp_path).said)

    before = run("--data", tmp_path, "merchant", "list")
    after = run("merchant", "list", "--data", tmp_path)
    around = run("merchant", "list", "--json", data=str(tmp_path))

    assert before.said == after.said
    assert "A [shop]" in before.said
    assert json.loads(around.said) == [
        {"merchantId": added["merchantId"], "name": "A [shop]", "state": "active"}
    ]


def test_the_folder_named_on_the_command_line_wins_over_the_environment(tmp_path: Path) -> None:
    run("merchant", "add", "A shop", "--data", tmp_path / "mine")

    ended = run("--data", tmp_path / "mine", "merchant", "list", data=str(tmp_path / "other"))

    assert "A shop" in ended.said
    assert not (tmp_path / "other").exists()


def test_rotating_a_key_prints_the_new_one_and_lists_both(tmp_path: Path) -> None:
    added = json.loads(run("merchant", "add", "A shop", "--json", "--data", tmp_path).said)
    merchant = added["merchantId"]

    rotated = json.loads(run("key", "rotate", merchant, "--json", "--data", tmp_path).said)
    listed = json.loads(run("key", "list", "--json", "--data", tmp_path).said)

    assert rotated["merchantId"] == merchant
    assert [key["endsWith"] for key in listed] == [added["apiKey"][-4:], rotated["apiKey"][-4:]]
    assert [key["expiresAt"] is None for key in listed] == [False, True]


def test_a_leaked_key_can_be_ended_at_once(tmp_path: Path) -> None:
    added = json.loads(run("merchant", "add", "A shop", "--json", "--data", tmp_path).said)

    run("key", "rotate", added["merchantId"], "--old-key-valid-for", "0", "--data", tmp_path)

    listed = run("key", "list", "--data", tmp_path).said
    assert f"...{added['apiKey'][-4:]}" not in listed
    assert "never" in listed


@pytest.mark.both_databases
def test_the_list_of_keys_shows_when_each_was_last_used(database_url: str, tmp_path: Path) -> None:
    def ask(*words: str) -> str:
        return run(*words, "--data", tmp_path, database_url=database_url).said

    used = json.loads(ask("merchant", "add", "A shop", "--json"))
    unused = json.loads(ask("merchant", "add", "Another shop", "--json"))
    database = Database(database_url)
    with database.writing() as db:
        note_key_uses(db, {hash_key(used["apiKey"]): NOON})
    database.close()

    listed = {
        key["merchantId"]: key["lastUsedAt"] for key in json.loads(ask("key", "list", "--json"))
    }
    assert listed == {used["merchantId"]: "2026-11-15T12:00:00Z", unused["merchantId"]: None}
    shown = ask("key", "list")
    assert "last used" in shown
    assert "2026-11-15 12:00:00 UTC" in shown


def test_an_unknown_merchant_is_one_sentence(tmp_path: Path) -> None:
    ended = run("key", "rotate", "nobody", "--data", tmp_path)

    assert (ended.code, ended.said) == (1, "")
    assert ended.complained == "printworks: There is no merchant 'nobody'.\n"


def test_a_wrong_duration_is_explained(tmp_path: Path) -> None:
    ended = run("key", "rotate", "x", "--old-key-valid-for", "soon", "--data", tmp_path)

    assert ended.code == 2
    assert "'soon' is not a duration such as 30s" in ended.complained


class TestKeys:
    @pytest.mark.both_databases
    def test_one_can_be_created_with_limits_and_listed(self, keeper: Operator) -> None:
        code = keeper.merchant.code
        words = (
            "--name",
            "Reports",
            "--access",
            "read-only",
            "--lab",
            "hill",
            "--valid-for",
            "90d",
        )

        made = keeper.reads("key", "create", code, *words)

        assert list(made) == ["merchantId", "apiKey"]
        newest, _ = keeper.reads("key", "list", "--merchant", code)
        assert newest["name"] == "Reports"
        assert (newest["access"], newest["lab"]) == ("read-only", "hill")
        assert newest["endsWith"] == made["apiKey"][-4:]
        assert newest["expiresAt"] is not None
        said = keeper.asks("key", "list").said
        assert "read, only hill" in said
        assert "everything" in said

    @pytest.mark.parametrize(
        ("words", "complaint"),
        [
            (["--access", "some"], "'some' is not one of 'full', 'no-money', 'read-only'"),
            (["--lab", "nowhere"], "There is no lab nowhere; the labs are:"),
            (["--valid-for", "soon"], "is not a duration such as"),
            (["--valid-for", "0"], "A key can be valid for 1 to 3650 days."),
            (["--name", "x" * 81], "at most 80 printable characters"),
        ],
    )
    def test_wrong_limits_are_explained(
        self, keeper: Operator, words: list[str], complaint: str
    ) -> None:
        ended = keeper.asks("key", "create", keeper.merchant.code, *words)

        assert ended.code != 0
        assert complaint in " ".join(ended.complained.replace("│", " ").split())

    @pytest.mark.both_databases
    def test_one_is_replaced_and_revoked_by_its_name_number_or_end(self, keeper: Operator) -> None:
        code = keeper.merchant.code
        keeper.reads("key", "create", code, "--name", "Shop", "--access", "no-money")

        new = keeper.reads("key", "replace", code, "Shop", "--old-key-valid-for", "0")["apiKey"]
        newest, first = keeper.reads("key", "list", "--merchant", code)
        assert (newest["name"], newest["access"]) == ("Shop", "no-money")
        assert keeper.reads("key", "revoke", code, new[-4:])["name"] == "Shop"
        assert (
            keeper.reads("key", "revoke", code, str(first["id"]))["endsWith"] == first["endsWith"]
        )

        gone = keeper.asks("key", "revoke", code, "Shop")
        assert gone.code == 1
        assert f"{code} has no key 'Shop' that works now." in gone.complained

    def test_of_several_with_a_name_none_is_guessed(self, keeper: Operator) -> None:
        code = keeper.merchant.code
        for _ in range(2):
            keeper.reads("key", "create", code, "--name", "Shop")

        ended = keeper.asks("key", "revoke", code, "Shop")

        assert ended.code == 1
        assert "Several keys are called 'Shop'; name one by its number: 3, 2." in ended.complained


def test_the_limits_of_a_merchant_are_shown_and_changed(database_url: str, tmp_path: Path) -> None:
    to = ("--data", tmp_path)
    added = run("merchant", "add", "A shop", "--json", *to, database_url=database_url)
    code = json.loads(added.said)["merchantId"]

    def limits(*words: str) -> tuple[int, str]:
        ended = run("merchant", "limits", code, *words, *to, database_url=database_url)
        return ended.code, ended.said + ended.complained

    assert limits() == (
        0,
        "requests a second  50 (usual)\nat once            200 (usual)\nin work            8 (usual)\n",
    )
    assert "500 (its own)" in limits("--rate", "500")[1]
    shown = json.loads(limits("--in-work", "32", "--json")[1])
    assert shown == {
        "merchantId": code,
        "requestsPerSecond": 500,
        "burst": 2000,
        "inWork": 32,
        "own": {"requestsPerSecond": 500, "burst": None, "inWork": 32},
    }
    assert "50 (usual)" in limits("--rate", "usual")[1]
    assert limits("--burst", "0")[0] == 1
    assert limits("--burst", "many")[0] == 2


def test_an_account_is_suspended_renamed_and_reopened(keeper: Operator) -> None:
    code = keeper.merchant.code

    keeper.reads("merchant", "suspend", code, "--reason", "May is unpaid")
    listed = keeper.reads("merchant", "list")
    assert [(one["merchantId"], one["state"]) for one in listed] == [(code, "suspended")]
    refused = keeper.asks("merchant", "suspend", code, "--reason", "Again")
    assert (refused.code, "suspended already" in refused.complained) == (1, True)
    keeper.reads("merchant", "reopen", code)
    keeper.reads("merchant", "rename", code, "Alice and sons")
    keeper.reads("merchant", "close", code, "--reason", "It moved")

    [one] = keeper.reads("merchant", "list")
    assert (one["name"], one["state"]) == ("Alice and sons", "closed")


@pytest.mark.both_databases
def test_reminders_are_shown_paused_and_resumed(keeper: Operator) -> None:
    code = keeper.merchant.code
    with keeper.database.writing() as db:
        add_reminder(db, a_new_reminder(keeper.merchant.id, readers=0))

    paused = keeper.reads("merchant", "reminders", code, "--pause", "They dispute it")
    shown = keeper.asks("merchant", "reminders", code)
    both = keeper.asks("merchant", "reminders", code, "--pause", "No", "--resume")
    resumed = keeper.reads("merchant", "reminders", code, "--resume")
    again = keeper.asks("merchant", "reminders", code, "--resume")

    assert (paused["paused"], resumed["paused"], paused["overdueSince"]) == (
        "They dispute it",
        "",
        None,
    )
    [one] = paused["reminders"]
    assert (one["step"], one["tone"], one["amount"], one["readers"]) == (1, "friendly", 700, 0)
    assert "They dispute it" in shown.said
    assert "friendly" in shown.said
    assert "told to nobody" in shown.said
    assert (both.code, again.code) == (2, 1)
    assert "are not paused" in again.complained


def test_a_currency_that_the_catalogue_lacks_is_refused_and_named(keeper: Operator) -> None:
    code = keeper.merchant.code

    refused = keeper.asks("merchant", "currency", code, "AUD")
    added = keeper.asks("merchant", "add", "Another", "--currency", "AUD")

    for ended in (refused, added):
        assert ended.code == 1
        assert "Nothing is sold in AUD; the currencies of the catalogue are: " in ended.complained
    keeper.reads("merchant", "currency", code, "gbp")


def test_everything_of_a_merchant_is_exported_into_one_file(
    keeper: Operator, tmp_path: Path
) -> None:
    order = keeper.adds_an_order()
    with keeper.database.writing() as db:
        change_business(a_work(db, keeper.merchant), GERMAN)
    target = tmp_path / "alice.zip"
    words = ("merchant", "export", keeper.merchant.code, str(target))

    keeper.reads(*words)
    again = keeper.asks(*words)

    assert target.stat().st_mode & 0o777 == 0o600
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        about = json.loads(archive.read("merchant.json"))
        [known] = map(json.loads, archive.read("orders.jsonl").splitlines())
        assert archive.read("ledger.jsonl") == b""
        assert archive.read("invoices.jsonl") == b""
        assert archive.read("invoices.csv").startswith(b"number,kind,date")
    assert about["merchantId"] == keeper.merchant.code
    assert about["card"] is None
    assert about["company"] == {
        "name": GERMAN.name,
        "street": GERMAN.street,
        "postalCode": GERMAN.postal_code,
        "town": GERMAN.town,
        "countryCode": "DE",
        "vatId": GERMAN.vat_id,
    }
    assert known["order"] == order.id
    assert (again.code, "exists already" in again.complained) == (1, True)


@pytest.mark.both_databases
def test_an_export_shows_the_card_and_nothing_of_its_provider(
    keeper: Operator, tmp_path: Path
) -> None:
    target = tmp_path / "alice.zip"
    card = ShownCard("stripe", "pm_secret", "visa", "4242", 12, 2040)
    with keeper.database.writing() as db:
        save_card(db, keeper.merchant.id, SavedCard("cus_secret", "pm_secret"))
        write_shown_card(db, keeper.merchant.id, card, now=NOON)

    keeper.reads("merchant", "export", keeper.merchant.code, str(target))

    with zipfile.ZipFile(target) as archive:
        written = archive.read("merchant.json")
    assert json.loads(written)["card"] == {
        "brand": "visa",
        "lastFour": "4242",
        "expiresMonth": 12,
        "expiresYear": 2040,
    }
    assert b"secret" not in written


def test_the_exported_ledger_is_complete_however_long_it_is(
    keeper: Operator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exporting, "_ENTRIES_AT_ONCE", 2)
    code, target = keeper.merchant.code, tmp_path / "alice.zip"
    for amount in ("1.00", "2.00", "3.00", "4.00"):
        keeper.reads("ledger", "credit", code, amount, "--memo", "Sorry")

    keeper.reads("merchant", "export", code, str(target))

    with zipfile.ZipFile(target) as archive:
        booked = [json.loads(line) for line in archive.read("ledger.jsonl").splitlines()]
    assert [entry["number"] for entry in booked] == [1, 2, 3, 4]


@pytest.mark.both_databases
def test_what_recipients_see_is_shown_and_set(keeper: Operator, tmp_path: Path) -> None:
    code, slip = keeper.merchant.code, tmp_path / "slip.txt"
    slip.write_text("Dear {recipient}")
    before = keeper.asks("merchant", "shop", code).said

    changed = keeper.reads(
        *("merchant", "shop", code, "--name", "Fox", "--email", "hello@fox.example"),
        *("--return-address", "1 High Street; York", "--packing-slip", str(slip)),
        *("--time-zone", "Europe/Berlin", "--website", "fox.example", "--telephone", "+44 123"),
    )

    assert "packing slip    none\n" in before
    assert changed == {
        "name": "Fox",
        "email": "hello@fox.example",
        "telephone": "+44 123",
        "website": "https://fox.example",
        "returnAddress": ["1 High Street", "York"],
        "packingSlip": "Dear {recipient}",
        "timeZone": "Europe/Berlin",
        "hasLogo": False,
    }
    assert keeper.asks("merchant", "shop", code, "--time-zone", "Mars").code == 1
