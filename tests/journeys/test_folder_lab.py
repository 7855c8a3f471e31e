"""A live service and a lab with a hot folder: from the order to the tracking number."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from printworks.actions.accounts.merchants import add_merchant
from printworks.imaging.processor import ImageProcessor
from printworks.labs.folder import POLLS_WITHOUT_NOTE
from printworks.rules.events import OrderCharged, OrderHeld, OrderMoved
from printworks.rules.jobs import JobKind
from printworks.rules.production import read_job_number
from printworks.store.engine.database import Database
from printworks.store.orders.events import list_events
from printworks.store.orders.shipments import list_shipments
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.factories import NOON, a_system_work
from tests.journeys.test_images import AN_ORDER
from tests.worker.catalogues import change_labs
from tests.worker.hosts import holds
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, STICKER, Shop, open_shop

LIVE: dict[str, Any] = {
    "environment": "live",
    "public_url": "https://print.example",
    "payments": "account",
    # Where the pictures of these tests are.
    "outbound_allow_networks": "127.0.0.0/8",
}


@dataclass(frozen=True)
class Story:
    """A merchant, a live service, and the folder of the lab that makes stickers."""

    merchant: Client
    shop: Shop

    def submit(self, *, copies: int = 2) -> int:
        """Order a sticker."""
        order = int(self.merchant.post("/orders", AN_ORDER).data["id"])
        url = self.shop.host.at("/cat.jpg", holds(A_PICTURE))
        body = {"sku": STICKER, "url": url, "copies": copies, "sizing": "Crop"}
        assert self.merchant.post(f"/orders/{order}/images", body).status == 200
        answer = self.merchant.post(f"/orders/{order}/status", {"status": "Submitted"})
        assert answer.status == 200, answer.body
        return order

    def see(self, order: int) -> dict[str, Any]:
        """Return the order as the merchant sees it."""
        seen: dict[str, Any] = self.merchant.get(f"/orders/{order}").data
        return seen

    def look(self, times: int = 1) -> None:
        """Let the worker look at the folders so often."""
        for _ in range(times):
            self.shop.pass_time(seconds=10)

    def shipment(self, order: int) -> tuple[str, str]:
        """Return the lab and the name of the newest shipment."""
        with self.shop.database.reading() as db:
            newest = list_shipments(db, order)[-1]
        return newest.lab, newest.job_name

    def folder(self, order: int, name: str) -> Path:
        """Return where a job is when the lab has moved it there."""
        lab, number = self.shipment(order)
        return self.shop.settings.data / "labs" / lab / name / number

    def carry(self, order: int, *, to: str, frm: str = "inbox") -> Path:
        """Do as the people at the lab do: move the folder of a job."""
        source, target = self.folder(order, frm), self.folder(order, to)
        source.rename(target)
        return target

    def events(self, order: int, kind: type) -> list[Any]:
        """Return what happened to an order, of one kind."""
        with self.shop.database.reading() as db:
            return [event for event in list_events(db, order) if isinstance(event, kind)]


@pytest.fixture(scope="session")
def processor() -> Iterator[ImageProcessor]:
    """The image processor of all shops."""
    with ImageProcessor(slots=1) as processor:
        yield processor


@contextmanager
def open_story(
    database: Database, folder: Path, processor: ImageProcessor, **settings: Any
) -> Iterator[Story]:
    """Open a live service with a worker."""
    with (
        capture_logs(),
        open_shop(database, folder, processor, **{**LIVE, **settings}) as shop,
    ):
        server = Server(build_app(shop.settings, shop.clock))
        with database.writing() as db:
            added = add_merchant(a_system_work(db, now=NOON, environment="live"), "Mary's shop")
        credentials = {
            "X-Service-MerchantId": added.merchant.code,
            "X-Service-REST-API-Key": added.api_key,
        }
        try:
            yield Story(Client(server, "/v3.0", credentials), shop)
        finally:
            server.close()


@pytest.fixture
def story(database: Database, tmp_path: Path, processor: ImageProcessor) -> Iterator[Story]:
    """A live service with a worker."""
    with open_story(database, tmp_path, processor) as story:
        yield story


def test_a_job_goes_through_the_lab_and_the_merchant_gets_the_tracking_number(
    story: Story,
) -> None:
    order = story.submit()
    story.shop.drain()
    assert story.see(order)["status"] == "Submitted"
    inbox = story.folder(order, "inbox")
    assert {path.name for path in inbox.iterdir()} == {"job.json", "sheet.html", "prints"}
    assert json.loads((inbox / "job.json").read_text())["environment"] == "live"

    story.carry(order, to="accepted")
    story.look()
    assert story.see(order)["canCancel"] is False
    story.carry(order, to="printing", frm="accepted")
    story.look()
    assert story.see(order)["status"] == "Submitted"
    (story.folder(order, "printing") / "tracking.txt").write_text(
        "carrier: DHL\ntracking: JD0123456789\nurl: https://dhl.example/JD0123456789\n"
    )
    done = story.carry(order, to="done", frm="printing")
    story.look(2)

    seen = story.see(order)
    assert seen["status"] == "Complete"
    (shipment,) = seen["shippingInfo"]["shipments"]
    assert shipment["trackingNumber"] == "JD0123456789"
    assert shipment["trackingUrl"] == "https://dhl.example/JD0123456789"
    assert shipment["carrier"] == "DHL"
    assert not done.exists()
    assert story.folder(order, "archive").is_dir()
    (charged,) = story.events(order, OrderCharged)
    assert (charged.provider, charged.amount) == ("account", seen["price"])
    moves = [move.status for move in story.events(order, OrderMoved)]
    assert moves == ["Submitted", "Complete"]


def test_what_is_printed_is_what_the_merchant_was_shown(story: Story) -> None:
    order = story.submit()

    story.shop.drain()

    inbox = story.folder(order, "inbox")
    told = json.loads((inbox / "job.json").read_text())
    (item,) = told["items"]
    manifest = story.shop.image(item["image"]).manifest or {}
    (printed,) = inbox.glob("prints/*.jpg")
    assert printed == inbox / told["files"][item["print"]["name"]]
    sha256 = hashlib.sha256(printed.read_bytes()).hexdigest()
    assert sha256 == item["print"]["sha256"] == manifest["output_sha256"]


def test_a_job_appears_whole_or_not_at_all(story: Story) -> None:
    halves: list[Path] = []
    is_over = threading.Event()
    labs = story.shop.settings.data / "labs"

    def watch() -> None:
        while not is_over.is_set():
            for job in labs.glob("*/inbox/*"):
                whole = (job / "job.json", job / "sheet.html", *job.glob("prints/*.jpg"))
                if len(whole) != 3 or not all(path.stat().st_size for path in whole):
                    halves.append(job)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        orders = [story.submit() for _ in range(8)]
        story.shop.drain()
        story.look()
    finally:
        is_over.set()
        watcher.join()

    assert all(story.folder(order, "inbox").is_dir() for order in orders)
    assert halves == []


def test_a_print_file_that_was_swapped_raises_a_hold(story: Story) -> None:
    order = story.submit()
    story.shop.drain()
    (printed,) = story.folder(order, "inbox").glob("prints/*.jpg")

    printed.write_bytes(ANOTHER_PICTURE)
    (story.folder(order, "inbox") / "tracking.txt").write_text("JD0123456789")
    story.carry(order, to="done")
    story.look(4)

    seen = story.see(order)
    assert seen["status"] == "Submitted"
    assert "is held" in seen["errorMessage"]
    (held,) = story.events(order, OrderHeld)
    assert held.shipment == read_job_number(story.shipment(order)[1])
    assert "another file than the one that it was sent" in held.reason
    assert seen["shippingInfo"]["shipments"][0]["trackingNumber"] is None


def test_a_lab_that_fails_says_why(story: Story) -> None:
    order = story.submit()
    story.shop.drain()

    (story.carry(order, to="failed") / "reason.txt").write_text("The roll is torn.\n")
    story.look(2)

    with story.shop.database.reading() as db:
        (shipment,) = list_shipments(db, order)
    assert (shipment.state, shipment.reason) == ("failed", "The roll is torn.")
    assert story.see(order)["status"] == "Submitted"
    assert "could not make shipment" in story.see(order)["errorMessage"]


def test_what_one_lab_rejects_appears_at_another(story: Story) -> None:
    order = story.submit()
    story.shop.drain()
    first, _ = story.shipment(order)

    (story.carry(order, to="failed") / "reason.txt").write_text("Rejected: no stickers left.")
    story.look(3)

    second, _ = story.shipment(order)
    assert second != first
    assert story.folder(order, "inbox").is_dir()
    assert story.see(order)["errorMessage"] is None


def test_a_parcel_without_a_tracking_number_is_believed_after_a_while(story: Story) -> None:
    order = story.submit()
    story.shop.drain()

    story.carry(order, to="done")
    story.look(POLLS_WITHOUT_NOTE)

    assert story.see(order)["status"] == "Complete"
    assert story.see(order)["shippingInfo"]["shipments"][0]["trackingNumber"] is None


def test_a_merchant_who_cancels_in_time_gets_nothing_printed(story: Story) -> None:
    order = story.submit()
    story.shop.drain()
    inbox = story.folder(order, "inbox")
    assert inbox.is_dir()

    answer = story.merchant.post(f"/orders/{order}/status", {"status": "Cancelled"})
    story.shop.drain()

    assert answer.status == 200
    assert not inbox.exists()
    assert story.see(order)["status"] == "Cancelled"


def test_a_live_service_does_not_pretend_to_print(
    database: Database, tmp_path: Path, processor: ImageProcessor
) -> None:
    catalogue = change_labs(tmp_path, {"gb-bristol": 'connector = "simulated"'})
    with open_story(database, tmp_path, processor, catalogue=str(catalogue)) as story:
        order = story.submit()

        story.shop.drain()
        story.look(60)

        (job,) = story.shop.jobs(JobKind.SEND_TO_LAB)
        assert (job.state, job.attempts) == ("scheduled", 0)
        assert "gb-bristol is simulated, and this service is live" in job.last_error
        assert story.see(order)["status"] == "Submitted"


def test_a_lab_that_only_pretends_does_not_hide_the_others(
    database: Database, tmp_path: Path, processor: ImageProcessor
) -> None:
    catalogue = change_labs(tmp_path, {"gb-leeds": 'connector = "simulated"'})
    with open_story(database, tmp_path, processor, catalogue=str(catalogue)) as story:
        order = story.submit()
        story.shop.drain()
        assert story.shipment(order)[0] == "gb-bristol"

        (story.carry(order, to="done") / "tracking.txt").write_text("JD0123456789")
        story.look(3)

        assert story.see(order)["status"] == "Complete"
