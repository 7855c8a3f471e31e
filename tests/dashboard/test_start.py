"""The page at the root: where a newcomer's browser lands."""

import msgspec

from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.visits import words_of
from tests.dashboard.windows import Window


def test_a_newcomer_to_the_sandbox_is_led_to_an_account(browser: Client) -> None:
    page = browser.get("/")

    said = words_of(page)
    assert "nothing is printed and nothing is charged" in said
    for address in ("/sign-up", "/sign-in", "/v3.0/docs", "/console"):
        assert f'href="{address}"' in page.body.decode()
        assert browser.get(address).status in {200, 303}


def test_somebody_who_is_signed_in_is_led_to_their_orders(alice: Window) -> None:
    page = alice.open("/")

    assert "Go to your orders" in words_of(page)
    assert b'href="/sign-up"' not in page.body


def test_a_live_service_lets_nobody_sign_up(
    database: Database, settings: Settings, clock: MovableClock
) -> None:
    url = database.url.render_as_string(hide_password=False)
    live = msgspec.structs.replace(
        settings, environment="live", payments="account", database_url=url
    )
    server = Server(build_app(live, clock))

    page = Client(server, "", {}).get("/")

    server.close()
    assert "printed and charged" in words_of(page)
    assert "by invitation" in words_of(page)
    assert b'href="/sign-in"' in page.body
    assert b'href="/sign-up"' not in page.body
