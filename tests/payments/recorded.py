"""A server that gives the answers it was told, whatever it is asked, and remembers the questions."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from threading import Thread
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Recorder:
    """The answers that are left, and what was asked so far."""

    def __init__(self, base: str) -> None:
        self.base = base
        self.answers: list[tuple[int, Any]] = []
        self.asked: list[Asked] = []
        self._queue: Queue[Asked] = Queue()

    def take(self, asked: Asked) -> tuple[int, Any]:
        """Note a question and return the answer to it."""
        self.asked.append(asked)
        self._queue.put(asked)
        return self.answers.pop(0)

    def wait(self) -> Asked:
        """Return the next question that nobody waited for yet."""
        return self._queue.get(timeout=20)


@contextmanager
def record_requests() -> Iterator[Recorder]:
    """Run such a server in the block."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            status, found = recorder.take(Asked(self.command, self.path, dict(self.headers), body))
            answer = json.dumps(found).encode()
            self.send_response(status)
            if status in {301, 302, 307}:
                self.send_header("Location", found)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_facts: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        recorder = Recorder(f"http://127.0.0.1:{server.server_port}")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield recorder
        finally:
            server.shutdown()
            thread.join()
