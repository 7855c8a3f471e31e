"""Machines of a cluster are upgraded and killed, and merchants do not notice."""

import http.client
import json
import threading
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any, Final

import pytest

from printworks.store.engine.database import Database
from printworks.store.tables import schema
from tests.cluster.machines import NGINX, Cluster
from tests.factories import NO_LIMITS
from tests.next_release import write_additions
from tests.running import Answer, Client, Merchant, command
from tests.scale import IS_FULL, scaled
from tests.worker.hosts import PictureHost, holds, wait_until
from tests.worker.receivers import Receiver, says
from tests.worker.shops import MAGNET, a_jpeg

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    # Without a proxy nobody sends a request to another machine.
    pytest.mark.skipif(NGINX is None, reason="needs nginx"),
]

CLIENTS: Final = 3 if IS_FULL else 2
# Every order has to be made in the end, so there are more looks than orders.
LOOKS: Final = 12
SECONDS_BETWEEN_LOOKS: Final = 0.1
ROUNDS: Final = scaled(8)
KILLS: Final = scaled(16)
AN_ORDER: Final = {
    "recipientName": "A Recipient",
    "address1": "1 High Street",
    "addressTownOrCity": "York",
    "postalOrZipCode": "YO1 1AA",
    "countryCode": "GB",
    "preferredShippingMethod": "Standard",
}
LOST: Final = (OSError, http.client.HTTPException)


class Shopper:
    """A program that orders one print after the other, and counts what it was told."""

    def __init__(self, cluster: Cluster, merchant: Merchant, picture: str) -> None:
        self.submitted: set[int] = set()
        self.failures: list[str] = []
        # While machines are killed, an answer may be lost; then the request is sent again.
        self.may_lose = True
        self._cluster = cluster
        self._merchant = merchant
        self._picture = picture
        self._stopped = threading.Event()

    @contextmanager
    def going_on(self) -> Iterator[None]:
        """Order until the block ends."""
        with ThreadPoolExecutor(CLIENTS) as clients:
            ordering = [clients.submit(self._order_on, number) for number in range(CLIENTS)]
            try:
                yield
            finally:
                self._stopped.set()
        for each in ordering:
            each.result()

    def wait_for_more(self, wanted: int) -> None:
        """Wait until so many more orders were submitted."""
        enough = len(self.submitted) + wanted
        wait_until(lambda: len(self.submitted) >= enough or bool(self.failures))

    def _order_on(self, client_number: int) -> None:
        with self._cluster.client(self._merchant) as client:
            for number in count():
                order_id = self._order(client, f"{client_number}-{number}")
                for _ in range(LOOKS):
                    if self._stopped.wait(SECONDS_BETWEEN_LOOKS):
                        return
                    self._send(client, "GET", f"/v3.0/orders/{order_id}")

    def _order(self, client: Client, reference: str) -> int:
        order = {**AN_ORDER, "merchantOrderId": reference}
        created = self._send(client, "POST", "/v3.0/orders", order, f"{reference}-create")
        order_id = int(created.data["id"])
        path = f"/v3.0/orders/{order_id}"
        image = {"sku": MAGNET, "url": self._picture, "copies": 1, "sizing": "Crop"}
        self._send(client, "POST", f"{path}/images", image, f"{reference}-image")
        self._send(client, "GET", "/v3.0/orders?limit=10")
        submission = {"status": "Submitted"}
        self._send(client, "POST", f"{path}/status", submission, f"{reference}-submit")
        self.submitted.add(order_id)
        return order_id

    def _send(
        self, client: Client, method: str, path: str, body: Any = None, key: str = ""
    ) -> Answer:
        headers = {"Idempotency-Key": key} if key else {}
        while True:
            try:
                answer = client.send(method, path, body, headers=headers)
            except LOST as error:
                self._note(f"{method} {path}: {error!r}")
            else:
                if answer.status == 200:
                    return answer
                self._note(f"{method} {path}: {answer.status} {answer.body[:200]!r}")
            time.sleep(0.05)

    def _note(self, failure: str) -> None:
        if not self.may_lose:
            self.failures.append(failure)


@pytest.fixture
def settings(postgresql_url: str, s3_environ: Mapping[str, str]) -> dict[str, str]:
    """What all machines have in common."""
    return {
        **NO_LIMITS,
        **s3_environ,
        "PRINTWORKS_DATABASE_URL": postgresql_url,
        "PRINTWORKS_PUBLIC_URL": "https://print.example",
        "PRINTWORKS_OUTBOUND_ALLOW_NETWORKS": "127.0.0.0/8",
        "PRINTWORKS_WEB_PROCESSES": "1",
        # Drawing takes the machines longer than all that is tested here otherwise.
        "PRINTWORKS_MOCKUPS": str(IS_FULL).lower(),
    }


def test_machines_are_killed_and_upgraded_and_no_order_is_lost(
    tmp_path: Path, settings: dict[str, str]
) -> None:
    with (
        PictureHost() as host,
        Receiver() as receiver,
        Cluster(tmp_path, settings) as cluster,
    ):
        operator: dict[str, Any] = {"data": cluster.folder / "work-0", "settings": settings}
        merchant = add_merchant(operator, receiver.at("/news", says(200)))
        shopper = Shopper(cluster, merchant, host.at("/picture.jpg", holds(a_jpeg(420, 300))))

        with shopper.going_on():
            kill_some(cluster, shopper)
            shopper.may_lose = False
            # As in an upgrade: the tables first, then one machine after the other.
            expand(settings["PRINTWORKS_DATABASE_URL"], tmp_path)
            for _ in range(ROUNDS):
                for machine in (*cluster.web, *cluster.workers):
                    shopper.wait_for_more(3)
                    machine.replace()
            shopper.wait_for_more(3)
            assert shopper.failures[:10] == []

        wait_until(lambda: are_all_fetched(cluster, merchant))
        command("clock", "advance", merchant.id, "8d", **operator)
        orders = see_orders(cluster, merchant, shopper.submitted)
        wait_until(lambda: find_completed(receiver) >= shopper.submitted)

        assert {order["status"] for order in orders.values()} == {"Complete"}
        assert len({order["merchantOrderId"] for order in orders.values()}) == len(orders)
        command("ledger", "verify", **operator)


def kill_some(cluster: Cluster, shopper: Shopper) -> None:
    """Kill machines, and start each of them again."""
    machines = [cluster.web[0], cluster.workers[0], cluster.workers[1], cluster.web[1]]
    for number in range(KILLS):
        shopper.wait_for_more(3)
        machine = machines[number % len(machines)]
        machine.kill()
        machine.start()
    # Whatever was sent again has been answered now.
    shopper.wait_for_more(2 * CLIENTS)


def expand(database_url: str, folder: Path) -> None:
    """Bring the tables to a next release, which this one works with."""
    database = Database(database_url)
    schema.migrate(database, write_additions(folder))
    database.close()


def add_merchant(operator: Mapping[str, Any], callback_url: str) -> Merchant:
    """Add a merchant whose program hears what happens."""
    added = json.loads(command("merchant", "add", "A shop", "--json", **operator))
    command("merchant", "callback", "set", added["merchantId"], callback_url, **operator)
    return Merchant(added["merchantId"], added["apiKey"])


def are_all_fetched(cluster: Cluster, merchant: Merchant) -> bool:
    """Whether the pictures of all orders are there."""
    with cluster.client(merchant) as client:
        orders = client.get("/v3.0/orders?limit=250").data["content"]
    return all(image["status"] == "Ok" for order in orders for image in order["images"])


def see_orders(cluster: Cluster, merchant: Merchant, ids: set[int]) -> dict[int, dict[str, Any]]:
    """Return these orders as the merchant sees them."""
    with cluster.client(merchant) as client:
        return {order_id: client.get(f"/v3.0/orders/{order_id}").data for order_id in ids}


def find_completed(receiver: Receiver) -> set[int]:
    """Return the orders of which a callback has said that they are complete."""
    return {
        int(heard.told["orderId"]) for heard in receiver.heard if heard.told["status"] == "Complete"
    }
