"""The real program for tests that need one: started, asked over HTTPS, stopped."""

import http.client
import json
import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Final, Self

from tests import forks
from tests.commands import make_environment, run_here
from tests.factories import KEY_FILE, NO_LIMITS
from tests.programs import Program, start

HOST: Final = "127.0.0.1"
SECONDS_TO_START: Final = 90
SECONDS_TO_STOP: Final = 30


@dataclass(frozen=True)
class Answer:
    """What came back, read to its end."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Read the body as JSON."""
        return json.loads(self.body)

    @property
    def data(self) -> Any:
        """What a successful answer of 3.0 holds."""
        assert self.status == 200, self.body
        return self.json()["data"]

    @property
    def error(self) -> str:
        """What a refusal says."""
        return str(self.json()["errorMessage"])


@dataclass(frozen=True)
class Merchant:
    """Somebody who may ask."""

    id: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        """The headers that say so."""
        return {"X-Service-MerchantId": self.id, "X-Service-REST-API-Key": self.key}


class Client:
    """One connection that is kept open between requests; each thread needs its own."""

    def __init__(self, port: int, tls: ssl.SSLContext | None, headers: Mapping[str, str]) -> None:
        self.headers = dict(headers)
        self._connection = (
            http.client.HTTPSConnection(HOST, port, timeout=30, context=tls)
            if tls
            else http.client.HTTPConnection(HOST, port, timeout=30)
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def get(self, path: str, **headers: str) -> Answer:
        """Ask for a resource."""
        return self.send("GET", path, headers=headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        """Send a resource as JSON."""
        return self.send("POST", path, body, headers=headers)

    def put(self, path: str, body: Any, **headers: str) -> Answer:
        """Send a changed resource as JSON."""
        return self.send("PUT", path, body, headers=headers)

    def send(
        self, method: str, path: str, body: Any = None, *, headers: Mapping[str, str] | None = None
    ) -> Answer:
        """Send one request and read its answer; raise `OSError` or `HTTPException` if none comes.

        The connection is opened when needed and again after it broke.
        """
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        described = {} if content is None else {"Content-Type": "application/json"}
        try:
            self._connection.request(
                method, path, content, {**self.headers, **described, **(headers or {})}
            )
            answer = self._connection.getresponse()
            return Answer(answer.status, dict(answer.headers), answer.read())
        except (OSError, http.client.HTTPException):
            self._connection.close()
            raise

    def close(self) -> None:
        """Hang up."""
        self._connection.close()


@dataclass
class Service:
    """A running service."""

    data: Path
    port: int
    process: Program | subprocess.Popen[bytes]
    log: Path
    settings: Mapping[str, str] = field(repr=False)

    @cached_property
    def tls(self) -> ssl.SSLContext:
        """Trust the service's own authority and nobody else."""
        return ssl.create_default_context(cafile=self.data / "tls" / "ca.pem")

    def client(self, merchant: Merchant | None = None) -> Client:
        """Open a connection that says whose it is."""
        tls = None if "PRINTWORKS_BEHIND_PROXY" in self.settings else self.tls
        return Client(self.port, tls, merchant.headers if merchant else {})

    def add_merchant(self, name: str = "Somebody") -> Merchant:
        """Let the operator add a merchant while the service runs."""
        said = command("merchant", "add", name, "--json", data=self.data, settings=self.settings)
        added = json.loads(said)
        return Merchant(added["merchantId"], added["apiKey"])

    def connect(self) -> ssl.SSLSocket:
        """Open a bare TLS connection, for a client that does not behave."""
        return self.tls.wrap_socket(
            socket.create_connection((HOST, self.port), timeout=30), server_hostname=HOST
        )

    def find_web_processes(self) -> list[int]:
        """Return the processes that answer, the one that has run longest first.

        They share the listening socket and start nobody.
        """
        children = _map_children()
        found = [
            process
            for process in _list_family(self.process.pid, children)
            if process not in children and _listens(process, self.port)
        ]
        return sorted(found, key=_started_at)

    def find_workers(self) -> list[int]:
        """Return the process that does what was promised; nobody while it starts again."""
        children = _map_children()
        return [
            process
            for process in children.get(self.process.pid, [])
            if not any(_listens(each, self.port) for each in _list_family(process, children))
        ]

    def explain(self) -> str:
        """Return the end of what the program said, for the message of a failed test."""
        return self.log.read_text(errors="replace")[-4000:]


def command(*words: str, data: Path, settings: Mapping[str, str] | None = None) -> str:
    """Run an operator's command to its end and return what it printed."""
    ended = run_here(*words, "--data", data, settings=settings or {})
    assert ended.code == 0, f"{' '.join(words)}: {ended.said}{ended.complained}"
    return ended.said


@contextmanager
def running(data: Path, **settings: str) -> Iterator[Service]:
    """Run `printworks serve` with settings such as `body_timeout="2s"` until the block ends."""
    named = {f"PRINTWORKS_{name.upper()}": value for name, value in settings.items()}
    service = _start(data, find_free_port(), named)
    try:
        _wait_until_it_answers(service)
        yield service
    finally:
        _stop(service)


@contextmanager
def running_behind_proxy(data: Path, **settings: str) -> Iterator[Service]:
    """Run it as behind a proxy, without TLS: for tests with thousands of connections."""
    port = find_free_port()
    named = {f"PRINTWORKS_{name.upper()}": value for name, value in settings.items()}
    service = _start(data, port, {"PRINTWORKS_BEHIND_PROXY": f"{HOST}:{port}", **named})
    try:
        _wait_until_it_answers(service)
        yield service
    finally:
        _stop(service)


def _start(data: Path, port: int, settings: Mapping[str, str]) -> Service:
    settings = {
        "PRINTWORKS_PORT": str(port),
        "PRINTWORKS_WEB_PROCESSES": "1",
        **NO_LIMITS,
        **settings,
    }
    log = data.with_name(f"{data.name}.log")
    if "PRINTWORKS_DATABASE_URL" in settings:
        # A database of the tests has their key.
        data.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(KEY_FILE, data)
    with log.open("wb") as output:
        process = start("serve", "--data", data, env=make_environment(settings), output=output)
    return Service(data, port, process, log, settings)


def _wait_until_it_answers(service: Service) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    while not _answers(service):
        ended = service.process.poll()
        if ended is not None or time.monotonic() > deadline:
            message = f"The service does not answer (exit code {ended}):\n{service.explain()}"
            raise AssertionError(message)
        time.sleep(0.02)


def _answers(service: Service) -> bool:
    try:
        with service.client() as client:
            client.get("/v3.0/countries")
    except (OSError, http.client.HTTPException):
        return False
    return True


def _stop(service: Service) -> None:
    service.process.send_signal(signal.SIGTERM)
    try:
        code = service.process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired as error:
        with suppress(ProcessLookupError):
            os.killpg(service.process.pid, signal.SIGKILL)
        service.process.wait()
        message = f"The service did not stop:\n{service.explain()}"
        raise AssertionError(message) from error
    assert code == 0, f"The service ended with {code}:\n{service.explain()}"


def find_free_port() -> int:
    """Return a loopback port on which nothing listens.

    Below the range from which the kernel takes ports for outgoing connections, and in
    another part of it for each process of the tests: two services never get the same one.
    """
    slot = int(os.environ.get(forks.NUMBER, "0")) % 20
    chance = random.SystemRandom()
    while True:
        port = 20000 + 500 * slot + chance.randrange(500)
        with socket.socket() as probe, suppress(OSError):
            probe.bind((HOST, port))
            return port


def _map_children() -> dict[int, list[int]]:
    children: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # A process may end between the listing and the reading.
        with suppress(OSError):
            parent = int(_read_stat(folder)[1])
            children.setdefault(parent, []).append(int(folder.name))
    return children


def _list_family(process: int, children: Mapping[int, list[int]]) -> list[int]:
    """Return a process, those that it started, and those that they did."""
    family = [process]
    for each in family:
        family += children.get(each, [])
    return family


def _started_at(process: int) -> int:
    try:
        return int(_read_stat(Path(f"/proc/{process}"))[19])
    except OSError:
        return 0


def _read_stat(folder: Path) -> list[str]:
    """Return what the kernel says of a process, after its name, which may contain anything."""
    return (folder / "stat").read_text().rpartition(")")[2].split()


def _listens(process: int, port: int) -> bool:
    lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    listening = {
        f"socket:[{words[9]}]"
        for words in lines
        if words[1].endswith(f":{port:04X}") and words[3] == "0A"
    }
    with suppress(OSError):
        for descriptor in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                if str(descriptor.readlink()) in listening:
                    return True
    return False
