"""A merchant's receiver of callbacks, on this machine."""

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Final, NamedTuple, Self

SECONDS_TO_WAIT: Final = 60


class Told(NamedTuple):
    """A callback that came."""

    path: str
    headers: dict[str, str]
    body: bytes


class Receiver:
    """Takes callbacks and answers with the status that the test wants."""

    def __init__(self, status: int = 200) -> None:
        self.status = status
        self._came: Queue[Told] = Queue()
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                receiver._came.put(Told(self.path, headers, body))
                self.send_response(receiver.status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def url(self, path: str = "/callbacks") -> str:
        """Return where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}{path}"

    def next(self) -> Told:
        """Wait for a callback; fail if none comes."""
        return self._came.get(timeout=SECONDS_TO_WAIT)
