"""What holds for every page and every form of the dashboard and the console, by their tables."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from sqlalchemy import select

from printworks.dashboard import merchant
from printworks.dashboard.auth.security import security_page
from printworks.dashboard.console.mail.mail_settings import show_mail_settings
from printworks.dashboard.site.router import FormAction
from printworks.rules.people import MAY, OPERATORS, TEAM, USUAL_DUTY, Duty, Realm, Role
from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.tables import api_keys, api_requests, metadata, sessions
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.visits import words_of
from tests.dashboard.windows import (
    PASSWORD,
    Window,
    find_token,
    open_colleagues_window,
    open_console,
)
from tests.dashboard.worlds import PAGES, AnyPage, World, make_world

pytestmark = pytest.mark.slow

# Print files are drawn by workers; `test_console_shipments` has one.
NEEDS_PRINTS: Final = frozenset(
    {
        "/console/shipments/{id}/sheet",
        "/console/shipments/{id}/slip",
        "/console/shipments/{id}/prints/{image}",
    }
)
# What is printed has its style in itself, and no script at all.
ON_PAPER: Final = frozenset({"/settings/shop/slip"})
NOBODYS: Final = 987_654_321


def every_form_action(realm: Realm) -> Iterator[tuple[AnyPage, FormAction[Any]]]:
    """List all that forms can ask for."""
    for page in PAGES[realm]:
        for form_action in page.form_actions:
            yield page, form_action


def fingerprint(database: Database) -> str:
    """Return what changes when anything is changed.

    When somebody was seen, and what programs asked before, is written without being asked.
    """
    with database.reading() as db:
        rows = [
            (table.name, sorted(map(repr, db.execute(select(table)).all())))
            for table in metadata.sorted_tables
            if table not in {sessions, api_requests, api_keys}
        ]
    return hashlib.sha256(repr(rows).encode()).hexdigest()


@pytest.fixture(params=list(Realm))
def realm(request: pytest.FixtureRequest) -> Realm:
    """Each of the two doors."""
    return Realm(request.param)


@pytest.fixture
def window(realm: Realm, alice: Window, operator: Window) -> Window:
    """Somebody who is signed in at that door."""
    return alice if realm is Realm.MERCHANT else operator


@pytest.fixture
def world(
    database: Database, settings: Settings, tmp_path: Path, alice: Window, operator: Window
) -> World:
    """Something of everything."""
    return make_world(database, settings, tmp_path, alice, operator)


def test_no_two_deeds_have_the_same_name() -> None:
    names = [form_action.name for realm in Realm for _, form_action in every_form_action(realm)]
    # Both doors have the same settings behind them.
    shared = {form_action.name for form_action in PAGES[Realm.MERCHANT][-1].form_actions}
    once = [name for name in names if name not in shared]
    assert len(once) == len(set(once))


def test_a_form_without_its_token_or_from_elsewhere_changes_nothing(
    realm: Realm, window: Window, server: Server, database: Database, world: World
) -> None:
    other = open_console(server, database, Role.VIEWER)
    settings = "/settings" if realm is Realm.MERCHANT else "/console/settings"
    token = window.token(settings)
    attempts: list[tuple[dict[str, str], dict[str, str]]] = [
        ({}, {}),
        ({"form_token": ""}, {}),
        ({"form_token": "0" * 64}, {}),
        ({"form_token": "é" * 64}, {}),
        ({"form_token": other.token("/console/settings")}, {}),
        ({"form_token": token}, {"Sec_Fetch_Site": "cross-site"}),
        ({"form_token": token}, {"Sec_Fetch_Site": "same-site"}),
    ]
    before = fingerprint(database)

    for page, form_action in every_form_action(realm):
        address = world.address_of(page)
        for fields, headers in attempts:
            answer = window.send(address, {"do": form_action.name, **fields}, **headers)
            assert answer.status == 403, (form_action.name, fields, headers, answer.status)

    assert fingerprint(database) == before


def test_nobody_sees_or_does_anything_without_signing_in(
    realm: Realm, browser: Client, database: Database, window: Window, world: World
) -> None:
    stranger = Window(browser)
    forged = Window(browser, dict.fromkeys(window.cookies, "0" * 64))
    before = fingerprint(database)
    sign_in_path = "/sign-in" if realm is Realm.MERCHANT else "/console/sign-in"

    for page in PAGES[realm]:
        for somebody in (stranger, forged):
            looked = somebody.open(world.address_of(page))
            assert looked.status == 303, page.path
            assert looked.headers["location"].startswith(f"{sign_in_path}?next="), page.path
            sent = somebody.send(world.address_of(page), {"do": "anything"})
            assert sent.status == 303, page.path
            assert sent.headers["location"].startswith(f"{sign_in_path}?next="), page.path

    assert fingerprint(database) == before


def test_another_merchants_pages_are_not_there(
    alice: Window, bob: Window, database: Database, clock: MovableClock, world: World
) -> None:
    token = bob.token("/settings")
    pages = [(page, world.address_of(page)) for page in merchant.PAGES if "{id}" in page.path]
    # Whoever looks at an order plans its shipments.
    for _, address in pages:
        assert alice.open(address).status == 200, address
    before = fingerprint(database)

    for page, address in pages:
        theirs = bob.open(address)
        nobodys = bob.open(world.address_of(page, id=NOBODYS, photo=NOBODYS))
        assert theirs.status == nobodys.status == 404, page.path
        # Of which nothing tells that there is something.
        assert words_of(theirs) == words_of(nobodys)
        assert 'aria-label="Main"' in theirs.body.decode()
        for form_action in page.form_actions:
            clock.advance(seconds=1)
            answer = bob.send(address, {"form_token": token, "do": form_action.name})
            assert answer.status == 404, form_action.name

    assert fingerprint(database) == before


@pytest.mark.parametrize("role", [role for role in OPERATORS if role is not Role.ADMIN])
def test_an_operator_does_only_what_the_role_is_for(
    server: Server, database: Database, clock: MovableClock, world: World, role: Role
) -> None:
    window = open_console(server, database, role)
    token = window.token("/console/settings")
    before = fingerprint(database)
    refused = 0

    for page, form_action in every_form_action(Realm.OPERATOR):
        if {page.duty, form_action.duty or USUAL_DUTY[Realm.OPERATOR]} <= MAY[role]:
            continue
        refused += 1
        # Nobody may send forms as quickly as a test does.
        clock.advance(seconds=1)
        address = world.address_of(page)
        answer = window.send(address, {"form_token": token, "do": form_action.name})
        assert answer.status == 403, form_action.name

    assert refused
    assert fingerprint(database) == before


@pytest.mark.parametrize("role", [role for role in TEAM if role is not Role.OWNER])
def test_a_colleague_does_only_what_the_role_is_for(
    alice: Window, server: Server, database: Database, clock: MovableClock, world: World, role: Role
) -> None:
    window = open_colleagues_window(server, database, alice, role)
    token = window.token("/settings")
    before = fingerprint(database)
    refused = 0

    for page, form_action in every_form_action(Realm.MERCHANT):
        if {page.duty, form_action.duty or USUAL_DUTY[Realm.MERCHANT]} <= MAY[role]:
            continue
        refused += 1
        # Nobody may send forms as quickly as a test does.
        clock.advance(seconds=1)
        address = world.address_of(page)
        answer = window.send(address, {"form_token": token, "do": form_action.name})
        assert answer.status == 403, form_action.name

    assert refused
    assert fingerprint(database) == before


@pytest.mark.parametrize("role", TEAM)
def test_a_colleague_sees_only_what_the_role_is_for(
    alice: Window, server: Server, database: Database, world: World, role: Role
) -> None:
    window = open_colleagues_window(server, database, alice, role)

    for page in merchant.PAGES:
        expected = 200 if page.duty in MAY[role] else 403
        assert window.open(world.address_of(page)).status == expected, page.path


def test_what_a_viewer_of_a_shop_may_do_is_about_themselves() -> None:
    own = {form_action.name for form_action in security_page("/settings").form_actions}
    own |= {"choose-mails", "see-news", "hide-first-steps", "show-first-steps"}
    looked = {
        form_action.name
        for _, form_action in every_form_action(Realm.MERCHANT)
        if form_action.duty is Duty.LOOK
    }
    assert looked == own


def test_a_role_that_only_looks_changes_nothing_but_its_own_settings() -> None:
    own = {form_action.name for form_action in security_page("/console/settings").form_actions}
    own |= {form_action.name for form_action in show_mail_settings.form_actions}
    others = [
        form_action
        for _, form_action in every_form_action(Realm.OPERATOR)
        if form_action.name not in own
    ]
    assert [form_action.name for form_action in others if form_action.duty is Duty.LOOK] == []


def test_a_page_is_small_and_runs_nothing_of_its_own(
    realm: Realm, window: Window, world: World
) -> None:
    for page in PAGES[realm]:
        answer = window.open(world.address_of(page))
        assert answer.status == (404 if page.path in NEEDS_PRINTS else 200), page.path
        text = answer.body.decode("utf-8", "replace")
        if page.path in NEEDS_PRINTS or "text/html" not in answer.headers["content-type"]:
            continue
        assert len(answer.body) <= 100_000, page.path
        policy = answer.headers["content-security-policy"]
        nonces = re.findall(r"script-src 'nonce-([\w-]+)'", policy)
        assert len(nonces) == (0 if page.path in ON_PAPER else 1), page.path
        for tag in re.findall(r"<script[^>]*>", text):
            assert f'nonce="{nonces[0]}"' in tag, page.path
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert not re.search(r"\son\w+=|\sstyle=|javascript:", text), page.path
        assert answer.headers["cache-control"] == "no-store"


def test_a_cookie_is_of_this_host_and_no_script_reads_it(browser: Client, alice: Window) -> None:
    assert alice.person is not None
    newcomer = Window(browser)
    door = newcomer.open("/sign-in")
    token = find_token(door)
    sent = {"form_token": token, "email": alice.person.email, "password": PASSWORD}
    session = newcomer.send("/sign-in", sent)

    assert session.headers["set-cookie"].startswith("__Host-printworks=")
    for given in (door.headers["set-cookie"], session.headers["set-cookie"]):
        for word in ("__Host-", "Secure", "HttpOnly", "Path=/", "SameSite"):
            assert word in given
        assert "Domain" not in given
