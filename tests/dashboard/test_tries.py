"""Tries to sign in: nobody learns who exists, nobody tries for ever, and nobody is locked out for good."""

import re
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import pytest
from structlog.testing import capture_logs

from printworks.actions.accounts.people import invite_to_choose_password
from printworks.dashboard.auth.passwords import MOST_WAITING, TooManySignIns
from printworks.rules.people import Realm
from printworks.rules.sign_in import OF_A_NETWORK
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.tries import find_tries
from printworks.store.engine.database import Database
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window, find_token
from tests.factories import a_system_work
from tests.running import Answer

pytestmark = pytest.mark.slow

WRONG = "a wrong password"


def email_of(window: Window) -> str:
    """Return with which address somebody signs in."""
    assert window.person is not None
    return window.person.email


def sign_in(window: Window, email: str, password: str, **fields: Any) -> Answer:
    """Send the form of the sign-in page."""
    token = find_token(window.open("/sign-in"))
    return window.send(
        "/sign-in", {"form_token": token, "email": email, "password": password, **fields}
    )


def block(window: Window, email: str) -> None:
    """Be wrong so often that everybody has to wait."""
    for _ in range(5):
        assert sign_in(window, email, WRONG).status == 400


@pytest.fixture
def codes(alice: Window) -> list[str]:
    """Alice's recovery codes."""
    page = words_of(alice.do("/settings", "make-recovery-codes"))
    return re.findall(r"\b[a-z2-7]{4}(?:-[a-z2-7]{4}){3}\b", page)


def test_five_hundred_tries_tell_nothing_about_who_exists(
    alice: Window, newcomer: Window, clock: MovableClock
) -> None:
    said: dict[str, list[tuple[int, str]]] = {}
    took: dict[str, list[float]] = {}
    known = email_of(alice)
    names = (known, known.translate(str.maketrans("0123456789", "9876543210")) + "x")
    token = find_token(newcomer.open("/sign-in"))
    for number in range(250):
        # Some have to wait, and some are compared; the network never has to wait.
        clock.advance(seconds=20 if number % 2 else 900)
        for email in names[:: 1 if number % 4 < 2 else -1]:
            fields = {"form_token": token, "email": email, "password": WRONG}
            before = time.perf_counter()
            answer = newcomer.send("/sign-in", fields)
            took.setdefault(email, []).append(time.perf_counter() - before)
            text = re.sub(
                r'[0-9a-f]{32,}|data-options="[^"]*"|nonce="[^"]*"', "", answer.body.decode()
            )
            said.setdefault(email, []).append((answer.status, text.replace(email, "")))

    somebody, nobody = (said[email] for email in names)
    assert somebody == nobody
    assert any("Try again in" in text for _, text in nobody)
    ratio = statistics.median(took[names[0]]) / statistics.median(took[names[1]])
    assert 0.8 < ratio < 1.25


@pytest.mark.both_databases
def test_of_sixty_at_once_five_are_compared_and_twenty_are_let_through(
    server: Server, alice: Window, database: Database
) -> None:
    windows = [Window(Client(server, "", {})) for _ in range(60)]
    tokens = [find_token(window.open("/sign-in")) for window in windows]

    def attempt(window: Window, token: str) -> str:
        fields = {"form_token": token, "email": email_of(alice), "password": WRONG}
        # Whoever finds no place in the line comes back, as the page says.
        while "One moment" in (told := words_of(window.send("/sign-in", fields))):
            pass
        return told

    with ThreadPoolExecutor(60) as threads:
        said = list(threads.map(attempt, windows, tokens))

    kinds = ["Wrong email address", "Too many wrong passwords", "Too many requests"]
    counted = Counter(next(kind for kind in kinds if kind in text) for text in said)
    with database.reading() as db:
        let_through = find_tries(db, "network 127.0.0.1")
    assert let_through is not None
    assert let_through.number == OF_A_NETWORK.together == 20
    # Who lost a place between the count and the comparison had to come back, and was too late.
    assert counted["Too many requests"] >= 40
    assert counted["Wrong email address"] == 5


class TestAnotherWayIn:
    def test_the_page_names_it_whether_the_address_is_known_or_not(
        self, alice: Window, newcomer: Window
    ) -> None:
        for email in (email_of(alice), "nobody@shop.example"):
            block(newcomer, email)
            told = words_of(sign_in(newcomer, email, PASSWORD))
            assert "You need not wait if you have another way in" in told
            assert "a reset link from the operator" in told

    @pytest.mark.both_databases
    def test_a_recovery_code_and_the_password_open_at_once(
        self, alice: Window, newcomer: Window, codes: list[str]
    ) -> None:
        block(newcomer, email_of(alice))

        blocked = sign_in(newcomer, email_of(alice), PASSWORD, recovery_code="aaaa-aaaa-aaaa-aaaa")
        wrong = sign_in(newcomer, email_of(alice), WRONG, recovery_code=codes[0])
        again = sign_in(newcomer, email_of(alice), PASSWORD, recovery_code=codes[0])
        right = sign_in(newcomer, email_of(alice), PASSWORD, recovery_code=codes[1])

        assert "Too many wrong" in words_of(blocked)
        # A code is worth one try, and is used up by it.
        assert "Wrong email address or password" in words_of(wrong)
        assert "Too many wrong" in words_of(again)
        assert right.status == 303
        assert "8 of 10 left" in newcomer.words("/settings")

    def test_somebody_elses_code_opens_nothing(
        self, bob: Window, newcomer: Window, codes: list[str]
    ) -> None:
        block(newcomer, email_of(bob))
        refused = sign_in(newcomer, email_of(bob), PASSWORD, recovery_code=codes[0])
        assert "Too many wrong" in words_of(refused)

    def test_a_reset_link_ends_the_wait(
        self, alice: Window, newcomer: Window, server: Server, database: Database
    ) -> None:
        block(newcomer, email_of(alice))
        with database.writing() as db:
            token = invite_to_choose_password(a_system_work(db), Realm.MERCHANT, email_of(alice))
        page = f"/invitations/{token}"
        fields = {"form_token": find_token(newcomer.open(page)), "password": "three words of hers"}

        assert newcomer.send(page, fields).status == 303
        other = Window(Client(server, "", {}))
        assert sign_in(other, email_of(alice), "three words of hers").status == 303


class TestRecoveryCodes:
    @pytest.mark.both_databases
    def test_one_stands_for_the_app_once(
        self, alice: Window, newcomer: Window, codes: list[str], database: Database
    ) -> None:
        from printworks.store.accounts.people import set_totp

        assert alice.person is not None
        with database.writing() as db:
            set_totp(db, alice.person.id, "A" * 32, step=0)

        asked = sign_in(newcomer, email_of(alice), PASSWORD)
        wrong = sign_in(newcomer, email_of(alice), PASSWORD, recovery_code="aaaa-aaaa-aaaa-aaaa")
        right = sign_in(newcomer, email_of(alice), PASSWORD, recovery_code=codes[3])
        newcomer.cookies.clear()
        again = sign_in(newcomer, email_of(alice), PASSWORD, recovery_code=codes[3])

        assert "or a recovery code" in words_of(asked)
        assert "recovery code is wrong" in words_of(wrong)
        assert right.status == 303
        assert again.status == 400

    def test_they_are_shown_once_and_stored_as_hashes(
        self, alice: Window, codes: list[str], database: Database
    ) -> None:
        from sqlalchemy import select

        from printworks.store.tables import recovery_codes

        assert len(codes) == 10
        assert not any(code in alice.words("/settings") for code in codes)
        with database.reading() as db:
            rows = repr(db.execute(select(recovery_codes)).all())
        assert not any(code in rows or code.replace("-", "") in rows for code in codes)

    def test_new_ones_end_the_old_ones(
        self, alice: Window, newcomer: Window, codes: list[str]
    ) -> None:
        alice.do("/settings", "make-recovery-codes")
        block(newcomer, email_of(alice))
        refused = sign_in(newcomer, email_of(alice), PASSWORD, recovery_code=codes[0])
        assert "Too many wrong" in words_of(refused)


class TestWhatIsWrittenDown:
    def test_every_failure_is_logged_without_what_was_entered(
        self, alice: Window, newcomer: Window
    ) -> None:
        with capture_logs() as logs:
            for email in (email_of(alice), "nobody@shop.example"):
                block(newcomer, email)
                sign_in(newcomer, email, WRONG)

        failed = [line for line in logs if line["event"] == "sign-in failed"]
        assert Counter(line["reason"] for line in failed) == {
            "wrong password or code": 10,
            "blocked": 2,
        }
        assert alice.person is not None
        assert {line["person"] for line in failed} == {alice.person.id, None}
        assert {line["address"] for line in failed} == {"127.0.0.1"}
        assert "shop.example" not in repr(logs)
        assert WRONG not in repr(logs)

    @pytest.mark.both_databases
    def test_the_owner_sees_that_somebody_was_blocked_and_how_often_it_went_wrong(
        self, alice: Window, newcomer: Window, clock: MovableClock, database: Database
    ) -> None:
        block(newcomer, email_of(alice))
        clock.advance(seconds=15)
        assert sign_in(newcomer, email_of(alice), PASSWORD).status == 303

        assert "Sign in blocked" in alice.words("/settings")
        with database.reading() as db:
            [entry, blocked] = list_audit(db, limit=5)
        assert (entry.action, entry.details) == ("sign-in", {"failuresBefore": 5})
        assert (blocked.action, blocked.who) == ("sign-in-blocked", email_of(alice))


def test_when_too_many_sign_in_at_once_the_rest_are_asked_to_come_back(
    server: Server, alice: Window, newcomer: Window, database: Database
) -> None:
    newcomer.open("/sign-in")
    site = server.app._site
    assert site is not None
    passwords = site.result().services.passwords
    places = [passwords.place() for _ in range(MOST_WAITING)]
    for place in places:
        place.__enter__()

    with no_transaction(database):
        refused = sign_in(newcomer, email_of(alice), PASSWORD)
    with pytest.raises(TooManySignIns):
        passwords.hash("anything")
    for place in places:
        place.__exit__(None, None, None)

    assert refused.status == 503
    assert int(refused.headers["retry-after"]) > 0
    assert "yours was not checked" in words_of(refused)
    # Whatever their addresses, those who are refused come back one by one.
    assert server.app._unavailable._count == 1
    # Nothing was counted for the person.
    assert sign_in(newcomer, email_of(alice), PASSWORD).status == 303


def test_a_network_that_has_to_wait_costs_no_transaction(
    newcomer: Window, database: Database
) -> None:
    for number in range(OF_A_NETWORK.together):
        assert sign_in(newcomer, f"{number}@shop.example", WRONG).status == 400

    with no_transaction(database):
        refused = sign_in(newcomer, "one-more@shop.example", WRONG)

    assert refused.status == 429
    assert int(refused.headers["retry-after"]) > 0


@contextmanager
def no_transaction(database: Database) -> Iterator[None]:
    """Let whoever wants to write wait for ever, and so fail the test."""
    with database.writing():
        yield


@pytest.mark.parametrize("password", ["Password2026!", "q1w2e3r4t5y6", "alice-shop 1"])
def test_a_password_that_many_have_or_that_names_the_shop_is_refused(
    newcomer: Window, password: str
) -> None:
    fields = {"email": "m@alice.example", "shop": "Alice Shop", "password": password}
    token = find_token(newcomer.open("/sign-up"))

    refused = newcomer.send("/sign-up", {"form_token": token, "currency": "GBP", **fields})

    assert refused.status == 400
    assert "three or four words" in words_of(refused)
