"""Sign up, sign in, accept an invitation, sign out."""

from collections.abc import Callable, Iterator
from contextlib import closing

import msgspec
import pytest
from sqlalchemy import Connection

from printworks.actions.accounts.people import (
    invite_colleague,
    invite_merchant,
    invite_operator,
    invite_to_choose_password,
)
from printworks.rules.merchants import MerchantState
from printworks.rules.people import Realm, Role
from printworks.settings import Settings
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.lifecycle import set_state
from printworks.store.accounts.merchants import list_merchants
from printworks.store.accounts.people import delete_person, list_people, set_password, set_totp
from printworks.store.accounts.secrets import about_totp, seal
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window, find_token, merchant_of
from tests.factories import NOON, VAULT, a_system_work, a_work_of
from tests.running import Answer

MARY = {"email": "Mary@Shop.example", "shop": "Fox & Sons", "currency": "EUR", "password": PASSWORD}


def enter(window: Window, page: str, **fields: str) -> Answer:
    """Fill in the form of a page."""
    return window.send(page, {"form_token": find_token(window.open(page)), **fields})


class TestASessionThatIsOver:
    def test_a_form_is_not_done_which_the_entrance_says_before_it_leads_back(
        self, newcomer: Window, alice: Window
    ) -> None:
        assert alice.person is not None
        address = newcomer.send("/orders/new", {"do": "create-order"}).headers["location"]

        assert "Your last change was not saved. Sign in and try again." in newcomer.words(address)
        answer = enter(newcomer, address, email=alice.person.email, password=PASSWORD)
        assert (answer.status, answer.headers["location"]) == (303, "/orders/new")

    def test_a_page_that_looks_again_leads_to_the_entrance_instead_of_becoming_empty(
        self, newcomer: Window
    ) -> None:
        looked = newcomer.open("/orders?status=Complete&seen=7", HX_Request="true")

        assert looked.status == 204
        assert looked.headers["hx-redirect"] == "/sign-in?next=%2Forders%3Fstatus%3DComplete"


def test_a_failed_sign_in_is_logged_with_its_address_and_without_its_secrets(
    newcomer: Window, alice: Window, capsys: pytest.CaptureFixture[str]
) -> None:
    assert alice.person is not None
    for email in (alice.person.email, "nobody@shop.example"):
        enter(newcomer, "/sign-in", email=email, password="not the password")
    newcomer.send("/sign-in", {"email": alice.person.email, "password": "not the password"})

    said = capsys.readouterr().out
    refused = [line for line in said.splitlines() if "event='sign-in failed'" in line]
    assert len(refused) == 3
    assert all("address='" in line for line in refused)
    assert "reason='form not from this browser'" in refused[2]
    assert "not the password" not in said
    assert "@shop.example" not in said


class TestSigningUp:
    @pytest.mark.both_databases
    def test_it_makes_a_merchant_and_leads_to_its_home(
        self, newcomer: Window, database: Database
    ) -> None:
        answer = enter(newcomer, "/sign-up", **MARY)

        assert (answer.status, answer.headers["location"]) == (303, "/home")
        assert newcomer.open("/settings").status == 200
        with database.reading() as db:
            [added] = list_merchants(db)
            [person] = list_people(db, Realm.MERCHANT, merchant_id=added.id)
        assert (added.name, added.currency) == ("Fox & Sons", "EUR")
        assert (person.email, person.role) == ("mary@shop.example", Role.OWNER)
        assert person.password_hash.startswith("$argon2id$")

    @pytest.mark.both_databases
    def test_the_same_address_is_refused_the_second_time(
        self, newcomer: Window, database: Database
    ) -> None:
        enter(newcomer, "/sign-up", **MARY)
        newcomer.cookies.clear()
        answer = enter(newcomer, "/sign-up", **MARY)

        assert answer.status == 403
        assert "sign in instead" in words_of(answer)
        with database.reading() as db:
            assert len(list_merchants(db)) == 1

    @pytest.mark.parametrize(
        ("field", "value"),
        [
            ("email", "nobody"),
            ("password", "short"),
            ("shop", ""),
            ("shop", "x" * 201),
            ("shop", "a\nb"),
            ("currency", "XXX"),
        ],
    )
    def test_a_wrong_field_is_named_and_what_was_typed_stays(
        self, newcomer: Window, sqlite_database: Database, field: str, value: str
    ) -> None:
        answer = enter(newcomer, "/sign-up", **{**MARY, field: value})

        assert answer.status == 400
        assert b'role="alert"' in answer.body
        if field != "email":
            assert b"Mary@Shop.example" in answer.body
        assert PASSWORD.encode() not in answer.body
        with sqlite_database.reading() as db:
            assert list_merchants(db) == []


class TestTheWayOn:
    @pytest.mark.parametrize(
        ("wanted", "taken"),
        [
            ("/settings", "/settings"),
            ("/orders?status=Submitted", "/orders?status=Submitted"),
            ("//evil.example", "/home"),
            ("https://evil.example/", "/home"),
            ("/\\evil.example", "/home"),
            ("javascript:alert(1)", "/home"),
            ("/console/jobs", "/home"),
            ("/a\r\nSet-Cookie: x=y", "/home"),
        ],
    )
    def test_it_leads_only_to_our_own_pages(
        self, newcomer: Window, alice: Window, wanted: str, taken: str
    ) -> None:
        assert alice.person is not None
        page = newcomer.open(f"/sign-in?next={wanted}" if "\r" not in wanted else "/sign-in")
        fields = {
            "form_token": find_token(page),
            "email": alice.person.email,
            "password": PASSWORD,
        }
        answer = newcomer.send(f"/sign-in?next={wanted}", fields)

        assert (answer.status, answer.headers["location"]) == (303, taken)

    def test_who_is_signed_in_need_not_do_so_again(self, alice: Window) -> None:
        assert alice.open("/sign-in").headers["location"] == "/home"


class TestForms:
    def test_a_form_of_another_browser_is_refused(self, server: Server) -> None:
        mine, theirs = Window(Client(server, "", {})), Window(Client(server, "", {}))
        token = find_token(theirs.open("/sign-up"))
        mine.open("/sign-up")

        assert mine.send("/sign-up", {"form_token": token, **MARY}).status == 403
        assert (
            Window(Client(server, "", {})).send("/sign-up", {"form_token": token, **MARY}).status
            == 403
        )

    def test_one_from_another_site_is_refused(self, newcomer: Window) -> None:
        fields = {"form_token": find_token(newcomer.open("/sign-up")), **MARY}
        assert newcomer.send("/sign-up", fields, Sec_Fetch_Site="cross-site").status == 403

    @pytest.mark.both_databases
    def test_signing_out_takes_the_token_of_the_session(self, alice: Window) -> None:
        assert alice.send("/sign-out", {}).status == 403
        token = alice.token("/settings")
        assert alice.open("/settings").status == 200
        assert alice.send("/sign-out", {"form_token": token}).headers["location"] == "/"
        assert alice.open("/settings").status == 303


class TestInvitations:
    @pytest.mark.both_databases
    def test_a_colleague_comes_into_the_same_dashboard(
        self, newcomer: Window, alice: Window, database: Database
    ) -> None:
        assert alice.person is not None
        assert alice.person.merchant_id is not None
        with database.writing() as db:
            token = invite_colleague(a_work_of(db, alice.person), "Max@shop.example")

        answer = enter(newcomer, f"/invitations/{token}", password=PASSWORD)

        assert answer.headers["location"] == "/home"
        assert "max@shop.example" in newcomer.words("/settings")
        with database.reading() as db:
            assert len(list_people(db, Realm.MERCHANT, merchant_id=alice.person.merchant_id)) == 2

    def test_an_operator_comes_into_the_console_once(
        self, newcomer: Window, database: Database
    ) -> None:
        with database.writing() as db:
            token = invite_operator(
                a_system_work(db, now=NOON), "ops@works.example", Role.PRODUCTION
            )

        answer = enter(newcomer, f"/invitations/{token}", password=PASSWORD)

        assert answer.headers["location"] == "/console"
        assert "Production" in newcomer.words("/console/settings")
        assert newcomer.open(f"/invitations/{token}").status == 404

    @pytest.mark.both_databases
    def test_a_forgotten_password_is_chosen_anew_and_old_sessions_end(
        self, newcomer: Window, alice: Window, database: Database
    ) -> None:
        assert alice.person is not None
        with database.writing() as db:
            token = invite_to_choose_password(
                a_system_work(db, now=NOON), Realm.MERCHANT, alice.person.email
            )

        assert enter(newcomer, f"/invitations/{token}", password="a new password").status == 303

        assert newcomer.open("/settings").status == 200
        assert alice.open("/settings").status == 303

    def test_a_new_password_does_not_stand_for_the_second_factor(
        self, newcomer: Window, alice: Window, database: Database
    ) -> None:
        assert alice.person is not None
        with database.writing() as db:
            about = about_totp(alice.person.id)
            set_totp(db, alice.person.id, seal(db, VAULT, "A" * 32, about=about), step=0)
            token = invite_to_choose_password(
                a_system_work(db, now=NOON), Realm.MERCHANT, alice.person.email
            )

        answer = enter(newcomer, f"/invitations/{token}", password="a new password")

        assert answer.headers["location"] == "/sign-in"
        assert newcomer.open("/settings").status == 303
        with database.reading() as db:
            [entry] = list_audit(db, limit=5)
        assert (entry.who, entry.action) == (alice.person.email, "accept-invitation")

    def test_one_is_too_old_after_a_week(
        self, newcomer: Window, database: Database, clock: MovableClock
    ) -> None:
        with database.writing() as db:
            token = invite_operator(a_system_work(db, now=NOON), "ops@works.example", Role.VIEWER)
        clock.advance(days=7)

        assert newcomer.open(f"/invitations/{token}").status == 404

    def test_a_bad_password_leaves_it_as_it_was(self, newcomer: Window, database: Database) -> None:
        with database.writing() as db:
            token = invite_operator(a_system_work(db, now=NOON), "ops@works.example", Role.VIEWER)

        assert enter(newcomer, f"/invitations/{token}", password="short").status == 400
        assert enter(newcomer, f"/invitations/{token}", password=PASSWORD).status == 303


class TestLive:
    @pytest.fixture
    def live(
        self, sqlite_database: Database, settings: Settings, clock: MovableClock
    ) -> Iterator[Window]:
        """Somebody before a service that prints and charges."""
        url = sqlite_database.url.render_as_string(hide_password=False)
        changed = msgspec.structs.replace(
            settings, database_url=url, environment="live", payments="account"
        )
        with closing(Server(build_app(changed, clock))) as server:
            yield Window(Client(server, "", {}))

    def test_nobody_signs_up_without_an_invitation(
        self, live: Window, sqlite_database: Database
    ) -> None:
        page = live.open("/sign-up")
        assert page.status == 403
        assert "by invitation from the operator" in words_of(page)
        token = find_token(live.open("/sign-in"))
        assert live.send("/sign-up", {"form_token": token, **MARY}).status == 404
        with sqlite_database.reading() as db:
            assert list_merchants(db) == []

    def test_the_invited_open_an_account(self, live: Window, sqlite_database: Database) -> None:
        with sqlite_database.writing() as db:
            token = invite_merchant(a_system_work(db, now=NOON), "mary@shop.example")

        answer = enter(live, f"/invitations/{token}", password=PASSWORD, shop="Fox", currency="USD")

        assert answer.headers["location"] == "/home"
        with sqlite_database.reading() as db:
            [added] = list_merchants(db)
        assert (added.name, added.currency) == ("Fox", "USD")


def test_whoever_signed_in_while_the_account_was_closed_is_not_let_in(
    alice: Window, database: Database
) -> None:
    assert alice.open("/home").status == 200
    with database.writing() as db:
        # The session of somebody else's transaction, which began before and ended after.
        set_state(db, merchant_of(db, alice).id, MerchantState.CLOSED, "It moved")

    assert alice.open("/home").status == 303


CHANGES: dict[str, Callable[[Connection, int], None]] = {
    "another password": lambda db, person_id: set_password(db, person_id, "chosen anew"),
    "codes": lambda db, person_id: set_totp(db, person_id, "sealed", step=0),
    "removal": delete_person,
}


@pytest.mark.both_databases
@pytest.mark.parametrize("change", CHANGES)
def test_whoever_signs_in_while_the_password_or_the_codes_change_is_not_let_in(
    server: Server,
    alice: Window,
    newcomer: Window,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
    change: str,
) -> None:
    assert alice.person is not None
    person_id = alice.person.id
    newcomer.open("/sign-in")
    site = server.app._site
    assert site is not None
    hashing = site.result().services.passwords._hashing
    compare = hashing.is_right

    def compare_slowly(kept: str, password: str) -> bool:
        is_right = compare(kept, password)
        with database.writing() as db:
            CHANGES[change](db, person_id)
        return is_right

    monkeypatch.setattr(hashing, "is_right", compare_slowly)
    answer = enter(newcomer, "/sign-in", email=alice.person.email, password=PASSWORD)

    assert answer.status == 400
    assert "Wrong email address or password." in words_of(answer)
    assert newcomer.open("/home").status == 303
