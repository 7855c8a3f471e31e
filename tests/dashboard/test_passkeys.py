"""Passkeys: registered, used to sign in, removed; and everything that is not one is refused."""

import json
from typing import Any

import msgspec
import pytest
import webauthn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.passkeys import NewPasskey, delete_passkey, insert_passkey
from printworks.store.engine.database import Database
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.authenticators import PRESENT, Authenticator, options_of, to_text
from tests.dashboard.hostile import HOSTILE
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window, find_token
from tests.factories import NOON
from tests.running import Answer

SETTINGS = "/settings"


def add(window: Window, device: Authenticator, name: str = "My telephone") -> Answer:
    """Register a device at the settings page."""
    page = window.do(SETTINGS, "begin-passkey")
    fields = {"form_token": find_token(page), "do": "add-passkey", "name": name}
    return window.send(SETTINGS, {**fields, "passkey": device.register(options_of(page))})


def sign_in(window: Window, device: Authenticator, page: str = "/sign-in") -> Answer:
    """Sign in with a device."""
    shown = window.open(page)
    passkey = device.sign(options_of(shown))
    return window.send(page, {"form_token": find_token(shown), "passkey": passkey})


@pytest.fixture
def device(alice: Window) -> Authenticator:
    """Alice's telephone, which she has registered."""
    device = Authenticator()
    added = add(alice, device)
    assert "The passkey was added." in words_of(added)
    assert "10 of 10 left" in words_of(added)
    return device


@pytest.mark.both_databases
def test_whoever_has_one_signs_in_without_a_password(
    alice: Window, newcomer: Window, device: Authenticator, database: Database
) -> None:
    answer = sign_in(newcomer, device)

    assert (answer.status, answer.headers["location"]) == (303, "/home")
    assert alice.person is not None
    assert alice.person.email in newcomer.words(SETTINGS)
    assert "My telephone" in newcomer.words(SETTINGS)
    with database.reading() as db:
        actions = [entry.action for entry in list_audit(db, limit=9)]
    assert actions[:2] == ["sign-in-with-passkey", "make-recovery-codes"]
    assert "add-passkey" in actions


@pytest.mark.both_databases
def test_one_that_was_removed_opens_nothing(
    alice: Window, newcomer: Window, device: Authenticator
) -> None:
    second = Authenticator()
    assert "The passkey was added." in alice.follow(add(alice, second, "Key ring"))

    gone = alice.do(SETTINGS, "remove-passkey", passkey_id=1)

    assert "The passkey was removed." in alice.follow(gone)
    assert "not accepted" in words_of(sign_in(newcomer, device))
    assert sign_in(newcomer, second).status == 303
    assert alice.do(SETTINGS, "remove-passkey", passkey_id=1).status == 400


@pytest.mark.both_databases
def test_one_that_is_removed_while_it_signs_opens_nothing(
    alice: Window,
    newcomer: Window,
    device: Authenticator,
    database: Database,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert alice.person is not None
    person_id = alice.person.id
    verify = webauthn.verify_authentication_response

    def verify_slowly(**facts: Any) -> Any:
        verified = verify(**facts)
        with database.writing() as db:
            assert delete_passkey(db, person_id, 1) is not None
        return verified

    monkeypatch.setattr(webauthn, "verify_authentication_response", verify_slowly)

    assert "not accepted" in words_of(sign_in(newcomer, device))
    assert newcomer.open("/home").status == 303


def test_nobody_removes_somebody_elses(
    alice: Window, bob: Window, newcomer: Window, device: Authenticator
) -> None:
    assert bob.do(SETTINGS, "remove-passkey", passkey_id=1).status == 400
    assert sign_in(newcomer, device).status == 303


@pytest.mark.both_databases
def test_what_was_signed_is_used_once_and_only_in_the_browser_that_asked(
    server: Server, newcomer: Window, device: Authenticator
) -> None:
    # A telephone that keeps its keys in a cloud does not count.
    page = newcomer.open("/sign-in")
    fields = {"form_token": find_token(page), "passkey": device.sign(options_of(page))}
    other = Window(Client(server, "", {}))
    stolen = {**fields, "form_token": find_token(other.open("/sign-in"))}

    assert "open for too long" in words_of(other.send("/sign-in", stolen))
    assert newcomer.send("/sign-in", fields).status == 303
    assert newcomer.send("/sign-in", fields).status == 400


def test_one_that_does_not_count_is_not_used_twice_either(alice: Window, newcomer: Window) -> None:
    device = Authenticator(count=-1)
    device.count = 0
    add(alice, device)
    device.count = -1
    page = newcomer.open("/sign-in")
    fields = {"form_token": find_token(page), "passkey": device.sign(options_of(page))}

    assert newcomer.send("/sign-in", fields).status == 303
    assert "used from this page before" in words_of(newcomer.send("/sign-in", fields))


def test_the_page_asks_anew_after_ten_minutes(
    newcomer: Window, device: Authenticator, clock: MovableClock
) -> None:
    page = newcomer.open("/sign-in")
    fields = {"form_token": find_token(page), "passkey": device.sign(options_of(page))}
    clock.advance(minutes=10)

    late = newcomer.send("/sign-in", fields)

    assert (late.status, "open for too long" in words_of(late)) == (400, True)
    fields["passkey"] = device.sign(options_of(late))
    assert newcomer.send("/sign-in", fields).status == 303


@pytest.mark.parametrize(
    "wrong",
    [
        {"origin": "https://print.example.evil.example"},
        {"origin": "http://print.example"},
        {"host": "evil.example"},
        # Whoever finds a telephone that is not locked has it, and nothing more.
        {"flags": PRESENT},
        {"count": -1},
    ],
)
def test_a_device_that_signs_for_another_site_or_for_anybody_is_refused(
    newcomer: Window, device: Authenticator, wrong: dict[str, Any]
) -> None:
    for name, value in wrong.items():
        setattr(device, name, value)
    if "count" in wrong:
        # A copy of the key that has been used less often than the original.
        device.count = 5
        assert sign_in(newcomer, device).status == 303
        newcomer.cookies.clear()
        device.count = 2

    assert "not accepted" in words_of(sign_in(newcomer, device))


def test_another_device_cannot_use_its_number(newcomer: Window, device: Authenticator) -> None:
    thief = Authenticator(credential=device.credential)
    assert "not accepted" in words_of(sign_in(newcomer, thief))


def test_one_of_the_dashboard_does_not_open_the_console(
    newcomer: Window, device: Authenticator
) -> None:
    assert "not accepted" in words_of(sign_in(newcomer, device, "/console/sign-in"))


def test_a_device_of_another_site_is_not_added(alice: Window) -> None:
    refused = add(alice, Authenticator(origin="https://evil.example"))

    assert "could not be added" in words_of(refused)
    # The page asks again, with a new challenge.
    assert options_of(refused)["challenge"]


def test_a_name_is_shown_as_it_is_whatever_it_is(alice: Window, database: Database) -> None:
    assert alice.person is not None
    with database.writing() as db:
        for number, text in enumerate(HOSTILE):
            new = NewPasskey(str(number), b"", 0, text)
            insert_passkey(db, alice.person.id, new, now=NOON)

    page = alice.open(SETTINGS).body.decode()

    assert page.count('name="passkey_id"') == len(HOSTILE)
    for start in ("<script>", "<img src=x", "<svg onload", "<iframe", "<body onload", "<xmp>"):
        assert start not in page


def test_the_same_device_is_not_added_twice(
    alice: Window, bob: Window, device: Authenticator
) -> None:
    page = alice.do(SETTINGS, "begin-passkey")
    assert [known["id"] for known in options_of(page)["excludeCredentials"]] == [
        to_text(device.credential)
    ]
    assert "added before" in words_of(add(bob, device))


def test_a_challenge_of_one_session_does_not_do_for_another(alice: Window, bob: Window) -> None:
    theirs = alice.do(SETTINGS, "begin-passkey")
    fields = {"form_token": bob.token(SETTINGS), "do": "add-passkey", "name": "Mine"}
    passkey = Authenticator().register(options_of(theirs))
    assert "open for too long" in words_of(bob.send(SETTINGS, {**fields, "passkey": passkey}))


NONSENSE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner),
    max_leaves=6,
)


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(
    member=st.sampled_from(
        ["id", "rawId", "type", "response", "clientDataJSON", "authenticatorData", "signature"]
    ),
    value=NONSENSE | st.binary(max_size=80).map(to_text),
)
def test_nonsense_is_refused_in_a_sentence(
    newcomer: Window, device: Authenticator, clock: MovableClock, member: str, value: Any
) -> None:
    clock.advance(minutes=2)
    newcomer.cookies.clear()
    page = newcomer.open("/sign-in")
    sent = json.loads(device.sign(options_of(page)))
    (sent if member in sent else sent["response"])[member] = value
    if sent == json.loads(msgspec.json.encode(sent)) and value == "public-key":
        return
    passkey = json.dumps(sent)
    answer = newcomer.send("/sign-in", {"form_token": find_token(page), "passkey": passkey})
    assert answer.status == 400


@pytest.mark.parametrize("sent", ["{", "[]", "x" * 30_000, '{"id": 1}', "null", "é"])
def test_what_is_no_passkey_at_all_is_refused(alice: Window, newcomer: Window, sent: str) -> None:
    token = find_token(newcomer.open("/sign-in"))
    assert newcomer.send("/sign-in", {"form_token": token, "passkey": sent}).status == 400
    assert alice.do(SETTINGS, "add-passkey", name="Mine", passkey=sent).status == 400
