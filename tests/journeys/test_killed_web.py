"""A web process may be killed at any moment: what was acknowledged stays."""

import http.client
import os
import signal
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path

import pytest

from tests.running import Merchant, Service, running
from tests.scale import scaled

pytestmark = pytest.mark.slow

KILLS = scaled(40, part=16)
CLIENTS = 4
# Enough for a process to start again and answer, on a machine that is busy with other tests.
SECONDS_FOR_A_KILL = 20


class Load:
    """Clients that create orders without a pause and note what was acknowledged."""

    def __init__(self, service: Service, merchant: Merchant) -> None:
        self.acknowledged: dict[int, str] = {}
        self._service = service
        self._merchant = merchant
        self._stopped = threading.Event()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Create orders until the block ends."""
        with ThreadPoolExecutor(CLIENTS) as clients:
            creating = [clients.submit(self._create_orders, number) for number in range(CLIENTS)]
            try:
                yield
            finally:
                self._stopped.set()
        for client in creating:
            client.result()

    def _create_orders(self, client_number: int) -> None:
        with self._service.client(self._merchant) as client:
            for number in count():
                if self._stopped.is_set():
                    return
                reference = f"{client_number}-{number}"
                try:
                    answer = client.post("/v3.0/orders", an_order(reference))
                except (OSError, http.client.HTTPException):
                    # Nothing was acknowledged: the order may exist or not.
                    time.sleep(0.02)
                    continue
                assert answer.status == 200, answer.body
                self.acknowledged[answer.data["id"]] = reference

    def wait_for_more(self, wanted: int) -> None:
        """Wait until so many more orders were acknowledged."""
        enough = len(self.acknowledged) + wanted
        deadline = time.monotonic() + SECONDS_FOR_A_KILL
        while len(self.acknowledged) < enough:
            assert time.monotonic() < deadline, f"Nobody answers:\n{self._service.explain()}"
            time.sleep(0.005)


@pytest.mark.timeout(600)
def test_every_acknowledged_order_survives_kills(tmp_path: Path, database_url: str) -> None:
    # One process only, so that each kill leaves nobody to answer and comes while it starts again.
    with running(tmp_path / "data", database_url=database_url, web_processes="1") as service:
        merchant = service.add_merchant()
        load = Load(service, merchant)

        with load.going_on():
            killed = [kill_one(service, load) for _ in range(KILLS)]
            load.wait_for_more(20)

        kept = list_all_orders(service, merchant)

    assert len(set(killed)) == KILLS
    assert load.acknowledged.items() <= kept.items()


def kill_one(service: Service, load: Load) -> int:
    """Kill the process that answers, and return which one it was."""
    load.wait_for_more(50)
    deadline = time.monotonic() + SECONDS_FOR_A_KILL
    while not (found := service.find_web_processes()):
        assert time.monotonic() < deadline, f"No process is left:\n{service.explain()}"
        time.sleep(0.005)
    os.kill(found[0], signal.SIGKILL)
    return found[0]


def list_all_orders(service: Service, merchant: Merchant) -> dict[int, str]:
    """Return all orders of the merchant by their ids, read page by page."""
    kept: dict[int, str] = {}
    with service.client(merchant) as client:
        while True:
            page = client.get(f"/v3.0/orders?limit=250&start={len(kept)}").data
            kept |= {order["id"]: order["merchantOrderId"] for order in page["content"]}
            if not page["content"]:
                assert len(kept) == page["count"]
                return kept


def an_order(reference: str) -> dict[str, str]:
    """Return a body that creates an order."""
    return {
        "merchantOrderId": reference,
        "recipientName": "A Recipient",
        "countryCode": "GB",
        "preferredShippingMethod": "Standard",
    }
