"""The benchmark's own clients survive what servers do to connections."""

import asyncio
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

from bench.clients import send_in_turn, send_on_schedule, write_request
from bench.servers import HOST, Plan, make_certificate
from bench.wrk import Credentials


@contextmanager
def a_server(folder: Path, *, status: int = 200) -> Iterator[Plan]:
    """Serve answers that do not say that the connection ends with each of them."""

    class ForgetfulHandler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            self.send_response(status)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"{}")
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    certificate = make_certificate(folder)
    server = ThreadingHTTPServer((HOST, 0), ForgetfulHandler)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate.file)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield Plan((), server.server_address[1], {}, certificate, "/", Credentials())
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_connection_that_the_server_closed_is_opened_again(tmp_path: Path) -> None:
    with a_server(tmp_path) as plan:
        laps = asyncio.run(send_in_turn(plan, [write_request(plan, "GET", "/")] * 3))

    assert laps.errors == []
    assert len(laps.milliseconds) == 3


def test_on_schedule_errors_are_counted_and_the_rest_goes_on(tmp_path: Path) -> None:
    with a_server(tmp_path, status=500) as plan:
        requests = [("get", write_request(plan, "GET", "/"))] * 3
        found = asyncio.run(send_on_schedule(plan, requests, per_second=1000, connections=2))

    assert found["get"].milliseconds == []
    assert found["get"].errors == ["500: {}"] * 3


def test_a_server_that_is_gone_is_an_error_and_no_end(tmp_path: Path) -> None:
    with a_server(tmp_path) as plan:
        request = write_request(plan, "GET", "/")

    laps = asyncio.run(send_in_turn(plan, [request] * 2))

    assert len(laps.errors) == 2
