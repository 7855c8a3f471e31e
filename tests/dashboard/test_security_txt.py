"""Whoever finds a vulnerability learns where to report it, if the operator says so."""

from pathlib import Path

import pytest

from printworks.settings import BadSetting, Settings
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import MovableClock

PATH = "/.well-known/security.txt"


def ask(folder: Path, **given: str) -> tuple[int, str, str]:
    named = {f"PRINTWORKS_{name.upper()}": value for name, value in given.items()}
    server = Server(build_app(Settings.load(folder, named), MovableClock()))
    try:
        answer = Client(server, "", {}).get(PATH)
    finally:
        server.close()
    return answer.status, answer.headers["content-type"], answer.body.decode()


def test_it_names_the_contact_and_the_day_until_it_can_be_relied_upon(tmp_path: Path) -> None:
    status, media_type, text = ask(
        tmp_path,
        security_contact="mailto:security@print.example",
        public_url="https://print.example",
    )

    lines = dict(line.split(": ", 1) for line in text.splitlines())
    assert (status, media_type) == (200, "text/plain; charset=utf-8")
    assert lines.pop("Expires").endswith("T00:00:00Z")
    assert lines == {
        "Contact": "mailto:security@print.example",
        "Preferred-Languages": "en",
        "Canonical": f"https://print.example{PATH}",
    }


def test_without_a_contact_there_is_none(tmp_path: Path) -> None:
    assert ask(tmp_path)[0] == 404


@pytest.mark.parametrize("contact", ["security@print.example", "http://a", "mailto:a@b\nX: y", "x"])
def test_a_contact_must_be_an_address(tmp_path: Path, contact: str) -> None:
    with pytest.raises(BadSetting, match="security_contact"):
        Settings.load(tmp_path, {"PRINTWORKS_SECURITY_CONTACT": contact})
