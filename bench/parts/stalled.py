"""What others feel while a thousand connections have stopped in the middle of a request."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace

from bench.clients import time_each, write_request
from bench.lines import Line, state_beside
from bench.servers import HOST, Plan
from bench.session import Session
from bench.workload import ORDER_BODY
from bench.wrk import NoAnswers

# Half of them have sent a part of a body, the others a part of a header.
STALLED = 1_000
CLIENTS = 2
# Half-sent headers are hung up on after ten seconds: they are held for no longer than this takes.
REQUESTS = 1_000


def measure(session: Session) -> list[Line]:
    """Measure the p99 of a few clients with and without stalled connections."""
    seeded = session.seed("ours")
    ids = seeded.add_orders(session.sizes.few)
    seeded.close()
    plan = session.plan("ours", seeded)
    patient = {**plan.environment, "PRINTWORKS_BODY_TIMEOUT": "60s"}
    ours = replace(plan, environment=patient)
    requests = [write_request(ours, "GET", f"/v3.0/orders/{one}") for one in ids]
    asked = (requests * (REQUESTS // len(requests) + 1))[:REQUESTS]
    quiet, during = [], []
    with session.serving(ours=ours):
        for _ in range(session.sizes.rounds):
            quiet.append(time_each(ours, asked, connections=CLIENTS).cut(99))
            with _holding_open(ours) as connections:
                during.append(time_each(ours, asked, connections=CLIENTS).cut(99))
                _check_open(connections[: STALLED // 2])
    name = f"p99 of others while {STALLED:,} connections stall, ms"
    return [state_beside(name, during, quiet)]


@contextmanager
def _holding_open(plan: Plan) -> Iterator[list[ssl.SSLSocket]]:
    """Keep connections that stopped in the middle of a body or of a header."""
    whole = write_request(plan, "POST", "/v3.0/orders", ORDER_BODY)
    tls = plan.certificate.client
    with ExitStack() as kept:
        connections = []
        for number in range(STALLED):
            length = len(whole) - 20 if number < STALLED // 2 else 60
            opened = socket.create_connection((HOST, plan.port), timeout=30)
            connection = kept.enter_context(tls.wrap_socket(opened, server_hostname=HOST))
            connection.sendall(whole[:length])
            connections.append(connection)
        yield connections


def _check_open(connections: list[ssl.SSLSocket]) -> None:
    for connection in connections:
        connection.settimeout(0)
        try:
            connection.recv(1)
        except ssl.SSLWantReadError:
            continue
        message = "The server did not wait for a stalled body, so there was nothing to measure."
        raise NoAnswers(message)
