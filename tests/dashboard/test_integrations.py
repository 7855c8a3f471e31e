"""Where callbacks go, how they are signed, how the telling went, and telling it again."""

import html
import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from printworks.actions.callbacks import open_secrets, rotate_secret, settle_challenge
from printworks.actions.services import Services
from printworks.dashboard.merchant.integrations import integrations
from printworks.dashboard.merchant.integrations.integrations import VERIFY
from printworks.rules.callbacks import AddressRules
from printworks.rules.events import CallbackState
from printworks.settings import Settings
from printworks.store.callbacks import log as callback_log
from printworks.store.callbacks.callbacks import list_callbacks, list_tests
from printworks.store.callbacks.settings import CallbackSettings, read_callback_settings
from printworks.store.engine.database import Database
from printworks.wire.signatures import sign
from tests.api.conftest import MovableClock
from tests.api.images import create
from tests.api.production import set_status
from tests.dashboard.telling import URL, did, last_callback, listen, see_merchant, try_once
from tests.dashboard.visits import words_of
from tests.dashboard.windows import PASSWORD, Window
from tests.factories import NOON, VAULT, a_work
from tests.running import Answer

SECRET = re.compile(r"whsec_[A-Za-z0-9+/=]{20,}")
HOSTILE = "<script>alert('x')</script>"


def settings_of(database: Database, window: Window) -> CallbackSettings:
    """Return where callbacks go."""
    with database.reading() as db:
        return read_callback_settings(db, see_merchant(database, window).id)


def opened(database: Database, window: Window) -> list[str]:
    """Return the secrets that callbacks are signed with, the newest first."""
    stored = settings_of(database, window).secrets
    return open_secrets(VAULT, see_merchant(database, window).id, stored, NOON)


def secret_of(page: Answer) -> str:
    """Return the secret that a page shows."""
    [secret] = SECRET.findall(html.unescape(page.body.decode()))
    return str(secret)


class TestAddress:
    @pytest.mark.both_databases
    def test_the_first_one_comes_with_a_secret_that_is_shown_once(
        self, alice: Window, database: Database
    ) -> None:
        page = alice.do("/integrations", "set-callback", url=URL, format="2.3")

        settings = settings_of(database, alice)
        assert (settings.url, settings.format) == (URL, "2.3")
        secret = secret_of(page)
        assert opened(database, alice) == [secret]
        later = alice.open("/integrations")
        assert SECRET.findall(html.unescape(later.body.decode())) == []
        assert f"…{secret[-4:]}" in words_of(later)
        assert html.escape(URL) in later.body.decode()
        assert did(database) == [("set-callback", URL.partition("?")[0])]

    def test_another_one_keeps_the_secret_and_none_stops_it(
        self, alice: Window, database: Database
    ) -> None:
        listen(database, alice)
        secrets = settings_of(database, alice).secrets
        other = "https://elsewhere.example/"

        moved = alice.follow(alice.do("/integrations", "set-callback", url=other, format=""))
        assert "The callback address was saved." in moved
        assert settings_of(database, alice) == CallbackSettings(other, None, secrets)

        cleared = alice.follow(alice.do("/integrations", "clear-callback", url=other))
        assert "Callbacks are off." in cleared
        assert settings_of(database, alice) == CallbackSettings(None, None, secrets)
        assert did(database) == [("set-callback", other), ("clear-callback", other)]

    def test_one_that_can_never_be_reached_is_refused_with_the_reason(
        self, alice: Window, database: Database
    ) -> None:
        expected = {
            "": "Enter an address",
            "ftp://shop.example/": "must begin with http:// or https://",
            "https://user:word@shop.example/": "no user name and no password",
            "http://127.0.0.1/cb": "The address is not public",
            "https://10.1.2.3/": "The address is not public",
            "https://[::1]/": "The address is that of this service itself",
            "https://[::ffff:10.0.0.1]/": "The address is not public",
            "http://169.254.169.254/latest": "The address is not public",
            "http://LOCALHOST./cb": "The address is not public",
            "http://shop.localhost:3000/": "The address is not public",
            "https://shop.example:8443/": "must be 80 or 443",
            "https://93.184.215.14:8443/": "must be 80 or 443",
            f"https://{HOSTILE}/": "The address",
        }
        for url, reason in expected.items():
            page = alice.do("/integrations", "set-callback", url=url, format="3.0")
            assert page.status == 400, url
            assert reason in words_of(page), url
            assert f'value="{html.escape(url)}"'.replace("&#x27;", "&#39;") in page.body.decode()
            assert HOSTILE not in page.body.decode()
        wrong = alice.do("/integrations", "set-callback", url=URL, format="9.9")
        assert "Choose one of the formats." in words_of(wrong)
        assert settings_of(database, alice) == CallbackSettings(None, None, [])
        assert did(database) == []

    def test_the_password_is_asked_for_once_more(
        self, alice: Window, database: Database, clock: MovableClock
    ) -> None:
        listen(database, alice)
        before = settings_of(database, alice)
        clock.advance(minutes=10)
        for form_action in ("set-callback", "clear-callback", "rotate-callback-secret"):
            page = alice.do("/integrations", form_action, url="https://new.example/")
            assert page.status == 403, form_action
            assert SECRET.findall(page.body.decode()) == []
        assert settings_of(database, alice) == before

        proved = alice.do("/integrations", "clear-callback", current_password=PASSWORD)
        assert proved.status == 303
        assert settings_of(database, alice).url is None


class TestSecret:
    @pytest.mark.both_databases
    def test_a_new_one_is_shown_once_and_the_last_one_works_for_a_day(
        self, alice: Window, database: Database, clock: MovableClock
    ) -> None:
        listen(database, alice)
        [old] = opened(database, alice)

        page = alice.do("/integrations", "rotate-callback-secret")

        new = secret_of(page)
        assert opened(database, alice) == [new, old]
        assert new not in html.unescape(alice.open("/integrations").body.decode())
        words = alice.words("/integrations")
        assert f"In use whsec_…{new[-4:]}" in words
        assert f"Previous whsec_…{old[-4:]} until" in words
        clock.advance(days=1)
        assert "Previous" not in alice.words("/integrations")
        assert did(database) == [("rotate-callback-secret", f"…{new[-4:]}")]

    def test_the_example_recognises_what_was_signed_with_either(
        self, alice: Window, database: Database
    ) -> None:
        listen(database, alice)
        with database.writing() as db:
            rotate_secret(a_work(db, see_merchant(database, alice), now=NOON))
        secrets = opened(database, alice)
        shown = re.search(
            r"Example in Python\">(.*?)</pre>", alice.open("/integrations").body.decode(), re.DOTALL
        )
        assert shown is not None
        assert html.unescape(shown[1]) == VERIFY
        scope: dict[str, Any] = {}
        exec(html.unescape(shown[1]), scope)
        scope["time"] = type("Time", (), {"time": staticmethod(NOON.timestamp)})
        headers = sign(b"{}", message_id="msg_1", at=NOON, secrets=secrets)

        assert [scope["is_genuine"](one, headers, b"{}") for one in secrets] == [True, True]
        assert not scope["is_genuine"](secrets[0], headers, b"{ }")
        assert not scope["is_genuine"]("whsec_" + "A" * 44, headers, b"{}")
        late = NOON + timedelta(minutes=6)
        scope["time"] = type("Time", (), {"time": staticmethod(late.timestamp)})
        assert not scope["is_genuine"](secrets[0], headers, b"{}")


class TestTestMessage:
    @pytest.mark.both_databases
    def test_what_came_of_it_is_shown_as_soon_as_it_is_known(
        self, alice: Window, database: Database
    ) -> None:
        listen(database, alice)
        page = alice.follow(alice.do("/integrations", "test-callback"))
        assert "The test callback is being sent." in page
        with database.reading() as db:
            [test] = list_tests(db, see_merchant(database, alice).id, limit=10)

        body = alice.open("/integrations").body.decode()
        [again] = re.findall(r'hx-get="([^"]*seen=[^"]*)"', body)
        assert alice.open(html.unescape(again), HX_Request="true").status == 204
        try_once(database, test.id, 503, CallbackState.FAILED)
        news = alice.open(html.unescape(again), HX_Request="true")

        assert "Your receiver responded with 503 Service Unavailable." in words_of(news)
        assert did(database) == [("test-callback", f"callback {test.id}")]
        one = alice.words(f"/integrations/callbacks/{test.id}")
        assert "Test callback Failed" in one
        assert '"merchantOrderId": "test"' in one

    def test_without_an_address_there_is_nobody_to_ask(
        self, alice: Window, database: Database
    ) -> None:
        for form_action in ("test-callback", "replay-callbacks"):
            page = alice.do("/integrations", form_action, since="2020-01-01T00:00")
            assert page.status == 400
            assert "There is no callback address; set one first." in words_of(page)
        assert did(database) == []


@pytest.mark.both_databases
class TestDeliveries:
    def test_each_can_be_found_by_its_state_and_sent_again(
        self, alice: Window, database: Database
    ) -> None:
        create(alice.api, merchantOrderId="quiet")
        listen(database, alice)
        ends = {
            "heard": (200, CallbackState.DELIVERED),
            "deaf": (500, CallbackState.FAILED),
            "slow": (None, CallbackState.PENDING),
        }
        for reference, (status, state) in ends.items():
            create(alice.api, merchantOrderId=reference)
            error = None if status else "It took too long."
            try_once(database, last_callback(database, alice), status, state, error=error)

        everything = alice.words("/integrations")
        found = re.findall(" (quiet|heard|deaf|slow) ", everything)
        assert found == ["slow", "deaf", "heard", "quiet"]
        assert "500 Internal Server Error 1" in everything
        assert "No answer 1" in everything
        for name, reference in (("waiting", "slow"), ("delivered", "heard"), ("given-up", "deaf")):
            only = alice.words(f"/integrations?state={name}")
            assert [one for one in ("quiet", *ends) if f" {one} " in only] == [reference]

        with database.reading() as db:
            [deaf] = list_callbacks(db, see_merchant(database, alice).id, is_failed=True, limit=9)
        answer = alice.do(
            "/integrations?state=given-up", "send-callback-again", callback=str(deaf.id)
        )
        assert answer.headers["location"].startswith("/integrations?state=given-up")
        assert "The callback is being resent." in alice.follow(answer)
        assert "No failed callbacks" in alice.words("/integrations?state=given-up")
        assert did(database) == [("send-callback-again", f"callback {deaf.id}")]

    def test_the_list_is_paged_and_a_filter_looks_through_so_many_only(
        self, alice: Window, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(integrations, "_ROWS", 2)
        monkeypatch.setattr(callback_log, "MOST_FILTERED", 3)
        listen(database, alice)
        orders = [create(alice.api) for _ in range(4)]
        try_once(database, last_callback(database, alice) - 3, 200, CallbackState.DELIVERED)

        def see(address: str) -> tuple[list[int], str | None]:
            body = alice.open(address).body.decode()
            older = re.search(r'href="([^"#]+)[^"]*" rel="next"', body)
            found = [int(number) for number in re.findall(r'href="/orders/(\d+)"', body)]
            return found, older and html.unescape(older[1])

        first, older = see("/integrations")
        assert older is not None
        assert (first, see(older)) == (orders[:1:-1], (orders[1::-1], None))
        none, older = see("/integrations?state=delivered")
        assert older is not None
        assert (none, see(older)) == ([], (orders[:1], None))

    def test_somebody_elses_is_not_there(
        self, alice: Window, bob: Window, database: Database
    ) -> None:
        listen(database, alice)
        listen(database, bob)
        create(alice.api, merchantOrderId="hers alone")
        callback = last_callback(database, alice)

        assert "hers alone" not in bob.words("/integrations")
        for callback_id in (callback, 999_999, 2**70, "x"):
            assert bob.open(f"/integrations/callbacks/{callback_id}").status == 404
            sent = bob.do("/integrations", "send-callback-again", callback=str(callback_id))
            assert sent.status == 404
            token = bob.token("/integrations")
            fields = {"form_token": token, "do": "send-this-callback-again"}
            assert bob.send(f"/integrations/callbacks/{callback_id}", fields).status == 404
        assert did(database) == []


@pytest.mark.both_databases
class TestReplay:
    def test_everything_since_a_moment_is_sent_again_and_counted(
        self, alice: Window, database: Database, clock: MovableClock
    ) -> None:
        listen(database, alice)
        create(alice.api)
        try_once(database, last_callback(database, alice), 200, CallbackState.DELIVERED)
        clock.advance(hours=1)
        order = create(alice.api)
        set_status(alice.api, order, "Cancelled")

        for since, said in (
            (NOON, "3 callbacks are on their way."),
            (NOON + timedelta(hours=1), "2 callbacks are on their way."),
            (NOON + timedelta(hours=2), "No callbacks to send"),
        ):
            timestamp = since.strftime("%Y-%m-%dT%H:%M")
            answer = alice.do("/integrations", "replay-callbacks", since=timestamp)
            assert said in alice.follow(answer)
        replays = [one for one in did(database) if one[0] == "replay-callbacks"]
        assert len(replays) == 3
        assert "No delivered callbacks yet" in alice.words("/integrations?state=delivered")

    def test_what_is_too_much_at_once_can_be_gone_on_with(
        self, alice: Window, database: Database, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(integrations, "_REPLAYED_PAGES", 2)
        monkeypatch.setattr("printworks.actions.callbacks.REPLAY_PAGE", 1)
        listen(database, alice)
        for _ in range(3):
            create(alice.api)

        answer = alice.do("/integrations", "replay-callbacks", since="2020-01-01T00:00")
        assert "2 callbacks are on their way. There are more" in alice.follow(answer)
        page = alice.open(answer.headers["location"]).body.decode()
        [number] = re.findall(r'name="next_number" value="(\d+)"', page)
        rest = alice.do("/integrations", "replay-callbacks", next_number=number)
        assert "1 callback is on its way." in alice.follow(rest)

    @pytest.mark.parametrize("since", ["", "yesterday", "0001-01-01T00:00", "9999-12-31T23:59"])
    def test_a_moment_that_cannot_be_is_refused(
        self, alice: Window, database: Database, since: str
    ) -> None:
        listen(database, alice)
        page = alice.do("/integrations", "replay-callbacks", since=since)
        assert page.status == 400
        assert "Enter a date and time, such as 2026-11-15T12:00." in words_of(page)


class TestChallenge:
    @pytest.fixture
    def settings(self, tmp_path: Path) -> Settings:
        """A sandbox that challenges new addresses, as a live service does."""
        given = {
            "PRINTWORKS_PUBLIC_URL": "https://print.example",
            "PRINTWORKS_CALLBACK_CHALLENGE": "always",
        }
        return Settings.load(tmp_path, given)

    @pytest.mark.both_databases
    def test_the_page_says_what_a_new_address_waits_for(
        self, alice: Window, database: Database
    ) -> None:
        page = alice.do("/integrations", "set-callback", url=URL, format="")

        assert secret_of(page)
        assert settings_of(database, alice).url is None
        words = alice.words("/integrations")
        assert "The new address is not used yet" in words
        assert f"We sent a challenge to {URL}" in words
        assert "Waiting" in words

        with database.writing() as db:
            work = a_work(db, see_merchant(database, alice))
            since = read_callback_settings(db, work.merchant.id).candidate
            assert since is not None
            settle_challenge(work, since.since.isoformat(), "It answered <b>404</b>.")
        assert "It answered <b>404</b>. It is challenged again soon." in alice.words(
            "/integrations"
        )

        alice.follow(alice.do("/integrations", "retry-callback-challenge"))
        assert "404" not in alice.words("/integrations")
        assert [action for action, _ in did(database)] == [
            "set-callback",
            "retry-callback-challenge",
        ]

    def test_without_one_that_waits_there_is_nothing_to_retry(self, alice: Window) -> None:
        assert alice.do("/integrations", "retry-callback-challenge").status == 400

    @pytest.mark.both_databases
    def test_an_operator_waives_it_on_the_page_of_the_merchant(
        self, alice: Window, operator: Window, database: Database
    ) -> None:
        alice.do("/integrations", "set-callback", url=URL, format="")
        page = f"/console/merchants/{alice.code}"
        assert "Being challenged" in operator.words(page)

        operator.follow(operator.do(page, "trust-callbacks"))

        assert settings_of(database, alice).url == URL
        assert "Challenge Waived" in operator.words(page)
        operator.follow(operator.do(page, "distrust-callbacks"))
        assert not settings_of(database, alice).is_trusted


def test_a_live_service_takes_https_and_a_setting_allows_http(tmp_path: Path) -> None:
    live = {
        "PRINTWORKS_ENVIRONMENT": "live",
        "PRINTWORKS_PUBLIC_URL": "https://print.example",
        "PRINTWORKS_PAYMENTS": "account",
    }
    more = {"PRINTWORKS_CALLBACKS_ALLOW_HTTP": "true", "PRINTWORKS_CALLBACK_CHALLENGE": "never"}

    def rules(**given: str) -> AddressRules:
        return Services(Settings.load(tmp_path, given)).address_rules

    assert rules() == AddressRules()
    assert rules(**live) == AddressRules(needs_https=True, needs_challenge=True)
    assert rules(**live, **more) == AddressRules()
    assert rules(PRINTWORKS_CALLBACK_CHALLENGE="always") == AddressRules(needs_challenge=True)
