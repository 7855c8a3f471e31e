"""What was typed when a session had ended is there again after signing in, for the same person."""

import re
from typing import Any

import pytest
from sqlalchemy import select

from printworks.store.accounts.sessions import end_sessions
from printworks.store.engine.database import Database
from printworks.store.tables import kept_forms
from tests.api.client import Client
from tests.api.conftest import MovableClock
from tests.dashboard.ordering import FORM, NEW, count_orders
from tests.dashboard.test_once import fill_in
from tests.dashboard.visits import words_of
from tests.dashboard.windows import BOUNDARY, PASSWORD, Window, find_token
from tests.running import Answer

COOKIE = "__Host-printworks-form"
ORDER = {**FORM, "sample": "yes", "recipient_name": "Zoe <Hill>", "payment": "InvoiceRecipient"}


def sign_out_everywhere(database: Database, window: Window) -> None:
    assert window.person is not None
    with database.writing() as db:
        end_sessions(db, window.person.id)


def sign_in(window: Window, address: str, email: str) -> Answer:
    """Sign in where a page has sent the browser."""
    token = find_token(window.open(address))
    sent = {"form_token": token, "email": email, "password": PASSWORD}
    return window.send(address, sent)


def email_of(window: Window) -> str:
    assert window.person is not None
    return window.person.email


def send_files(window: Window, address: str, form: dict[str, Any], *names: str) -> Answer:
    """Send a form with files."""
    parts = [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in form.items()
    ]
    parts += [
        f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="pictures"; filename="{name}"\r\n\r\n'
        f"{'x' * 100_000}\r\n"
        for name in names
    ]
    body = "".join([*parts, f"--{BOUNDARY}--\r\n"]).encode()
    kind = f"multipart/form-data; boundary={BOUNDARY}"
    headers = {"Content-Type": kind, "Cookie": window.cookie}
    answer = window.browser.request("POST", address, body, headers)
    if given := answer.headers.get("set-cookie"):
        name, _, value = given.partition(";")[0].partition("=")
        window.cookies[name] = value
    return answer


@pytest.mark.both_databases
def test_a_form_whose_session_ended_is_shown_again_and_sent_by_hand(
    alice: Window, database: Database
) -> None:
    address = f"{NEW}?country=GB"
    form = fill_in(alice, address, "create-order", **ORDER)
    sign_out_everywhere(database, alice)

    turned_away = alice.send(address, form)
    door = turned_away.headers["location"]
    assert turned_away.status == 303
    assert "What you typed is kept for an hour" in alice.words(door)
    back = sign_in(alice, door, email_of(alice))

    # With its whole query.
    assert back.headers["location"] == address
    page = alice.open(address)
    body = page.body.decode()
    assert "What you typed is here again" in words_of(page)
    assert 'value="Zoe &lt;Hill&gt;"' in body
    assert re.search(r'value="InvoiceRecipient"[^>]*(selected|checked)', body)
    assert re.search(r'name="sample" [^>]*checked', body)
    assert count_orders(alice) == 0
    # It is still the same form, and done once.
    assert f'name="once" value="{form["once"]}"' in body
    sent = {**form, "form_token": find_token(page)}
    made = [alice.send(address, sent).headers["location"] for _ in range(2)]
    assert made[0] == made[1]
    assert count_orders(alice) == 1
    assert "What you typed" not in alice.words(address)
    with database.reading() as db:
        assert db.execute(select(kept_forms)).all() == []


def test_what_is_kept_is_sealed_and_has_no_password(alice: Window, database: Database) -> None:
    form = fill_in(alice, "/keys", "add-key", name="My shop's key", current_password="my-password")
    sign_out_everywhere(database, alice)

    door = alice.send("/keys", form).headers["location"]

    with database.reading() as db:
        [content] = db.execute(select(kept_forms.c.content)).scalars().all()
    assert "shop" not in content
    sign_in(alice, door, email_of(alice))
    body = alice.open("/keys").body.decode()
    assert "My shop&#39;s key" in body
    assert "my-password" not in body


def test_nobody_else_is_shown_what_was_typed(
    alice: Window, bob: Window, browser: Client, database: Database
) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)
    sign_out_everywhere(database, alice)
    door = alice.send(NEW, form).headers["location"]
    kept = alice.cookies[COOKIE]

    # Bob in the same browser, and Alice in another one.
    sign_in(alice, door, email_of(bob))
    assert "Zoe" not in alice.words(NEW)
    elsewhere = Window(browser)
    sign_in(elsewhere, "/sign-in", email_of(alice))
    assert "Zoe" not in elsewhere.open(NEW).body.decode()
    elsewhere.cookies[COOKIE] = "0" * 32
    assert "Zoe" not in elsewhere.open(NEW).body.decode()

    elsewhere.cookies[COOKIE] = kept
    assert "Zoe" in elsewhere.open(NEW).body.decode()
    assert "Zoe" not in elsewhere.open(f"{NEW}?kept=no").body.decode()


def test_it_is_forgotten_after_an_hour_and_when_somebody_signs_out(
    alice: Window, database: Database, clock: MovableClock
) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)
    sign_out_everywhere(database, alice)
    door = alice.send(NEW, form).headers["location"]
    sign_in(alice, door, email_of(alice))
    clock.advance(minutes=59)
    assert "Zoe" in alice.open(NEW).body.decode()
    clock.advance(minutes=2)
    assert "Zoe" not in alice.open(NEW).body.decode()

    alice.send("/sign-out", {"form_token": alice.token(NEW)})

    with database.reading() as db:
        assert db.execute(select(kept_forms)).all() == []


def test_files_are_not_kept_and_named_instead(alice: Window, database: Database) -> None:
    form = fill_in(alice, NEW, "create-order", **FORM)
    sign_out_everywhere(database, alice)

    door = send_files(alice, NEW, form, "cat.jpg", "dog.jpg").headers["location"]
    sign_in(alice, door, email_of(alice))

    words = alice.words(NEW)
    assert "Choose your files again: cat.jpg, dog.jpg." in words
    assert 'value="Mary Fox"' in alice.open(NEW).body.decode()


@pytest.mark.parametrize(
    "changes",
    [
        {"once": ""},
        {"once": "1.abc.def"},
        {"reference": "x" * 300_000},
    ],
)
def test_what_is_not_ours_or_too_long_is_not_kept(
    alice: Window, database: Database, changes: dict[str, str]
) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)
    sign_out_everywhere(database, alice)

    answer = alice.send(NEW, {**form, **changes})

    assert "not saved" in alice.words(answer.headers["location"])
    with database.reading() as db:
        assert db.execute(select(kept_forms)).all() == []


def test_a_form_from_another_site_is_not_kept(alice: Window, database: Database) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)
    sign_out_everywhere(database, alice)

    alice.send(NEW, form, Sec_Fetch_Site="cross-site")

    with database.reading() as db:
        assert db.execute(select(kept_forms)).all() == []


def test_a_browser_has_room_for_five_forms(alice: Window, database: Database) -> None:
    pages = {
        NEW: "create-order",
        "/keys": "add-key",
        "/integrations": "set-callback",
        "/mail/settings": "change-mail-settings",
        "/sandbox": "advance-clock",
        "/settings": "change-password",
    }
    forms = {page: fill_in(alice, page, action) for page, action in pages.items()}
    sign_out_everywhere(database, alice)

    for page, form in forms.items():
        alice.send(page, form)

    with database.reading() as db:
        assert len(db.execute(select(kept_forms)).all()) == 5


def test_a_form_of_a_session_before_this_one_is_shown_again(
    alice: Window, database: Database
) -> None:
    form = fill_in(alice, NEW, "create-order", **ORDER)
    sign_out_everywhere(database, alice)
    sign_in(alice, "/sign-in", email_of(alice))

    refused = alice.send(NEW, form)

    body = refused.body.decode()
    assert refused.status == 403
    assert "You have signed in again since this page was opened" in words_of(refused)
    assert 'value="Zoe &lt;Hill&gt;"' in body
    assert count_orders(alice) == 0
    assert alice.send(NEW, {**form, "form_token": find_token(refused)}).status == 303
