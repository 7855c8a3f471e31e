"""`printworks serve`: one command runs everything, and stops it cleanly."""

import http.client
import json
import os
import re
import shlex
import shutil
import signal
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.cli.program import run, started
from tests.commands import run_here
from tests.factories import KEY_FILE
from tests.running import Service, find_free_port
from tests.worker.hosts import wait_until

pytestmark = pytest.mark.slow

CONSOLE = re.compile(r"^  Console +(\S+)  \(first operator\)$", re.MULTILINE)


def read_screen(service: Service) -> dict[str, str]:
    """Return what the welcome says, by its labels."""
    found = re.findall(r"^  (\S+(?: \S+)?) +(\S+)$", service.log.read_text(), re.MULTILINE)
    return dict(found)


def read_curl(service: Service) -> str:
    """Return the command line that the welcome offers."""
    [line] = [line for line in service.log.read_text().splitlines() if line.startswith("curl ")]
    return line


@dataclass(frozen=True)
class Start:
    """What one start of a service put on the screen."""

    shown: Mapping[str, str]
    console: str
    status: int
    page: bytes


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service for all that leave it running."""
    with started(tmp_path_factory.mktemp("service") / "data", by_itself=True) as service:
        yield service


@pytest.fixture(scope="module")
def live(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A live service behind a proxy, for all that leave it running."""
    with started(
        tmp_path_factory.mktemp("live") / "data",
        environment="live",
        behind_proxy="unix:web.sock",
        public_url="https://print.example",
        payments="account",
    ) as service:
        yield service


@pytest.fixture
def migrated(tmp_path: Path, sqlite_url: str) -> Path:
    """A data folder with a database, so that a start need not make one."""
    folder = tmp_path / "data"
    folder.mkdir(mode=0o700)
    shutil.copy(KEY_FILE, folder)
    shutil.copy(sqlite_url.removeprefix("sqlite:///"), folder)
    return folder


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a service that is started three times."""
    return tmp_path_factory.mktemp("starts") / "data"


class Starts(NamedTuple):
    """Three starts on one folder; before the third, the demo merchant's key was rotated."""

    first: Start
    second: Start
    rotated_key: str
    third: Start


@pytest.fixture(scope="module")
def starts(data: Path) -> Starts:
    """A service that was started and stopped three times."""
    first, second = read_start(data), read_start(data)
    said = run("key", "rotate", first.shown["Merchant ID"], "--json", "--data", data).said
    return Starts(first, second, json.loads(said)["apiKey"], read_start(data))


def read_start(data: Path) -> Start:
    """Start a service, look at its screen and at the page for the first operator, and stop it."""
    with started(data) as service:
        [console] = CONSOLE.findall(service.log.read_text())
        with service.client() as client:
            page = client.send("GET", console.partition(str(service.port))[2])
        return Start(read_screen(service), console, page.status, page.body)


def test_the_welcome_shows_addresses_and_credentials_that_work(service: Service) -> None:
    shown = read_screen(service)
    words = shlex.split(read_curl(service))

    headers = dict(words[i + 1].split(": ") for i, word in enumerate(words) if word == "-H")
    with service.client() as client:
        answer = client.send("GET", "/v3.0/orders", headers=headers)

    assert answer.status == 200
    assert shown["API"] == f"https://localhost:{service.port}/v3.0"
    assert shown["Dashboard"] == f"https://localhost:{service.port}/"
    assert shown["Merchant ID"] == headers["X-Service-MerchantId"]
    assert shown["API key"] == headers["X-Service-REST-API-Key"]
    assert words[words.index("--cacert") + 1] == shown["CA file"]
    assert words[-1] == f"{shown['API']}/orders"


def test_the_first_operator_comes_in_by_the_link_on_the_screen(starts: Starts) -> None:
    first, second, *_ = starts

    assert first.status == 200
    assert b"operator@example.com" in first.page
    # Nobody has come in yet, so there is another one.
    assert second.console != first.console


def test_the_demo_merchant_is_the_same_at_the_next_start(starts: Starts, data: Path) -> None:
    first, second, *_ = starts

    assert second.shown["Merchant ID"] == first.shown["Merchant ID"]
    assert second.shown["API key"] == first.shown["API key"]
    assert (data / "demo-merchant.json").stat().st_mode & 0o777 == 0o600


def test_a_rotated_demo_key_is_shown_at_the_next_start(starts: Starts) -> None:
    assert starts.third.shown["Merchant ID"] == starts.second.shown["Merchant ID"]
    assert starts.third.shown["API key"] == starts.rotated_key


def test_a_live_service_has_no_demo_merchant(live: Service) -> None:
    assert "printworks merchant add NAME" in live.log.read_text()
    assert not (live.data / "demo-merchant.json").exists()


def test_a_second_serve_on_the_same_data_folder_is_refused(service: Service) -> None:
    ended = run("serve", "--data", service.data, port=str(find_free_port()))

    assert ended.code == 1
    assert ended.complained == (
        f"printworks: `printworks serve` is already running on {service.data}.\n"
    )


@pytest.mark.parametrize("command", ["serve", "web"])
def test_a_port_in_use_is_one_sentence(command: str, tmp_path: Path) -> None:
    port = find_free_port()
    with socket.create_server(("127.0.0.1", port)):
        ended = run(command, "--data", tmp_path, port=str(port))

    assert ended.code == 1
    assert ended.complained.startswith(
        f"printworks: Cannot listen on 127.0.0.1:{port}: Address already in use."
    )
    assert ended.complained.count("\n") == 1


@pytest.mark.parametrize("command", ["serve", "web"])
def test_an_address_that_is_given_wins_over_the_settings(command: str, tmp_path: Path) -> None:
    port = find_free_port()
    with socket.create_server(("127.0.0.2", port)):
        ended = run(
            command, "--host", "127.0.0.2", "--port", str(port), "--data", tmp_path, port="1"
        )

    assert ended.code == 1
    assert f"Cannot listen on 127.0.0.2:{port}: Address already in use." in ended.complained


@pytest.mark.parametrize(
    ("words", "settings", "reason", "code"),
    [
        (["--port", "many"], {}, "unable to parse string as an integer", 2),
        (["--port", "65536"], {}, "less than or equal to 65535", 2),
        (["--host", "a b"], {}, "PRINTWORKS_HOST must be a host name", 1),
        (["--port", "8444"], {"behind_proxy": "unix:web.sock"}, "`behind_proxy` is set", 2),
    ],
)
def test_an_address_that_cannot_be_listened_on_is_refused(
    words: list[str], settings: dict[str, str], reason: str, code: int, tmp_path: Path
) -> None:
    # It is refused before anything is begun that needs a process of its own.
    named = {f"PRINTWORKS_{name.upper()}": value for name, value in settings.items()}
    ended = run_here("web", *words, "--data", tmp_path, settings=named)

    assert ended.code == code
    assert reason in " ".join(ended.complained.replace("│", " ").split())


def test_plain_http_gets_no_answer(service: Service) -> None:
    plain = http.client.HTTPConnection("127.0.0.1", service.port, timeout=10)
    plain.request("GET", "/v3.0/orders")

    with pytest.raises((http.client.HTTPException, ConnectionError)):
        plain.getresponse()

    plain.close()


def test_headers_that_are_too_large_are_refused(service: Service) -> None:
    with service.client() as client:
        answer = client.send("GET", "/v3.0/orders", headers={"X-Much": "x" * 70_000})

    assert answer.status == 431


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_finishes_the_request_in_flight(migrated: Path, number: signal.Signals) -> None:
    with started(migrated) as service:
        merchant = service.add_merchant()
        with service.connect() as slow:
            begin_a_post(slow, {**merchant.headers, "Connection": "close"})
            service.process.send_signal(number)
            wait_until(lambda: not is_accepting(service))
            slow.sendall(b"{" + b" " * 98 + b"}")
            answer = b"".join(iter(lambda: slow.recv(4096), b""))

        code = service.process.wait(30)

    assert answer.startswith(b"HTTP/1.1 ")
    assert b'"statusCode"' in answer
    assert code == 0


def test_a_second_signal_kills(migrated: Path) -> None:
    with started(migrated) as service, service.connect() as slow:
        begin_a_post(slow, service.add_merchant().headers)
        service.process.send_signal(signal.SIGINT)
        wait_until(lambda: not is_accepting(service))
        service.process.send_signal(signal.SIGINT)

        code = service.process.wait(5)

    assert code == 1


def test_the_worker_follows_once_the_service_answers(service: Service) -> None:
    supervisor = service.process.pid
    children = Path(f"/proc/{supervisor}/task/{supervisor}/children")

    # The parent of the web processes, and the worker.
    wait_until(lambda: len(children.read_text().split()) == 2)


def test_a_web_process_that_was_killed_is_started_again(service: Service) -> None:
    before = service.find_web_processes()

    os.kill(before[0], signal.SIGKILL)

    wait_until(lambda: len(set(service.find_web_processes()) - {before[0]}) == len(before))
    with service.client() as client:
        assert client.get("/v3.0/countries").status == 401


def test_processes_end_with_a_supervisor_that_was_killed(migrated: Path) -> None:
    with started(migrated) as service:
        service.process.kill()

        wait_until(lambda: not is_accepting(service))

        ended = run("doctor", "--data", migrated)
    assert ended.code == 0


def test_a_process_that_cannot_start_ends_the_service(tmp_path: Path) -> None:
    script = f"""
import os, sys
from pathlib import Path
from printworks.cli.supervisor import Supervisor
from printworks.settings import Settings

settings = Settings.load(Path({str(tmp_path)!r}), {{"PRINTWORKS_PORT": "{find_free_port()}"}})
sys.exit(Supervisor(settings, {{"web": lambda _: os._exit(3)}}, when_ready=print).run())
"""

    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)

    assert ended.returncode == 1
    assert ended.stdout.count("process ended") == 5
    assert "printworks: The web process ended 5 times soon after its start" in ended.stderr


def test_behind_a_proxy_it_speaks_plain_http_on_a_unix_socket(live: Service) -> None:
    with socket.socket(socket.AF_UNIX) as proxy:
        proxy.connect(str(live.data / "web.sock"))
        proxy.sendall(b"GET /v3.0/orders HTTP/1.1\r\nHost: print.example\r\n\r\n")
        answer = proxy.recv(4096)
        shown = read_screen(live)

    assert answer.startswith(b"HTTP/1.1 401 ")
    assert shown["API"] == "https://print.example/v3.0"
    assert "CA file" not in shown
    assert not (live.data / "tls").exists()


def begin_a_post(connection: ssl.SSLSocket, headers: Mapping[str, str]) -> None:
    """Send a request but for its body of a hundred bytes, and wait until the service asks for it."""
    named = {
        "Host": "localhost",
        "Content-Type": "application/json",
        "Content-Length": "100",
        "Expect": "100-continue",
        **headers,
    }
    lines = ["POST /v3.0/orders HTTP/1.1", *(f"{name}: {value}" for name, value in named.items())]
    connection.sendall("\r\n".join([*lines, "", ""]).encode())
    assert connection.recv(4096).startswith(b"HTTP/1.1 100 ")


def is_accepting(service: Service) -> bool:
    """Say whether a new connection is answered."""
    try:
        service.connect().close()
    except OSError:
        return False
    return True


def test_a_sandbox_database_cannot_become_a_live_one(tmp_path: Path) -> None:
    assert run("merchant", "add", "Alice", "--data", tmp_path).code == 0

    ended = run(
        "merchant",
        "list",
        "--data",
        tmp_path,
        environment="live",
        public_url="https://p.example",
        payments="account",
    )

    assert ended.code == 1
    assert "begun as sandbox" in ended.complained
