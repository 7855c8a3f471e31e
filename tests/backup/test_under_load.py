"""A real service with traffic is backed up, and what is restored elsewhere is whole."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.commands import Ended, run_here
from tests.factories import KEY_FILE
from tests.journeys.test_images import AN_ORDER
from tests.running import Client, Merchant, Service, running
from tests.worker.hosts import PictureHost, holds, wait_until
from tests.worker.shops import STICKER, a_jpeg

pytestmark = [pytest.mark.slow, pytest.mark.both_databases]

PICTURES = 6


class Traffic:
    """Merchants' programs that create and submit orders, one after the other."""

    def __init__(self, service: Service, host: PictureHost) -> None:
        self._service = service
        self._urls = [host.at(f"/{n}.jpg", holds(a_jpeg(seed=n))) for n in range(PICTURES)]
        self._stop = threading.Event()
        self.submitted: list[int] = []
        self.refused: list[Any] = []

    def order(self, merchant: Merchant) -> None:
        """Order until it is enough."""
        with self._service.client(merchant) as client:
            while not self._stop.is_set():
                order = client.post("/v3.0/orders", AN_ORDER).data["id"]
                url = self._urls[order % PICTURES]
                image = {"sku": STICKER, "url": url, "copies": 1, "sizing": "Crop"}
                client.post(f"/v3.0/orders/{order}/images", image)
                answer = client.post(f"/v3.0/orders/{order}/status", {"status": "Submitted"})
                if answer.status == 200:
                    self.submitted.append(order)
                else:
                    self.refused.append(answer)

    @contextmanager
    def going_on(self, merchants: list[Merchant]) -> Iterator[None]:
        """Order for the length of the block."""
        threads = [threading.Thread(target=self.order, args=(each,)) for each in merchants]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()


def run(*words: str | Path, data: Path, settings: dict[str, str]) -> Any:
    """Run a command that succeeds; return its JSON."""
    ended: Ended = run_here(*words, "--json", "--data", data, settings=settings)
    assert ended.code == 0, ended.said + ended.complained
    return json.loads(ended.said)


def has_a_picture(client: Client) -> bool:
    """Whether one of the merchant's orders was fetched, and there is a file to back up."""
    orders = client.get("/v3.0/orders").data["content"]
    return any(image["status"] == "Ok" for order in orders for image in order["images"])


def test_a_backup_under_load_is_whole(
    database_url: str, blank_database_url: str, tmp_path: Path
) -> None:
    there, place = tmp_path / "there", tmp_path / "backups"
    there.mkdir()
    (there / "secret.key").write_bytes(KEY_FILE.read_bytes())
    elsewhere = {"PRINTWORKS_DATABASE_URL": blank_database_url}
    with (
        PictureHost() as host,
        running(tmp_path / "data", database_url=database_url) as service,
    ):
        here: dict[str, str] = dict(service.settings)
        traffic = Traffic(service, host)
        alice, bob = service.add_merchant("Alice"), service.add_merchant("Bob")
        with traffic.going_on([alice, bob]), service.client(alice) as client:
            wait_until(lambda: len(traffic.submitted) >= 20)
            wait_until(lambda: has_a_picture(client))
            before = list(traffic.submitted)
            first = run("backup", place, data=service.data, settings=here)
            second = run("backup", place, data=service.data, settings=here)
        assert not traffic.refused

    run("restore", place, data=there, settings=elsewhere)
    verified = run("verify", data=there, settings=elsewhere)
    ledger = run("ledger", "verify", data=there, settings=elsewhere)

    assert second["rows"] > first["rows"] > 0
    assert second["newFiles"] < second["files"]
    assert verified["isWhole"]
    assert verified["files"] == second["files"]
    assert ledger["faults"] == []
    # Whatever was promised before the backup is in it.
    assert ledger["entries"] >= len(before)
    shown = run("quarantine", "show", data=there, settings=elsewhere)
    assert shown["isOn"]
    assert shown["cause"] == "restored"
