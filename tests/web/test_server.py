"""Web processes listen where the settings say, and say in a sentence why they cannot."""

import socket
import stat
from pathlib import Path

import pytest

from printworks.web import server
from printworks.web.server import AddressUnusable, ListenAddress, open_socket


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ListenAddress:
    """A unix socket; nobody waits for those who were killed."""
    monkeypatch.setattr(server, "SECONDS_TO_NOTICE", 0.0)
    return ListenAddress(tmp_path / "printworks.sock", "", 0)


def test_a_socket_is_for_its_owner_and_group_alone(address: ListenAddress) -> None:
    assert address.socket is not None
    with server._hold(address), open_socket(address):
        assert stat.S_IMODE(address.socket.stat().st_mode) == 0o660

    assert not address.socket.exists()


def test_a_second_process_is_refused_in_a_sentence(address: ListenAddress) -> None:
    # Before it listens, too: a socket that nobody listens on looks like a left-over one.
    with server._hold(address):
        with pytest.raises(AddressUnusable, match="sock: it is in use"), server._hold(address):
            pass
        with open_socket(address):
            with pytest.raises(AddressUnusable, match="sock: it is in use"), server._hold(address):
                pass
            with pytest.raises(AddressUnusable, match="Address already in use"):
                open_socket(address)


def test_the_socket_of_a_process_that_was_killed_is_used_again(address: ListenAddress) -> None:
    open_socket(address).close()

    with server._hold(address), open_socket(address), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(address.socket))


def test_a_file_in_the_way_is_left_alone(address: ListenAddress) -> None:
    assert address.socket is not None
    address.socket.write_text("mine")

    with pytest.raises(AddressUnusable, match="in use"), server._hold(address):
        pass

    assert address.socket.read_text() == "mine"


def test_a_folder_that_is_missing_is_named(tmp_path: Path) -> None:
    missing = ListenAddress(tmp_path / "none" / "printworks.sock", "", 0)

    with pytest.raises(AddressUnusable, match=r"none/printworks\.sock: No such file"):
        server._hold(missing).__enter__()


def test_a_port_in_use_is_refused_in_a_sentence() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = ListenAddress(None, "127.0.0.1", other.getsockname()[1])

        with (
            server._hold(taken),
            pytest.raises(AddressUnusable, match=f":{taken.port}: Address already in use"),
        ):
            open_socket(taken)
