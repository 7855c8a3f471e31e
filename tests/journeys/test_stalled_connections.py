"""Clients that stop in the middle of a request cost the others nothing."""

import json
import ssl
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import quantiles

import pytest

from tests.running import HOST, Merchant, Service, running

pytestmark = pytest.mark.slow

STALLED = 300
CLIENTS = 2
SECONDS = 3.0
# A quiet service answers in a few milliseconds: twice that would measure the machine's mood.
QUIET_AT_MOST = 0.030

AN_ORDER = {
    "recipientName": "A Recipient",
    "countryCode": "GB",
    "preferredShippingMethod": "Standard",
}


def test_stalled_bodies_and_headers_do_not_slow_down_others(tmp_path: Path) -> None:
    with running(tmp_path / "data", body_timeout="60s") as service:
        merchant = service.add_merchant()
        with service.client(merchant) as client:
            order = client.post("/v3.0/orders", AN_ORDER).data["id"]
        before = measure_p99(service, merchant, order)

        with holding_open(service, merchant) as stalled:
            during = measure_p99(service, merchant, order)
            still_open = sum(map(is_open, stalled))
        after = measure_p99(service, merchant, order)

    assert still_open == 2 * STALLED
    assert during <= 2 * max(before, after, QUIET_AT_MOST), (before, during, after)


def test_a_stalled_body_is_told_so_and_hung_up_on(tmp_path: Path) -> None:
    with running(tmp_path / "data", body_timeout="2s") as service:
        merchant = service.add_merchant()

        with send_half_a_body(service, merchant) as connection:
            answer = read_to_the_end(connection)

    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["statusCode"] == 408


def measure_p99(service: Service, merchant: Merchant, order: int) -> float:
    """Let a few clients ask for a while; return the seconds that all but 1 % stayed below."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        asking = [clients.submit(ask_for_a_while, service, merchant, order) for _ in range(CLIENTS)]
        laps = [lap for client in asking for lap in client.result()]
    return quantiles(laps, n=100)[98]


def ask_for_a_while(service: Service, merchant: Merchant, order: int) -> list[float]:
    laps = []
    deadline = time.perf_counter() + SECONDS
    with service.client(merchant) as client:
        while (began := time.perf_counter()) < deadline:
            assert client.get(f"/v3.0/orders/{order}").status == 200
            laps.append(time.perf_counter() - began)
    return laps


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
