"""`/metrics` on a port of its own.

All processes of a data folder try to listen there, and the first one answers for all of them: what
each has counted is in files (`shared_counts.py`), the rest in the database. When it ends, another
takes over. Workers come first, so that no web process spends time on it if there is a worker.
"""

import asyncio
import socket
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Final

import structlog
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

from printworks.actions.services import Services
from printworks.store.engine.database import find_outages
from printworks.store.views.console.watching import WatchedFacts, read_facts
from printworks.watch.metrics import list_counted, list_facts, show_database, show_disks
from printworks.watch.shared_counts import list_counts

log = structlog.get_logger(__name__)

# However often it is scraped, the database is asked once in this time.
SECONDS_OF_TRUST: Final = 5.0
SECONDS_BETWEEN_TRIES: Final = 5.0
# A scraper that sends nothing is not waited for.
SECONDS_TO_ASK: Final = 10.0


class FactCache:
    """What the database says, read at most every few seconds; safe to use from many threads."""

    def __init__(
        self, services: Services, *, steady_clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._services = services
        self._steady_clock = steady_clock
        self._reading = threading.Lock()
        self._facts: WatchedFacts | None = None
        self._read_at: float | None = None

    def read(self) -> WatchedFacts | None:
        """Return the facts, or None if the database cannot be read."""
        with self._reading:
            now = self._steady_clock()
            if self._read_at is None or now - self._read_at >= SECONDS_OF_TRUST:
                self._facts = self._read()
                self._read_at = self._steady_clock()
            return self._facts

    def _read(self) -> WatchedFacts | None:
        try:
            transit_days = self._services.catalogue.transit_days
            with self._services.database.reading() as db:
                return read_facts(db, transit_days=transit_days, now=self._services.clock())
        except find_outages() as error:
            log.error("metrics without the database", error=type(error).__name__)
            return None


class InstallationMetrics(Collector):
    """Everything that is measured, read when somebody asks."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._facts = FactCache(services)

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics."""
        settings = self._services.settings
        yield from list_counted(list_counts(settings.data))
        yield show_disks(settings)
        facts = self._facts.read()
        yield show_database(is_up=facts is not None)
        if facts is not None:
            yield from list_facts(facts, now=self._services.clock())


def write_metrics(services: Services) -> Callable[[], bytes]:
    """Return what writes all metrics in the format of Prometheus."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(InstallationMetrics(services))
    return lambda: generate_latest(registry)


async def keep_exporting(services: Services, *, prefers_others: bool = False) -> None:
    """Answer at the port for metrics, if there is one and nobody else does; until cancelled."""
    settings = services.settings
    if not settings.metrics_port:
        return
    if prefers_others:
        await asyncio.sleep(SECONDS_BETWEEN_TRIES)
    port = MetricsPort(settings.metrics_host, settings.metrics_port, write_metrics(services))
    try:
        while not await asyncio.to_thread(port.open):
            await asyncio.sleep(SECONDS_BETWEEN_TRIES)
        await asyncio.Event().wait()
    finally:
        port.close()


class MetricsPort:
    """The port for metrics, answered in threads of its own."""

    def __init__(self, host: str, port: int, write: Callable[[], bytes]) -> None:
        self._address = (host, port)
        self._write = write
        self._server: ThreadingHTTPServer | None = None

    def open(self) -> bool:
        """Begin to answer; return False if another process does, or the address is not ours."""
        try:
            server = _Server(self._address, _handler(self._write))
        except OSError as error:
            log.debug("metrics port not opened", error=error.strerror)
            return False
        self._server = server
        threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
        log.info("metrics", host=self._address[0], port=server.server_address[1])
        return True

    @property
    def port(self) -> int:
        """The port that is answered."""
        return self._server.server_address[1] if self._server else 0

    def close(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler]) -> None:
        if ":" in address[0]:
            self.address_family = socket.AF_INET6
        super().__init__(address, handler)


def _handler(write: Callable[[], bytes]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        timeout = SECONDS_TO_ASK
        server_version = "printworks"
        sys_version = ""

        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404, "Only /metrics is here")
                return
            try:
                body = write()
            except Exception:
                log.exception("metrics failed")
                self.send_error(500)
                return
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE_LATEST)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing: every scrape would be a line."""

    return Handler
