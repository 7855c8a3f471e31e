"""The merchants as the operator sees them: lists, billing, and who may sign in for them."""

import json
import re
import zipfile
from io import BytesIO

import msgspec
import pytest

from printworks.actions.accounts.merchants import BillingTerms, change_billing
from printworks.actions.callbacks import send_test
from printworks.rules.events import CallbackState
from printworks.rules.ledger import EntryKind
from printworks.rules.payments import Billing
from printworks.rules.people import Role
from printworks.rules.reminders import ReminderTone
from printworks.rules.shares import ShareTerms
from printworks.settings import Settings
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import Merchant, get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.store.money.accounts import set_told
from printworks.store.money.ledger import NewLedgerEntry, post_entry, read_credit_limit
from printworks.store.money.payments import SavedCard, get_card
from printworks.store.money.reminders import add_reminder
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.api.images import an_addressed_order, create
from tests.dashboard.scenes import last_entry
from tests.dashboard.telling import last_callback, listen, try_once
from tests.dashboard.test_console_people import come_in, link_of
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window, find_token, open_console
from tests.factories import NOON, a_merchant, a_new_reminder, a_work

MERCHANTS = "/console/merchants"
HOSTILE = "<img src=x onerror=alert(1)>"


def page_of(window: Window) -> str:
    """Return the address of a merchant's page."""
    return f"{MERCHANTS}/{window.code}"


def read(database: Database, window: Window) -> Merchant:
    """Return a merchant as it is by now."""
    with database.reading() as db:
        return get_merchant_by_code(db, window.code)


@pytest.mark.both_databases
class TestTheList:
    def test_it_shows_who_there_is_and_finds_them_by_a_part_of_the_name(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        with database.writing() as db:
            a_merchant(db, f"Bob {HOSTILE}")
        create(alice.api)

        everybody = operator.open(MERCHANTS)
        found = operator.words(f"{MERCHANTS}?q=LICE")
        nobody = operator.words(f"{MERCHANTS}?q=%25_%00%F0%9F%98%80")

        assert "Alice" in words_of(everybody)
        assert HOSTILE in words_of(everybody)
        assert HOSTILE.encode() not in everybody.body
        assert "Bob" not in found
        assert alice.code in found
        assert "No merchants found" in nobody

    def test_it_is_read_page_by_page(self, operator: Window, database: Database) -> None:
        with database.writing() as db:
            for number in range(51):
                a_merchant(db, f"Shop {number:02}")

        first = operator.open(MERCHANTS)
        [older] = re.findall(r'href="([^"]+)" rel="next"', first.body.decode())

        assert "Shop 50" in words_of(first)
        assert "Shop 00" not in words_of(first)
        assert "Shop 00" in operator.words(older)


class TestOneMerchant:
    @pytest.mark.both_databases
    def test_its_page_shows_orders_money_keys_people_and_callbacks(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        order_id = create(alice.api, recipientName=HOSTILE)
        with database.writing() as db:
            post_entry(
                db,
                read(database, alice).id,
                NewLedgerEntry(
                    key="p", kind=EntryKind.PAYMENT, amount=1250, currency="GBP", memo="By bank"
                ),
                now=NOON,
            )

        page = operator.open(page_of(alice))
        said = words_of(page)

        key = alice.api.credentials["X-Service-REST-API-Key"]
        assert str(order_id) in said
        assert HOSTILE in said
        assert HOSTILE.encode() not in page.body
        assert "Payment received By bank" in said
        assert "£12.50" in said
        assert f"…{key[-4:]}" in said
        assert key not in said
        assert f"{alice.code}@shop.example" in said
        assert "Callback address Not set" in said

    @pytest.mark.both_databases
    def test_what_was_given_up_is_listed_and_sent_again(
        self, operator: Window, server: Server, alice: Window, database: Database
    ) -> None:
        listen(database, alice)
        order_id = create(alice.api)
        callback = last_callback(database, alice)
        try_once(database, callback, 500, CallbackState.FAILED)
        viewer = open_console(server, database, Role.VIEWER)
        assert "1 callback failed" in operator.words("/console")

        said = operator.words(page_of(alice))
        answer = operator.do(page_of(alice), "resend-given-up")
        again = operator.do(page_of(alice), "resend-given-up")

        assert f"{order_id} Order created" in said
        assert "Send callbacks again" in said
        assert "Send callbacks again" not in viewer.words(page_of(alice))
        assert "The callbacks are being resent." in operator.follow(answer)
        assert "Nothing needs attention" in operator.words("/console")
        assert again.status == 400
        assert "There are no failed callbacks any more." in words_of(again)
        with database.reading() as db:
            [entry] = [
                one for one in list_audit(db, limit=9) if one.action == "resend-failed-callbacks"
            ]
        assert (entry.merchant_id, entry.details) == (read(database, alice).id, {"callbacks": 1})

    def test_a_test_that_nobody_heard_is_nothing_to_look_into(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        listen(database, alice)
        with database.writing() as db:
            test = send_test(a_work(db, read(database, alice), now=NOON))
        try_once(database, test, 500, CallbackState.FAILED)

        assert "Nothing needs attention" in operator.words("/console")
        assert "0 Failed callbacks" in operator.words(page_of(alice))

    def test_one_that_does_not_exist_is_a_404(self, operator: Window) -> None:
        for code in ("nobody", "%00", "%F0%9F%98%80"):
            assert operator.open(f"{MERCHANTS}/{code}").status == 404

    def test_a_viewer_sees_it_and_changes_nothing(
        self, alice: Window, server: Server, database: Database
    ) -> None:
        viewer = open_console(server, database, Role.VIEWER)

        refused = viewer.do(page_of(alice), "change-billing", billing="account", limit="1")

        assert "Billing" not in viewer.words(page_of(alice))
        assert refused.status == 403
        assert read(database, alice).billing is Billing.CARD


class TestBilling:
    @pytest.mark.both_databases
    def test_it_is_changed_and_written_down(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        done = operator.do(
            page_of(alice),
            "change-billing",
            billing="account",
            limit="1,250.5",
            customer="cus_1",
            payment_method="pm_2",
        )

        assert "Credit limit £1,250.50" in operator.follow(done)
        merchant = read(database, alice)
        assert merchant.billing is Billing.ACCOUNT
        with database.reading() as db:
            assert read_credit_limit(db, merchant.id) == 125_050
            assert get_card(db, merchant.id) == SavedCard("cus_1", "pm_2")
            [entry] = list_audit(db, merchant_id=merchant.id, limit=5)
        assert (entry.action, entry.who) == ("change-billing", "admin@works.example")
        assert entry.details == {"billing": "account", "limit": 125_050, "card": "changed"}

    def test_the_card_stays_when_nothing_is_said_of_it(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        card = {"customer": "cus_1", "payment_method": "pm_2"}
        operator.do(page_of(alice), "change-billing", billing="card", limit="5", **card)
        operator.do(page_of(alice), "change-billing", billing="card", limit="")

        with database.reading() as db:
            merchant = get_merchant_by_code(db, alice.code)
            assert get_card(db, merchant.id) == SavedCard("cus_1", "pm_2")
            assert read_credit_limit(db, merchant.id) is None

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({"billing": "barter"}, "Choose how the merchant pays."),
            ({"billing": "account", "limit": "-5"}, "Enter a limit such as"),
            ({"billing": "account", "customer": "cus_1"}, "A saved card needs both IDs"),
        ],
    )
    def test_what_makes_no_sense_changes_nothing(
        self,
        operator: Window,
        alice: Window,
        database: Database,
        fields: dict[str, str],
        reason: str,
    ) -> None:
        refused = operator.do(page_of(alice), "change-billing", **fields)

        assert refused.status == 400
        assert reason in words_of(refused)
        assert read(database, alice).billing is Billing.CARD

    def test_the_password_is_asked_for_once_more(
        self, operator: Window, alice: Window, clock: MovableClock
    ) -> None:
        clock.advance(minutes=11)

        assert operator.do(page_of(alice), "change-billing", billing="account").status == 403
        proved = {"billing": "account", "current_password": PASSWORD}
        assert operator.do(page_of(alice), "change-billing", **proved).status == 303

    def test_a_limit_of_nothing_is_not_without_a_limit(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        operator.do(page_of(alice), "change-billing", billing="account", limit="0")

        with database.reading() as db:
            assert read_credit_limit(db, read(database, alice).id) == 0


class TestReminders:
    def remind(self, database: Database, merchant: Merchant) -> None:
        """Let a merchant have been reminded twice."""
        with database.writing() as db:
            change_billing(
                a_work(db, merchant), BillingTerms(billing=Billing.ACCOUNT, credit_limit=None)
            )
            set_told(db, merchant.id, overdue_since=NOON)
            for step, tone in enumerate((ReminderTone.FRIENDLY, ReminderTone.LAST), 1):
                new = a_new_reminder(
                    merchant.id,
                    step=step,
                    tone=tone,
                    amount=12_345,
                    due_on="2026-10-04",
                    readers=step - 1,
                )
                add_reminder(db, new)

    @pytest.mark.both_databases
    def test_an_operator_sees_them_and_pauses_them_with_a_reason(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        page = page_of(alice)
        assert "Reminders" not in operator.words(page)
        self.remind(database, read(database, alice))

        seen = operator.words(page)
        paused = operator.do(page, "pause-reminders", reason=f"They dispute it {HOSTILE}")
        shown = operator.follow(paused)
        refused = operator.do(page, "pause-reminders", reason=" ")
        resumed = operator.follow(operator.do(page, "resume-reminders"))
        again = operator.do(page, "resume-reminders")

        assert "Friendly reminder: £123.45 Not sent, since nobody at the merchant" in seen
        assert "Last notice: £123.45 Sent" in seen
        assert "due since Sun, 4 Oct 2026" in seen
        assert f"Reminders are paused They dispute it {HOSTILE}" in shown
        assert refused.status == 400
        assert "Write the reason" in words_of(refused)
        assert "Reminders are paused" not in resumed
        assert again.status == 400
        with database.reading() as db:
            entries = list_audit(db, merchant_id=read(database, alice).id, limit=3)
        assert [entry.action for entry in entries][:2] == ["resume-reminders", "pause-reminders"]
        assert entries[1].details == {"reason": f"They dispute it {HOSTILE}"}

    def test_a_viewer_sees_them_and_pauses_nothing(
        self, alice: Window, server: Server, database: Database
    ) -> None:
        self.remind(database, read(database, alice))
        viewer = open_console(server, database, Role.VIEWER)

        assert "Last notice: £123.45" in viewer.words(page_of(alice))
        assert "Pause reminders" not in viewer.words(page_of(alice))
        assert viewer.do(page_of(alice), "pause-reminders", reason="no").status == 403


class TestPeople:
    @pytest.mark.both_databases
    def test_a_colleague_comes_in_by_a_link_that_is_shown_once(
        self, operator: Window, alice: Window, server: Server, database: Database
    ) -> None:
        page = operator.do(page_of(alice), "invite-colleague", email="pat@shop.example")
        link = link_of(page)
        pat = come_in(server, link)

        assert link.encode() not in operator.open(page_of(alice)).body
        assert "Alice" in pat.words("/settings")
        with database.reading() as db:
            entries = list_audit(db, merchant_id=read(database, alice).id, limit=9)
        assert ("invite-colleague", "pat@shop.example") in [
            (entry.action, entry.subject) for entry in entries
        ]

    def test_a_link_for_a_new_password_is_for_this_merchants_people_only(
        self, operator: Window, alice: Window, bob: Window, server: Server
    ) -> None:
        assert alice.person is not None
        mine = operator.do(page_of(alice), "reset-colleague", person=alice.person.id)
        anew = come_in(server, link_of(mine))

        assert anew.open("/settings").status == 200
        assert alice.open("/settings").status == 303
        for person in (bob.person.id if bob.person else 0, "x", "", "9" * 30):
            refused = operator.do(page_of(alice), "reset-colleague", person=person)
            assert refused.status == 404, person

    def test_an_invitation_is_withdrawn_at_its_own_merchant_only(
        self, operator: Window, alice: Window, bob: Window, browser: Client
    ) -> None:
        page = operator.do(page_of(alice), "invite-colleague", email="pat@shop.example")
        [number] = re.findall(r'name="invitation" value="([0-9a-f]+)"', page.body.decode())
        form_action = "withdraw-colleague-invitation"

        elsewhere = operator.do(page_of(bob), form_action, invitation=number)
        assert elsewhere.status == 400
        assert browser.get(link_of(page)).status == 200
        done = operator.do(page_of(alice), form_action, invitation=number)
        assert "The invitation was withdrawn" in operator.follow(done)
        assert browser.get(link_of(page)).status == 404


def test_a_live_merchant_opens_an_account_by_invitation(
    database: Database, settings: Settings, clock: MovableClock
) -> None:
    url = database.url.render_as_string(hide_password=False)
    live = msgspec.structs.replace(
        settings, environment="live", payments="account", database_url=url
    )
    server = Server(build_app(live, clock))
    operator = open_console(server, database)
    newcomer = Window(Client(server, "", {}))

    fields = {"name": "New", "currency": "EUR", "billing": "account"}
    assert operator.do(MERCHANTS, "create-merchant", **fields).status == 400
    link = link_of(operator.do(MERCHANTS, "invite-merchant", email="shop@shop.example"))
    waiting = operator.words(MERCHANTS)
    token = re.findall(r'form_token" value="([0-9a-f]+)"', newcomer.open(link).body.decode())[0]
    fields = {"form_token": token, "shop": "New shop", "currency": "EUR"}
    came = newcomer.send(link, {**fields, "password": "a new long password"})
    listed = operator.words(MERCHANTS)
    server.close()

    assert came.status == 303
    assert "shop@shop.example" in waiting
    assert "shop@shop.example" not in listed
    assert "New shop" in listed


class TestLimits:
    @pytest.mark.both_databases
    def test_they_are_changed_and_taken_back(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        fields = {"requests_per_second": "100", "requests_burst": "", "requests_in_work": "16"}
        assert operator.do(page_of(alice), "change-limits", **fields).status == 303
        assert read(database, alice).share_terms == ShareTerms(100, None, 16)

        operator.do(page_of(alice), "change-limits")
        assert read(database, alice).share_terms == ShareTerms()

    @pytest.mark.parametrize("typed", ["0", "many", "1000001"])
    def test_what_is_no_limit_changes_nothing(
        self, operator: Window, alice: Window, database: Database, typed: str
    ) -> None:
        refused = operator.do(page_of(alice), "change-limits", requests_burst=typed)

        assert refused.status == 400
        assert "The burst must be from 1 to 1000000" in words_of(refused)
        assert read(database, alice).share_terms == ShareTerms()


class TestAccount:
    @pytest.mark.both_databases
    def test_it_is_suspended_and_reopened_and_the_merchant_reads_why(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        page = f"{page_of(alice)}/account"
        assert operator.do(page, "suspend-merchant", reason="May is unpaid").status == 303

        assert "Your account is suspended May is unpaid" in alice.words("/orders")
        refused = alice.api.post("/orders", an_addressed_order())
        assert refused.status == 403
        assert "This account is suspended (May is unpaid)" in refused.error
        assert "Suspended" in operator.words(page_of(alice))

        operator.do(page, "reopen-merchant")
        assert create(alice.api)

    def test_whoever_works_for_a_closed_merchant_is_signed_out_and_cannot_come_back(
        self, operator: Window, alice: Window, server: Server
    ) -> None:
        page = f"{page_of(alice)}/account"
        assert operator.do(page, "close-merchant", reason="It moved").status == 303

        assert alice.open("/orders").status == 303
        somebody = Window(Client(server, "", {}))
        fields = {"email": f"{alice.code}@shop.example", "password": PASSWORD}
        token = find_token(somebody.open("/sign-in"))
        refused = somebody.send("/sign-in", {"form_token": token, **fields})
        assert "This account is closed" in words_of(refused)
        assert alice.api.get("/orders").status == 401

    def test_one_with_an_open_order_is_not_closed(self, operator: Window, alice: Window) -> None:
        create(alice.api)
        page = f"{page_of(alice)}/account"

        refused = operator.do(page, "close-merchant", reason="It moved")

        assert refused.status == 400
        assert "while the merchant has an order" in words_of(refused)

    def test_its_name_and_currency_are_changed(
        self, operator: Window, alice: Window, database: Database
    ) -> None:
        page = f"{page_of(alice)}/account"
        operator.do(page, "rename-merchant", name="Alice and sons")
        operator.do(page, "change-currency", currency="EUR")

        changed = read(database, alice)
        assert (changed.name, changed.currency) == ("Alice and sons", "EUR")

    def test_everything_is_exported(self, operator: Window, alice: Window) -> None:
        order_id = create(alice.api)
        page = f"{page_of(alice)}/account"

        sent = operator.do(page, "export-merchant", current_password=PASSWORD, pictures="yes")

        with zipfile.ZipFile(BytesIO(sent.body)) as archive:
            [known] = map(json.loads, archive.read("orders.jsonl").splitlines())
        assert known["order"] == order_id


@pytest.mark.both_databases
def test_an_operator_of_a_sandbox_creates_a_merchant_whose_key_is_shown_once(
    operator: Window, server: Server, database: Database
) -> None:
    fields = {"name": "New shop", "currency": "EUR", "billing": "account"}

    page = operator.do(MERCHANTS, "create-merchant", **fields)

    said = words_of(page)
    assert page.status == 200
    assert "New shop was created" in said
    [code, key] = re.findall(r'data-copy="[^"]+">([^<]+)<', page.body.decode())
    assert key not in operator.words(MERCHANTS)
    assert "New shop" in operator.words(f"/console/merchants/{code}")
    assert last_entry(database).action == "add-merchant"
    assert "Enter the name" in words_of(
        operator.do(MERCHANTS, "create-merchant", **{**fields, "name": " "})
    )
    assert "Choose a currency" in words_of(
        operator.do(MERCHANTS, "create-merchant", **{**fields, "currency": "XXX"})
    )
    support = open_console(server, database, Role.SUPPORT)
    assert "Create a merchant" not in support.words(MERCHANTS)
    assert support.do(MERCHANTS, "create-merchant", **fields).status == 403
