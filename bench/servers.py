"""Start and stop the measured servers: the product and its peers, all with the same TLS."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import trustme

from bench.seeds import SeededDatabase
from bench.tools import PEERS_PYTHON, PROGRAM, ROOT
from bench.workload import USUAL_SETTINGS
from bench.wrk import Credentials

HOST: Final = "127.0.0.1"
SECONDS_TO_START: Final = 30
SECONDS_TO_STOP: Final = 30

# Limits as near to the product's own server as its options come.
GRANIAN: Final = (
    *("--interface", "asgi", "--loop", "uvloop", "--http", "1", "--no-ws"),
    *("--backlog", "4096", "--backpressure", "10000", "--http1-header-read-timeout", "60000"),
    *("--ssl-protocol-min", "tls1.2", "--log-level", "warning"),
)


@dataclass(frozen=True)
class Certificate:
    """One certificate for all, at the same cost."""

    file: Path
    ca: Path

    @property
    def client(self) -> ssl.SSLContext:
        """Trust this certificate's authority."""
        return ssl.create_default_context(cafile=self.ca)


def make_certificate(folder: Path) -> Certificate:
    """Create a local authority and a certificate for loopback."""
    authority = trustme.CA()
    certificate = Certificate(folder / "server.pem", folder / "ca.pem")
    issued = authority.issue_cert("localhost", HOST)
    issued.private_key_and_cert_chain_pem.write_to_path(str(certificate.file))
    authority.cert_pem.write_to_path(str(certificate.ca))
    return certificate


@dataclass(frozen=True)
class Plan:
    """How to start a server, and a request that it answers with 200 once it is up."""

    command: tuple[str | Path, ...]
    port: int
    environment: Mapping[str, str]
    certificate: Certificate
    path: str
    credentials: Credentials


def plan_product(
    command: str, data: Path, certificate: Certificate, seeded: SeededDatabase, *, processes: int
) -> Plan:
    """Run the program as an operator would, with a worker (`serve`) or without (`web`)."""
    port = find_free_port()
    settings = {
        **USUAL_SETTINGS,
        "PRINTWORKS_PORT": str(port),
        "PRINTWORKS_DATABASE_URL": seeded.url,
        "PRINTWORKS_TLS_CERT": str(certificate.file),
        "PRINTWORKS_TLS_KEY": str(certificate.file),
        "PRINTWORKS_WEB_PROCESSES": str(processes),
    }
    words = (PROGRAM, command, "--data", data)
    return Plan(words, port, settings, certificate, "/v3.0/orders/1", seeded.credentials)


def plan_hello(certificate: Certificate, *, processes: int) -> Plan:
    """Run the bare Starlette application."""
    port = find_free_port()
    command = _granian("bench.peers.hello.app:app", port, certificate, processes)
    return Plan(command, port, {}, certificate, "/", Credentials())


def plan_fastapi(
    database: str, certificate: Certificate, *, processes: int, order_count: int
) -> Plan:
    """Fill the FastAPI application's database, at this address, and run it."""
    environment = {"PEER_DATABASE": database}
    seeded = subprocess.run(
        [PEERS_PYTHON, "-m", "bench.peers.fastapi_app.seed", str(order_count)],
        cwd=ROOT,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        check=True,
    )
    added = json.loads(seeded.stdout)
    port = find_free_port()
    command = _granian("bench.peers.fastapi_app.app:app", port, certificate, processes)
    credentials = Credentials(added["merchantId"], added["apiKey"])
    return Plan(command, port, environment, certificate, "/v3.0/orders/1", credentials)


def _granian(
    target: str, port: int, certificate: Certificate, processes: int
) -> tuple[str | Path, ...]:
    where = ("--host", HOST, "--port", str(port), "--workers", str(processes))
    tls = ("--ssl-certificate", certificate.file, "--ssl-keyfile", certificate.file)
    return (PEERS_PYTHON, "-m", "granian", *GRANIAN, *where, *tls, target)


@dataclass(frozen=True)
class RunningServer:
    """A server that has answered, its process, and the seconds until it did."""

    process: int
    seconds: float


@contextmanager
def serving(plan: Plan, log: Path) -> Iterator[RunningServer]:
    """Run a server until the block ends."""
    started = time.perf_counter()
    with log.open("ab") as output:
        process = subprocess.Popen(
            plan.command,
            cwd=ROOT,
            env={**os.environ, **plan.environment},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _wait_until_it_answers(plan, process, log)
        yield RunningServer(process.pid, time.perf_counter() - started)
    finally:
        stop(process)


def _wait_until_it_answers(plan: Plan, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS_TO_START
    tls = plan.certificate.client
    while (status := _ask(plan, tls)) != 200:
        if process.poll() is not None or time.monotonic() > deadline:
            said = log.read_text(errors="replace")[-2000:]
            message = f"{plan.path} answers {status} instead of 200:\n{said}"
            raise RuntimeError(message)
        time.sleep(0.005)


def _ask(plan: Plan, tls: ssl.SSLContext) -> int | None:
    connection = http.client.HTTPSConnection(HOST, plan.port, timeout=10, context=tls)
    headers = {
        "X-Service-MerchantId": plan.credentials.merchant,
        "X-Service-REST-API-Key": plan.credentials.key,
    }
    try:
        connection.request("GET", plan.path, headers=headers)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def stop(process: subprocess.Popen[bytes]) -> None:
    """Stop a process that leads its own session, gracefully if possible."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def find_free_port() -> int:
    """Return a loopback port on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])
