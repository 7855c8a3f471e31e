"""`printworks probe`: a question to the web process, for those who watch it."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.cli.program import run


@contextmanager
def a_service(listening: socket.socket, answer: bytes) -> Iterator[None]:
    """Answer one request with what is given."""

    def serve() -> None:
        with listening.accept()[0] as connection:
            connection.recv(4096)
            connection.sendall(answer)

    with listening:
        thread = threading.Thread(target=serve)
        thread.start()
        yield
        thread.join()


@pytest.mark.parametrize(
    ("status", "code", "said"), [(b"200 OK", 0, "200 fine"), (b"503 No", 1, "503 fine")]
)
@pytest.mark.parametrize("kind", ["unix", "tcp"])
def test_it_says_what_the_service_says(
    kind: str, status: bytes, code: int, said: str, tmp_path: Path
) -> None:
    if kind == "unix":
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(str(tmp_path / "web.sock"))
        listening.listen()
        address = "unix:web.sock"
    else:
        listening = socket.create_server(("127.0.0.1", 0))
        address = f"127.0.0.1:{listening.getsockname()[1]}"
    with a_service(listening, b"HTTP/1.1 " + status + b"\r\nContent-Length: 4\r\n\r\nfine"):
        ended = run("probe", "/readyz", "--data", tmp_path, behind_proxy=address)

    assert (ended.code, ended.said.strip()) == (code, said)


@pytest.mark.parametrize("address", ["unix:nothing.sock", "127.0.0.1:1", ""])
def test_a_service_that_is_not_there_is_not_well(address: str, tmp_path: Path) -> None:
    ended = run("probe", "--json", "--data", tmp_path, behind_proxy=address, port="1")

    assert ended.code == 1
    assert json.loads(ended.said)["ok"] is False
