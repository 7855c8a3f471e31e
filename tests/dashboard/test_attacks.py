"""What somebody would try who wants in, wants others out, or wants the service to fail."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import msgspec
import pytest

from printworks.actions.accounts.people import invite_colleague, invite_to_choose_password
from printworks.dashboard.site.limits import network_of
from printworks.rules.people import Realm
from printworks.settings import Settings
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.people import list_people
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server, make_scope
from tests.api.conftest import MovableClock
from tests.dashboard.visits import FORM, words_of
from tests.dashboard.windows import (
    PASSWORD,
    Window,
    find_token,
)
from tests.factories import a_system_work, a_work_of
from tests.running import Answer

ANOTHER: Final = "another long password"
SESSION: Final = "__Host-printworks"
KNOWN: Final = "__Host-printworks-known"
SIGN_IN_COOKIE: Final = "__Host-printworks-sign-in"


def window_of(server: Server, **cookies: str) -> Window:
    """Open a browser that has never been here, or only with these cookies."""
    return Window(Client(server, "", {}), dict(cookies))


def email_of(window: Window) -> str:
    """Return with which address somebody signs in."""
    assert window.person is not None
    return window.person.email


def sign_in(window: Window, email: str, password: str) -> Answer:
    """Try to sign in at the sign-in page of merchants."""
    token = find_token(window.open("/sign-in"))
    fields = {"form_token": token, "email": email, "password": password}
    return window.send("/sign-in", fields)


def copy_of(window: Window) -> Window:
    """Return a browser with the same cookies: somebody else has copied them."""
    return Window(window.browser, dict(window.cookies))


class TestACopiedCookie:
    @pytest.mark.both_databases
    def test_it_is_worth_nothing_once_the_password_was_changed(self, alice: Window) -> None:
        thief = copy_of(alice)
        assert thief.open("/settings").status == 200

        changed = alice.do(
            "/settings", "change-password", new_password=ANOTHER, current_password=PASSWORD
        )

        assert alice.cookies[SESSION] != thief.cookies[SESSION]
        assert "Your password was changed." in alice.follow(changed)
        assert thief.open("/settings").status == 303

    def test_it_is_worth_nothing_once_its_owner_signed_in_again(self, alice: Window) -> None:
        thief, owner = copy_of(alice), copy_of(alice)
        # The sign-in page redirects those who are signed in; its form still works.
        stranger = Window(alice.browser)
        token = find_token(stranger.open("/sign-in"))
        owner.cookies[SIGN_IN_COOKIE] = stranger.cookies[SIGN_IN_COOKIE]
        fields = {"form_token": token, "email": email_of(alice), "password": PASSWORD}

        assert owner.send("/sign-in", fields).status == 303

        assert owner.open("/settings").status == 200
        assert thief.open("/settings").status == 303

    def test_a_page_that_looks_again_by_itself_keeps_nobody_signed_in(
        self, operator: Window, clock: MovableClock
    ) -> None:
        for _ in range(3):
            clock.advance(hours=5)
            last = operator.open("/console/settings", HX_Request="true")
        assert last.status != 200
        assert operator.open("/console/settings").status == 303


class TestLinksForAPassword:
    @pytest.fixture
    def links(self, alice: Window, database: Database, clock: MovableClock) -> list[str]:
        """Two links that were made for the same person."""
        with database.writing() as db:
            return [
                invite_to_choose_password(
                    a_system_work(db, now=clock()), Realm.MERCHANT, email_of(alice)
                )
                for _ in range(2)
            ]

    def test_one_that_was_used_ends_the_others(self, server: Server, links: list[str]) -> None:
        somebody = window_of(server)
        used, other = (f"/invitations/{link}" for link in links)
        token = find_token(somebody.open(used))

        assert somebody.send(used, {"form_token": token, "password": ANOTHER}).status == 303
        assert somebody.open(other).status == 404

    def test_whoever_changes_the_password_ends_them(
        self, server: Server, alice: Window, links: list[str]
    ) -> None:
        assert (
            alice.do(
                "/settings", "change-password", new_password=ANOTHER, current_password=PASSWORD
            ).status
            == 303
        )
        assert window_of(server).open(f"/invitations/{links[0]}").status == 404

    @pytest.mark.both_databases
    def test_two_who_use_one_at_once_are_not_both_let_in(
        self, server: Server, alice: Window, database: Database, clock: MovableClock
    ) -> None:
        assert alice.person is not None
        assert alice.person.merchant_id is not None
        with database.writing() as db:
            link = invite_colleague(a_work_of(db, alice.person, now=clock()), "new@shop.example")
        page = f"/invitations/{link}"
        windows = [window_of(server) for _ in range(4)]
        tokens = [find_token(window.open(page)) for window in windows]

        with ThreadPoolExecutor(4) as threads:
            answers = threads.map(
                lambda window, token: (
                    window.send(page, {"form_token": token, "password": ANOTHER}).status
                ),
                windows,
                tokens,
            )

        assert min(answers) == 303
        assert sum(SESSION in window.cookies for window in windows) == 1
        with database.reading() as db:
            assert len(list_people(db, Realm.MERCHANT, merchant_id=alice.person.merchant_id)) == 2


class TestKeepingSomebodyOut:
    """Whoever knows an address can be wrong about its password as often as they like."""

    @pytest.fixture
    def known(self, server: Server, alice: Window) -> Window:
        """A browser in which Alice has signed in, and out again."""
        given = all_cookies(server, email_of(alice))
        return window_of(server, **{KNOWN: given[KNOWN]})

    @pytest.fixture
    def attacked(self, server: Server, alice: Window) -> Window:
        """A stranger who has made everybody wait."""
        stranger = window_of(server)
        for _ in range(8):
            sign_in(stranger, email_of(alice), "wrong password")
        return stranger

    def test_the_owner_comes_in_with_a_browser_that_is_known(
        self, alice: Window, known: Window, attacked: Window, server: Server
    ) -> None:
        assert "Too many wrong" in words_of(sign_in(attacked, email_of(alice), PASSWORD))
        assert "Too many wrong" in words_of(sign_in(window_of(server), email_of(alice), PASSWORD))
        assert sign_in(known, email_of(alice), PASSWORD).status == 303

    def test_a_known_browser_may_not_try_for_ever_either(
        self, alice: Window, known: Window, attacked: Window
    ) -> None:
        del attacked
        said = [words_of(sign_in(known, email_of(alice), "wrong password")) for _ in range(6)]
        assert ["Too many wrong" in one for one in said] == [False] * 5 + [True]

    def test_a_browser_is_known_to_one_person_only(
        self, bob: Window, known: Window, server: Server
    ) -> None:
        for _ in range(5):
            sign_in(window_of(server), email_of(bob), "wrong password")
        assert "Too many wrong" in words_of(sign_in(known, email_of(bob), PASSWORD))

    def test_who_is_signed_in_can_still_end_a_key(
        self, alice: Window, attacked: Window, clock: MovableClock
    ) -> None:
        clock.advance(minutes=10)
        for _ in range(4):
            sign_in(attacked, email_of(alice), "wrong password")
        made = alice.do("/keys", "add-key", current_password=PASSWORD)
        assert made.status == 200

    def test_a_thief_of_a_session_may_not_try_for_ever(
        self, alice: Window, clock: MovableClock
    ) -> None:
        clock.advance(minutes=10)
        said = [
            words_of(alice.do("/keys", "add-key", current_password="wrong password"))
            for _ in range(11)
        ]
        assert "Too many wrong" in said[-1]
        assert "Too many wrong" in words_of(alice.do("/keys", "add-key", current_password=PASSWORD))


def all_cookies(server: Server, email: str) -> dict[str, str]:
    """Sign in and return every cookie that was given, of which a window keeps one."""
    window = window_of(server)
    token = find_token(window.open("/sign-in"))
    body = f"form_token={token}&email={email}&password={PASSWORD.replace(' ', '+')}".encode()
    headers = {"Content-Type": FORM, "Cookie": window.cookie}
    given: list[tuple[bytes, bytes]] = []

    async def ask() -> None:
        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: dict[str, Any]) -> None:
            given.extend(message.get("headers", ()))

        await server.app(make_scope("POST", "/sign-in", headers), receive, send)

    server.run(ask())
    texts = [value.decode().partition(";")[0] for name, value in given if name == b"set-cookie"]
    return {name: value for name, _, value in (text.partition("=") for text in texts)}


class TestAddresses:
    @pytest.mark.parametrize(
        ("address", "counted"),
        [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
            ("2001:db8:1:2:ffff::1", "2001:db8:1:2::/64"),
            ("fe80::1%eth0", "fe80::/64"),
            ("", ""),
            ("a socket", "a socket"),
        ],
    )
    def test_whoever_has_many_counts_as_one(self, address: str, counted: str) -> None:
        assert network_of(address) == counted

    @pytest.fixture
    def proxied(
        self, sqlite_database: Database, settings: Settings, clock: MovableClock
    ) -> Iterator[Server]:
        """A service behind a proxy, from which every connection comes."""
        url = sqlite_database.url.render_as_string(hide_password=False)
        changed = msgspec.structs.replace(settings, database_url=url, behind_proxy="127.0.0.1:8080")
        server = Server(build_app(changed, clock))
        yield server
        server.close()

    def test_behind_a_proxy_each_has_tries_of_their_own(self, proxied: Server) -> None:
        # What stands before the proxy's own word is made up.
        made_up = [knock(proxied, f"198.51.100.{number}, 192.0.2.1") for number in range(21)]
        assert made_up == [400] * 20 + [429]
        assert knock(proxied, "192.0.2.2") == 400

    def test_without_a_proxy_nobody_makes_an_address_up(self, server: Server) -> None:
        made_up = [knock(server, f"192.0.2.{number}") for number in range(21)]
        assert made_up == [400] * 20 + [429]


def knock(server: Server, forwarded_for: str) -> int:
    """Try to sign in with something that costs it nothing to refuse."""
    window = window_of(server)
    token = find_token(window.open("/sign-up"))
    return window.send("/sign-up", {"form_token": token}, X_Forwarded_For=forwarded_for).status


def test_what_a_callback_address_ends_in_is_not_written_down(
    alice: Window, database: Database
) -> None:
    url = "https://shop.example/callbacks?token=very-secret"
    assert alice.do("/integrations", "set-callback", url=url, format="").status == 200
    assert alice.do("/integrations", "clear-callback").status == 303

    with database.reading() as db:
        entries = list_audit(db, limit=10)
    assert [entry.subject for entry in entries] == ["https://shop.example/callbacks"] * 2
