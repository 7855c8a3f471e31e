"""Clients that stop in the middle of a request cost the others nothing."""

import json
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from tests.running import HOST, Merchant, Service, running
from tests.scale import scaled

pytestmark = pytest.mark.slow

STALLED = scaled(300, part=3)
REQUESTS = 100

AN_ORDER = {
    "recipientName": "A Recipient",
    "countryCode": "GB",
    "preferredShippingMethod": "Standard",
}


def test_others_are_answered_while_bodies_and_headers_are_stalled(tmp_path: Path) -> None:
    with running(tmp_path / "data", body_timeout="60s") as service:
        merchant = service.add_merchant()
        with service.client(merchant) as client:
            order = client.post("/v3.0/orders", AN_ORDER).data["id"]

            with holding_open(service, merchant) as stalled:
                answers = [client.get(f"/v3.0/orders/{order}").status for _ in range(REQUESTS)]
                still_open = sum(map(is_open, stalled))

    assert answers == [200] * REQUESTS
    assert still_open == 2 * STALLED


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that waits for a body no longer than two seconds."""
    with running(tmp_path_factory.mktemp("impatient") / "data", body_timeout="2s") as service:
        yield service


def test_a_stalled_body_is_told_so_and_hung_up_on(impatient: Service) -> None:
    with send_half_a_body(impatient, impatient.add_merchant()) as connection:
        answer = read_to_the_end(connection)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["statusCode"] == 408


def test_half_a_header_ends_and_an_idle_connection_stays(impatient: Service) -> None:
    merchant = impatient.add_merchant()
    with impatient.client(merchant) as idle, send_half_a_header(impatient, merchant) as half:
        idle.get("/v3.0/orders")

        left = read_to_the_end(half)

        # On the same connection: this client opens no other.
        answer = idle.get("/v3.0/orders")

    assert left.startswith(b"HTTP/1.1 408 ")
    assert answer.status == 200


@contextmanager
def holding_open(service: Service, merchant: Merchant) -> Iterator[list[ssl.SSLSocket]]:
    """Keep connections that stopped in the middle of a body or of a header."""
    with ExitStack() as connections:
        bodies = [
            connections.enter_context(send_half_a_body(service, merchant)) for _ in range(STALLED)
        ]
        headers = [
            connections.enter_context(send_half_a_header(service, merchant)) for _ in range(STALLED)
        ]
        yield bodies + headers


def send_half_a_body(service: Service, merchant: Merchant) -> ssl.SSLSocket:
    body = json.dumps(AN_ORDER).encode()
    length = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    connection = send_half_a_header(service, merchant)
    connection.sendall(length.encode() + body[: len(body) // 2])
    return connection


def send_half_a_header(service: Service, merchant: Merchant) -> ssl.SSLSocket:
    lines = [f"{name}: {value}" for name, value in merchant.headers.items()]
    head = "\r\n".join(["POST /v3.0/orders HTTP/1.1", f"Host: {HOST}", *lines, ""])
    connection = service.connect()
    connection.sendall(head.encode())
    return connection


def is_open(connection: ssl.SSLSocket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1) != b""
    except ssl.SSLWantReadError:
        return True
    except OSError:
        return False


def read_to_the_end(connection: ssl.SSLSocket) -> bytes:
    """Read until the other side hangs up; wait no longer than the connection's own limit."""
    answer = b""
    while part := connection.recv(65536):
        answer += part
    return answer
