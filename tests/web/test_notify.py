"""What systemd is told."""

import socket
from pathlib import Path

import pytest

from printworks.web.notify import notify_ready


@pytest.mark.parametrize("is_abstract", [False, True], ids=["file", "abstract"])
def test_systemd_hears_that_the_service_has_started(
    is_abstract: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = f"@{tmp_path}/notify" if is_abstract else f"{tmp_path}/notify"
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(address.replace("@", "\0"))
        systemd.settimeout(30)

        notify_ready()

        assert systemd.recv(100) == b"READY=1"


@pytest.mark.parametrize("address", ["", "/nowhere/at/all"])
def test_without_systemd_nothing_happens(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)

    notify_ready()
