"""A running service can be watched, whatever becomes of its processes."""

import http.client
import os
import signal
import ssl
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from printworks.settings import Settings
from printworks.web.tls import prepare_tls
from tests.running import HOST, Service, find_free_port, running
from tests.worker.hosts import wait_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service for all that leave it running."""
    data = tmp_path_factory.mktemp("service") / "data"
    with running(data, metrics_port=str(find_free_port())) as service:
        yield service


def scrape(service: Service) -> str:
    """Return the metrics; nothing while nobody answers."""
    port = int(service.settings["PRINTWORKS_METRICS_PORT"])
    connection = http.client.HTTPConnection(HOST, port, timeout=30)
    try:
        connection.request("GET", "/metrics")
        return connection.getresponse().read().decode()
    except OSError:
        return ""
    finally:
        connection.close()


def count(service: Service) -> float:
    """Return how many requests for countries were counted."""
    lines = scrape(service).splitlines()
    found = [line for line in lines if "_total" in line and "/countries" in line]
    return float(found[0].split()[-1]) if found else 0.0


def test_one_scrape_sees_all_processes_and_no_count_falls_with_one(service: Service) -> None:
    def sees_all() -> bool:
        text = scrape(service)
        roles = ('printworks_processes{role="web"} 1', 'printworks_processes{role="worker"} 1')
        return all(role in text for role in roles) and "printworks_workers_alive 1" in text

    wait_until(lambda: sees_all() and count(service) > 0)
    before = count(service)
    (worker,) = service.find_workers()
    (web,) = service.find_web_processes()

    os.kill(worker, signal.SIGKILL)
    os.kill(web, signal.SIGKILL)

    def is_back() -> bool:
        return service.find_workers() not in ([], [worker]) and count(service) >= before

    wait_until(is_back)
    with service.client() as client:
        client.get("/v3.0/countries")
    wait_until(lambda: count(service) >= before + 1)
    wait_until(lambda: "printworks_workers_alive 2" in scrape(service))


def test_a_new_certificate_is_presented_while_old_connections_go_on(service: Service) -> None:
    def find_serial() -> int:
        with service.connect() as connection:
            return hash(connection.getpeercert(binary_form=True))

    before = find_serial()
    with service.client() as client:
        assert client.get("/livez").status == 200
        (service.data / "tls" / "server.pem").unlink()
        environ = {"PRINTWORKS_PORT": str(service.port)}
        prepare_tls(Settings.load(service.data, environ), now=datetime.now(UTC))

        wait_until(lambda: find_serial() != before)
        assert client.get("/livez").status == 200


def test_a_service_that_stops_says_so_before_it_closes_the_door(tmp_path: Path) -> None:
    with running(tmp_path / "data", drain_delay="3s") as service:
        assert ask(service, "/readyz") == 200
        service.process.send_signal(signal.SIGTERM)
        wait_until(lambda: ask(service, "/readyz") == 503)
        # Others who come now are still answered.
        assert ask(service, "/livez") == 200


def ask(service: Service, path: str) -> int:
    """Ask over a connection of its own; 0 if nobody answers."""
    try:
        with service.client() as client:
            return client.get(path).status
    except (TimeoutError, OSError, http.client.HTTPException, ssl.SSLError):
        return 0
