"""What holds for every page: its headers, its design, and what it does with bad requests."""

import re

import msgspec
import pytest

from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock
from tests.dashboard.visits import words_of


def style_of(browser: Client) -> str:
    """Return where a page says that its design is."""
    [address] = re.findall(rb'rel="stylesheet" href="([^"]+)"', browser.get("/").body)
    return str(address.decode())


@pytest.mark.parametrize("path", ["/", "/pay/nobody", "/payments/nobody", "/bank/nobody", "/none"])
def test_a_page_runs_nothing_loads_nothing_strange_and_is_not_kept(
    browser: Client, path: str
) -> None:
    page = browser.get(path)

    policy = page.headers["content-security-policy"].split("; ")
    assert policy == [
        "default-src 'none'",
        "style-src 'self'",
        "img-src 'self' data:",
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    ]
    assert page.headers["referrer-policy"] == "no-referrer"
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["x-content-type-options"] == "nosniff"
    assert b"<script" not in page.body
    assert b"style=" not in page.body


def test_the_design_may_be_kept_for_ever(browser: Client) -> None:
    style = browser.get(style_of(browser))

    assert style.status == 200
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert style.headers["cache-control"] == "public, max-age=31536000, immutable"


def test_a_page_of_another_version_gets_a_design_that_it_does_not_keep(browser: Client) -> None:
    address = re.sub("-[0-9a-f]{16}", "-0123456789abcdef", style_of(browser))

    style = browser.get(address)

    assert style.status == 200
    assert style.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("path", ["/assets/none-0123456789abcdef.css", "/none", "/pay", "/assets"])
def test_what_does_not_exist_is_a_page_that_says_so(browser: Client, path: str) -> None:
    page = browser.get(path)

    assert page.status == 404
    assert "There is nothing at this address." in words_of(page)


@pytest.mark.parametrize("path", ["/pay/", "/payments/", "/bank/"])
@pytest.mark.parametrize("key", ["nobody", "%00", "\N{SNOWMAN}", "a" * 5000, "..", "' OR 1=1"])
def test_nobody_guesses_a_page(browser: Client, path: str, key: str) -> None:
    page = browser.get(f"{path}{key}")

    assert page.status == 404
    assert "ask the shop for a new one" in words_of(page)


def test_a_form_that_is_too_large_is_refused(browser: Client) -> None:
    page = browser.request("POST", "/pay/nobody", b"x" * 1_000_001)

    assert page.status == 413
    assert "The form is too large." in words_of(page)


def test_a_form_with_too_many_fields_is_refused(browser: Client) -> None:
    page = browser.request("POST", "/pay/nobody", b"a=1&" * 1000)

    assert page.status == 400


def test_a_live_service_has_no_simulated_bank(
    database: Database, settings: Settings, clock: MovableClock
) -> None:
    url = database.url.render_as_string(hide_password=False)
    live = msgspec.structs.replace(
        settings, environment="live", payments="account", database_url=url
    )
    server = Server(build_app(live, clock))

    page = Client(server, "", {}).get("/bank/nobody")

    server.close()
    assert page.status == 404
    assert "There is nothing at this address." in words_of(page)
