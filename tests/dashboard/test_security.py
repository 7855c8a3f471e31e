"""Somebody's own settings: the password, the second factor, and where they are signed in."""

import re
from datetime import timedelta

import pytest

from printworks.rules.people import Realm, Role
from printworks.rules.totp import STEP_SECONDS, make_code
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.people import NewPerson, insert_person
from printworks.store.engine.database import Database
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.visits import words_of
from tests.dashboard.windows import HASH, PASSWORD, Window, find_token
from tests.factories import NOON

ANOTHER = "another long password"


def sign_in(window: Window, email: str, password: str, **fields: str) -> int:
    """Try to sign in at the merchants' door and return the status of the answer."""
    token = find_token(window.open("/sign-in"))
    sent = {"form_token": token, "email": email, "password": password, **fields}
    return window.send("/sign-in", sent).status


def email_of(window: Window) -> str:
    """Return with which address somebody signs in."""
    assert window.person is not None
    return window.person.email


class TestPassword:
    @pytest.mark.both_databases
    def test_it_is_changed_and_other_browsers_are_signed_out(
        self, alice: Window, server: Server
    ) -> None:
        other = Window(Client(server, "", {}))
        assert sign_in(other, email_of(alice), PASSWORD) == 303

        answer = alice.do(
            "/settings", "change-password", new_password=ANOTHER, current_password=PASSWORD
        )

        assert "Other sessions were signed out" in alice.follow(answer)
        assert other.open("/settings").status == 303
        assert sign_in(other, email_of(alice), PASSWORD) == 400
        assert sign_in(other, email_of(alice), ANOTHER) == 303

    def test_the_present_one_is_asked_for_even_right_after_it_was_entered(
        self, alice: Window
    ) -> None:
        refused = alice.do("/settings", "change-password", new_password=ANOTHER)
        wrong = alice.do(
            "/settings", "change-password", new_password=ANOTHER, current_password="no" * 6
        )
        right = alice.do(
            "/settings", "change-password", new_password=ANOTHER, current_password=PASSWORD
        )

        assert refused.status == 403
        assert "Enter your password to confirm" in words_of(refused)
        assert wrong.status == 403
        assert "Wrong password." in words_of(wrong)
        assert right.status == 303

    @pytest.mark.parametrize("password", ["", "short", "aaaaaaaaaaaa", "x" * 201])
    def test_a_bad_one_is_refused_and_changes_nothing(
        self, alice: Window, newcomer: Window, password: str
    ) -> None:
        assert (
            alice.do(
                "/settings", "change-password", new_password=password, current_password=PASSWORD
            ).status
            == 400
        )
        assert sign_in(newcomer, email_of(alice), PASSWORD) == 303


class TestWrongPasswords:
    @pytest.mark.both_databases
    def test_five_in_a_row_cost_a_wait_that_grows(
        self, alice: Window, newcomer: Window, clock: MovableClock
    ) -> None:
        for _ in range(5):
            assert sign_in(newcomer, email_of(alice), "wrong password") == 400

        assert sign_in(newcomer, email_of(alice), PASSWORD) == 400
        clock.advance(seconds=14)
        assert sign_in(newcomer, email_of(alice), PASSWORD) == 400
        clock.advance(seconds=1)
        assert sign_in(newcomer, email_of(alice), PASSWORD) == 303

    def test_nobody_has_to_wait_as_long_as_somebody(
        self, alice: Window, newcomer: Window, clock: MovableClock
    ) -> None:
        said: dict[str, list[str]] = {}
        for email in (email_of(alice), "nobody@shop.example"):
            for _ in range(6):
                token = find_token(newcomer.open("/sign-in"))
                page = newcomer.send(
                    "/sign-in", {"form_token": token, "email": email, "password": "wrong one"}
                )
                said.setdefault(email, []).append(words_of(page).replace(email, ""))
            clock.advance(hours=1)

        somebody, nobody = said.values()
        assert somebody == nobody
        assert "Try again in 15 seconds" in nobody[-1]

    def test_nobody_and_somebody_are_refused_in_the_same_words(
        self, alice: Window, newcomer: Window
    ) -> None:
        said = []
        for email in (email_of(alice), "nobody@shop.example", "not an address", ""):
            token = find_token(newcomer.open("/sign-in"))
            page = newcomer.send(
                "/sign-in", {"form_token": token, "email": email, "password": "wrong password"}
            )
            said.append(words_of(page))

        assert len(set(said)) == 1

    def test_one_address_may_not_try_for_ever(
        self, alice: Window, newcomer: Window, database: Database
    ) -> None:
        assert alice.person is not None
        with database.writing() as db:
            for number in range(20):
                # To compare with the hash of somebody whom nobody knows takes long.
                insert_person(
                    db,
                    NewPerson(
                        realm=Realm.MERCHANT,
                        email=f"{number}@shop.example",
                        role=Role.OWNER,
                        merchant_id=alice.person.merchant_id,
                        password_hash=HASH,
                    ),
                    now=NOON,
                )
        statuses = [
            sign_in(newcomer, f"{number}@shop.example", "wrong password") for number in range(21)
        ]
        assert statuses[:20] == [400] * 20
        assert statuses[20] == 429


class TestSecondFactor:
    def set_up(self, alice: Window, clock: MovableClock) -> str:
        """Turn codes on, and return their secret."""
        page = alice.do("/settings", "begin-totp")
        [secret] = re.findall(r'name="totp_secret" value="([A-Z2-7]+)"', page.body.decode())
        token = find_token(page)
        code = make_code(secret, int(clock.now.timestamp()) // STEP_SECONDS)
        fields = {"form_token": token, "do": "confirm-totp", "totp_secret": secret, "code": code}
        assert "Two-factor authentication is on." in words_of(alice.send("/settings", fields))
        return str(secret)

    @pytest.mark.both_databases
    def test_a_password_alone_opens_nothing_and_a_code_counts_once(
        self, alice: Window, newcomer: Window, clock: MovableClock
    ) -> None:
        secret = self.set_up(alice, clock)
        clock.advance(minutes=5)
        code = make_code(secret, int(clock.now.timestamp()) // STEP_SECONDS)

        assert sign_in(newcomer, email_of(alice), PASSWORD) == 400
        assert sign_in(newcomer, email_of(alice), PASSWORD, code="000000") == 400
        assert sign_in(newcomer, email_of(alice), PASSWORD, code=code) == 303
        newcomer.cookies.clear()
        assert sign_in(newcomer, email_of(alice), PASSWORD, code=code) == 400

    def test_a_wrong_code_turns_nothing_on(self, alice: Window, newcomer: Window) -> None:
        answer = alice.do("/settings", "confirm-totp", totp_secret="A" * 32, code="123456")

        assert answer.status == 400
        assert sign_in(newcomer, email_of(alice), PASSWORD) == 303

    def test_one_wrong_digit_keeps_the_picture_that_was_scanned(
        self, alice: Window, clock: MovableClock
    ) -> None:
        page = alice.do("/settings", "begin-totp")
        [secret] = re.findall(r'name="totp_secret" value="([A-Z2-7]+)"', page.body.decode())
        [picture] = re.findall(r'<img src="(data:[^"]+)"', page.body.decode())

        wrong = alice.do("/settings", "confirm-totp", totp_secret=secret, code="000000")
        code = make_code(secret, int(clock.now.timestamp()) // STEP_SECONDS)
        right = alice.do("/settings", "confirm-totp", totp_secret=secret, code=code)

        assert wrong.status == 400
        assert "Enter the one that your app shows now" in words_of(wrong)
        assert picture in wrong.body.decode()
        assert "Two-factor authentication is on." in words_of(right)

    def test_it_can_be_turned_off(
        self, alice: Window, newcomer: Window, clock: MovableClock
    ) -> None:
        self.set_up(alice, clock)

        assert "Two-factor authentication is off" in alice.follow(alice.do("/settings", "end-totp"))
        assert sign_in(newcomer, email_of(alice), PASSWORD) == 303


class TestSessions:
    def test_one_ends_after_a_week_without_a_visit(
        self, alice: Window, clock: MovableClock
    ) -> None:
        clock.advance(days=6)
        assert alice.open("/settings").status == 200
        clock.advance(days=6)
        assert alice.open("/settings").status == 200
        clock.advance(days=7)
        assert alice.open("/settings").status == 303

    def test_none_lasts_longer_than_a_month(self, alice: Window, clock: MovableClock) -> None:
        for _ in range(5):
            clock.advance(days=6)
            alice.open("/settings")
        assert alice.open("/settings").status == 303

    @pytest.mark.both_databases
    def test_signing_out_everywhere_ends_all_of_them(self, alice: Window, server: Server) -> None:
        other = Window(Client(server, "", {}))
        sign_in(other, email_of(alice), PASSWORD)

        assert alice.do("/settings", "sign-out-everywhere").headers["location"] == "/sign-in"

        assert other.open("/settings").status == 303
        assert alice.open("/settings").status == 303

    def test_somebody_elses_cannot_be_ended(self, alice: Window, bob: Window) -> None:
        sessions = re.findall(r'name="session" value="([0-9a-f]+)"', alice.words("/settings"))
        assert sessions == []
        bob.do("/settings", "end-session", session="0" * 64)
        assert alice.open("/settings").status == 200

    def test_a_session_of_the_dashboard_does_not_open_the_console(self, alice: Window) -> None:
        token = alice.cookies["__Host-printworks"]
        alice.cookies["__Host-printworks-console"] = token

        assert alice.open("/console/settings").headers["location"].startswith("/console/sign-in")


@pytest.mark.both_databases
def test_who_did_what_is_written_down(alice: Window, database: Database) -> None:
    alice.do("/settings", "change-password", new_password=ANOTHER, current_password=PASSWORD)

    with database.reading() as db:
        [entry] = list_audit(db, limit=10)
    assert (entry.who, entry.action) == (email_of(alice), "change-password")
    assert ANOTHER not in str(entry)
    assert "Change password" in alice.words("/settings")


def test_an_idle_session_of_an_operator_ends_after_half_a_day(
    operator: Window, clock: MovableClock
) -> None:
    clock.now += timedelta(hours=11)
    assert operator.open("/console/settings").status == 200
    clock.now += timedelta(hours=12)
    assert operator.open("/console/settings").status == 303
