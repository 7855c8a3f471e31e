"""Orders that keep arriving while somebody works in the browser, and what became of each."""

import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median, quantiles
from typing import Any, Final

from sqlalchemy import select

from printworks.rules.ledger import EntryKind
from printworks.store.engine.database import Database
from printworks.store.tables import ledger_entries
from tests.running import Client, Merchant, Service
from tests.worker.hosts import wait_until

# Who orders at the same time.
CLIENTS: Final = 12
ADDRESS: Final = {
    "recipientName": "Anneliese Becker",
    "address1": "Ringstraße 1",
    "addressTownOrCity": "Leipzig",
    "postalOrZipCode": "04103",
    "countryCode": "DE",
    "preferredShippingMethod": "Standard",
}


@dataclass(frozen=True)
class Ordered:
    """An order: what it was quoted, when it was asked for, and how long its four requests took."""

    order: int
    quoted: int
    at: float
    seconds: float


@dataclass
class OrderStream:
    """Creates, fills, reads and submits so many orders a second, until it is told to stop."""

    service: Service
    merchant: Merchant
    image: dict[str, Any]
    rate: float
    done: list[Ordered] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    _stop: threading.Event = field(default_factory=threading.Event)
    _own: threading.local = field(default_factory=threading.local)
    _clients: list[Client] = field(default_factory=list)
    _began: float = 0.0

    @contextmanager
    def flowing(self) -> Iterator[None]:
        """Order during the block; afterwards, everything that was begun is done."""
        self._wait_until_it_is_sold()
        self._began = time.monotonic()
        with ThreadPoolExecutor(CLIENTS) as threads:
            pacing = threading.Thread(target=self._pace, args=(threads,))
            pacing.start()
            try:
                yield
            finally:
                self._stop.set()
                pacing.join()
        for client in self._clients:
            client.close()

    @property
    def seconds(self) -> float:
        """How long it has flowed."""
        return time.monotonic() - self._began

    def flow_for(self, seconds: float) -> None:
        """Let it flow until it has done so for so long."""
        self._stop.wait(max(0.0, seconds - self.seconds))

    def list_prices(self) -> list[int]:
        """Return the prices that were quoted, each once for as long as it was the newest."""
        quoted = [one.quoted for one in sorted(self.done, key=lambda one: one.at)]
        return [price for at, price in enumerate(quoted) if at == 0 or quoted[at - 1] != price]

    def describe(self) -> str:
        """Return the numbers."""
        took = [one.seconds * 1000 for one in self.done]
        last = max(one.at + one.seconds for one in self.done)
        return (
            f"{len(self.done)} orders in {last:.1f} s ({len(self.done) / last:.1f} a second), "
            f"{len(self.refusals)} refused; four requests of an order take "
            f"{median(took):.0f} ms in the middle, {quantiles(took, n=20)[-1]:.0f} ms at the 95th percentile, "
            f"{max(took):.0f} ms at most"
        )

    def _wait_until_it_is_sold(self) -> None:
        """Wait until the web process has found the catalogue that was published just now."""
        client = self._find_client()
        path = f"/v3.0/catalogue/service%20direct/destination/{ADDRESS['countryCode']}/prices"
        asked = {"skus": [self.image["sku"]]}
        wait_until(lambda: client.post(path, asked).json()["prices"])

    def _pace(self, threads: ThreadPoolExecutor) -> None:
        begun: list[Future[None]] = []
        while not self._stop.wait(max(0.0, len(begun) / self.rate - self.seconds)):
            begun.append(threads.submit(self._order))
        for one in begun:
            one.result()

    def _order(self) -> None:
        at = self.seconds
        client = self._find_client()
        created = client.post("/v3.0/orders", ADDRESS)
        path = f"/v3.0/orders/{created.data['id']}"
        added = client.post(f"{path}/images", self.image)
        quoted = client.get(path)
        submitted = client.post(f"{path}/status", {"status": "Submitted"})
        for answer in (added, quoted, submitted):
            if answer.status != 200:
                self.refusals.append(answer.body.decode())
                return
        done = Ordered(int(created.data["id"]), quoted.data["price"], at, self.seconds - at)
        self.done.append(done)

    def _find_client(self) -> Client:
        if not hasattr(self._own, "client"):
            self._own.client = self.service.client(self.merchant)
            self._clients.append(self._own.client)
        client: Client = self._own.client
        return client


def read_charges(database: Database) -> dict[int, int]:
    """Return what each order was charged, by the only account that was charged."""
    entry = ledger_entries.c
    with database.reading() as db:
        rows = db.execute(
            select(entry.order_id, entry.kind, entry.balance).order_by(entry.number)
        ).all()
    before = [0, *(row.balance for row in rows)]
    charges = [
        (row.order_id, row.balance - was)
        for row, was in zip(rows, before, strict=False)
        if row.kind is EntryKind.CHARGE
    ]
    assert len(dict(charges)) == len(charges)
    return dict(charges)
