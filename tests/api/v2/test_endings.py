"""How the older versions say that they are old, and what remains when an operator ends them."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from printworks.settings import BadSetting, Settings
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock, sign_up
from tests.api.v2.shop import an_order, create

Open = Callable[..., Client]


@pytest.fixture
def open_with(
    database: Database, tmp_path: Path, clock: MovableClock, version: str
) -> Iterator[Open]:
    """Start services with other settings; Alice uses them."""
    servers = []

    def open_one(**given: str) -> Client:
        settings = msgspec.structs.replace(
            Settings.load(tmp_path, given),
            database_url=database.url.render_as_string(hide_password=False),
        )
        servers.append(Server(build_app(settings, clock)))
        alice = sign_up(servers[-1], database, "Alice")
        return replace(alice, prefix=f"/v{version}")

    yield open_one
    for server in servers:
        server.close()


@pytest.mark.parametrize("path", ["/Orders", "/Orders/999", "/Nothing", "/Country"])
def test_every_answer_names_the_successor(v2: Client, stranger: Client, path: str) -> None:
    for client in (v2, stranger):
        headers = client.get(path).headers

        assert headers["deprecation"] == "@1767225600"
        assert headers["link"] == '</v3.0>; rel="successor-version"'
        assert "sunset" not in headers


def test_the_current_version_is_not_deprecated(v3: Client) -> None:
    headers = v3.get("/orders").headers

    assert not {"deprecation", "link", "sunset"} & set(headers)


def test_an_operator_can_say_when_they_end(open_with: Open) -> None:
    alice = open_with(PRINTWORKS_SUNSET="2027-12-31")

    assert alice.get("/Orders").headers["sunset"] == "Fri, 31 Dec 2027 00:00:00 GMT"
    assert "sunset" not in replace(alice, prefix="/v3.0").get("/orders").headers


def test_a_version_that_is_switched_off_names_its_successor(open_with: Open, version: str) -> None:
    alice = open_with(PRINTWORKS_VERSIONS_OFF=version)

    for answer in (
        alice.get("/Orders"),
        alice.post("/Orders", an_order()),
        alice.get("/Nothing"),
        alice.get("/docs"),
        replace(alice, credentials={}).get("/Country"),
    ):
        assert answer.status == 410
        assert answer.error == (
            f"Version {version} has been switched off; use version 3.0, "
            "which is described at /v3.0/docs."
        )
        assert answer.headers["link"] == '</v3.0>; rel="successor-version"'
    assert alice.get("/Orders/1").json()["qualityLevel"] is None


def test_the_others_go_on(open_with: Open, version: str) -> None:
    others = {"2.3", "2.5", "2.6"} - {version}
    alice = open_with(PRINTWORKS_VERSIONS_OFF=", ".join(others))

    assert create(alice)
    assert replace(alice, prefix="/v3.0").get("/orders").status == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [("SUNSET", "some day"), ("VERSIONS_OFF", "3.0"), ("VERSIONS_OFF", "2.3;2.5")],
)
def test_a_wrong_setting_is_refused(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(BadSetting, match=f"`{name.lower()}`"):
        Settings.load(tmp_path, {f"PRINTWORKS_{name}": value})
