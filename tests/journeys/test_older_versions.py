"""The story of an order as programs of the older versions see it: from creation to complaint."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest

from printworks.imaging.processor import ImageProcessor
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import sign_up
from tests.api.v2.shop import see, seen, upload
from tests.running import Answer, command
from tests.scale import IS_FULL
from tests.worker.hosts import holds
from tests.worker.receivers import Receiver, listen
from tests.worker.shops import A_PICTURE, ANOTHER_PICTURE, Shop, open_shop

VERSIONS: Final = ("2.3", "2.5", "2.6")
FORM: Final = "application/x-www-form-urlencoded"
JSON: Final = "application/json"
PRINT: Final = "GLOBAL-PHO-4X6-PRO"

# Each way of sending on one database: what a program sends and what is stored do not meet.
EACH_ONCE: Final = [("sqlite", FORM), ("postgresql", JSON)]
EVERY_PAIR: Final = [(backend, sends) for backend, _ in EACH_ONCE for sends in (FORM, JSON)]
pytestmark = pytest.mark.parametrize(
    ("backend", "sends"), EVERY_PAIR if IS_FULL else EACH_ONCE, indirect=["backend"]
)

# What each version can say when it makes an order, and what 3.0 understands by it.
WISHES: Final[Mapping[str, Mapping[str, str]]] = {
    "2.3": {},
    "2.5": {"preferredShippingMethod": "PRIORITY", "merchantOrderId": "A-25"},
    "2.6": {"preferredShippingMethod": "PRIORITY", "merchantOrderId": "A-26"},
}
UNDERSTOOD: Final = {"2.3": "Budget", "2.5": "Express", "2.6": "Express"}
METHODS_SHOWN: Final = {"Budget": "CHEAPEST", "Express": "PRIORITY"}


@dataclass(frozen=True)
class Program:
    """A merchant's program for one of the older versions, which sends forms or JSON."""

    client: Client
    content_type: str

    def send(self, method: str, path: str, **fields: Any) -> Any:
        """Send fields and return what is shown."""
        body = urlencode(fields) if self.content_type == FORM else json.dumps(fields)
        headers = {"Content-Type": self.content_type}
        return seen(self.client.request(method, path, body.encode(), headers))

    def get(self, path: str) -> Any:
        """Return what is shown."""
        return seen(self.client.get(path))

    def speaking(self, version: str) -> Client:
        """Return the same merchant's program for another version."""
        return replace(self.client, prefix=f"/v{version}")


@dataclass(frozen=True)
class Story:
    """A merchant with all its programs, the service, and who hears of its orders."""

    merchant: Client
    shop: Shop
    receiver: Receiver

    def add_photos(self, program: Program, order: int) -> list[int]:
        """Add a photo by its address and another with its file; see the first one arrive."""
        url = self.shop.host.at("/sunset.jpg", holds(A_PICTURE))
        fetched = program.send(
            "POST", f"/Orders/{order}/Photos/", type="4x6", url=url, copies=2, sizing="Crop"
        )
        uploaded = seen(upload(program.client, order, ANOTHER_PICTURE))
        assert (fetched["status"], uploaded["status"]) == ("NotYetDownloaded", "Ok")
        self.shop.drain()
        assert [photo["status"] for photo in program.get(f"/Orders/{order}/Photos")] == ["Ok"] * 2
        return [fetched["id"], uploaded["id"]]

    def pass_days(self, days: int) -> None:
        """Move the merchant's clock, as its program does in the sandbox."""
        moved: Answer = self.merchant.post("/sandbox/clock", {"advance": f"P{days}D"})
        assert moved.status == 200, moved.body
        self.shop.drain()

    def operate(self, *words: str) -> None:
        """Let the operator type a command."""
        settings = self.shop.settings
        url = {"PRINTWORKS_DATABASE_URL": str(settings.database_url)}
        command(*words, data=settings.data, settings=url)

    def told(self, order: int) -> list[dict[str, Any]]:
        """Return the callbacks of an order that came."""
        heard = [each.told for each in self.receiver.heard]
        return [body for body in heard if body["orderId"] == order]


@pytest.fixture(scope="session")
def processor() -> Iterator[ImageProcessor]:
    """The image processor of all shops."""
    with ImageProcessor(slots=1) as processor:
        yield processor


@pytest.fixture
def story(database: Database, tmp_path: Path, processor: ImageProcessor) -> Iterator[Story]:
    """A running service with a worker, on one database, with one store of files and one clock."""
    with open_shop(database, tmp_path, processor) as shop, Receiver() as receiver:
        server = Server(build_app(shop.settings, shop.clock))
        client = sign_up(server, database, "Mary's shop")
        with database.reading() as db:
            merchant = get_merchant_by_code(db, client.credentials["X-Service-MerchantId"])
        listen(shop, receiver.at("/callbacks?shop=1"), merchant=merchant)
        yield Story(client, shop, receiver)
        server.close()


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    """The version that the merchant's program was written for."""
    return str(request.param)


@pytest.fixture
def program(story: Story, version: str, sends: str) -> Program:
    """The merchant's program."""
    return Program(replace(story.merchant, prefix=f"/v{version}"), sends)


def create(program: Program, version: str) -> int:
    """Create an order as old programs do: empty first, then filled by several PUTs."""
    order = program.send(
        "POST",
        "/Orders",
        recipientName="",
        payment="",
        destinationCountryCode="CH",
        countryCode="GB",
        qualityLevel="Pro",
        **WISHES[version],
    )
    path = f"/Orders/{order['id']}"
    program.send("PUT", path, recipientName="Zoë Müller", payment="InvoiceMe")
    program.send("PUT", path, address1="Seegasse 1", addressTownOrCity="Zürich")
    filled = program.send("PUT", path, postalOrZipCode="8001")
    assert (filled["recipientName"], filled["addressTownOrCity"]) == ("Zoë Müller", "Zürich")
    return int(filled["id"])


def complete(story: Story, program: Program, version: str) -> tuple[int, list[int]]:
    """Bring an order from creation to the parcel; return its number and those of its photos."""
    order = create(program, version)
    empty = program.get(f"/Orders/{order}/SubmissionStatus")
    assert (empty["isValid"], empty["generalErrors"]) == (False, ["NoItemsInOrder"])
    photos = story.add_photos(program, order)
    checked = program.get(f"/Orders/{order}/SubmissionStatus")
    assert checked == {
        "id": order,
        "isValid": True,
        "generalErrors": [],
        "photos": [],
        "errorMessage": None,
    }

    submitted = program.send("POST", f"/Orders/{order}/Status", status="Submitted")

    assert submitted == {"errorMessage": None}
    assert program.get(f"/Orders/{order}")["status"] == "Submitted"
    story.pass_days(10)
    return order, photos


def test_an_order_goes_from_creation_to_a_settled_complaint(
    story: Story, program: Program, version: str
) -> None:
    order, photos = complete(story, program, version)

    shown = program.get(f"/Orders/{order}")
    assert (shown["status"], shown["errorMessage"]) == ("Complete", None)
    prints = sum(photo["price"] * photo["copies"] for photo in shown["photos"])
    assert shown["price"] == prints + shown["shippingInfo"]["price"]
    shipments = shown["shippingInfo"]["shipments"]
    assert sorted(photo for each in shipments for photo in each["photoIds"]) == photos
    for shipment in shipments:
        assert shipment["shipmentId"].isdecimal()
        assert shipment["shippedOn"] > "2026-11-15"
        assert shipment["carrier"]
    logged = program.get(f"/Orders/{order}/Logs")["logs"]
    assert [line["message"] for line in logged if line["title"] == "Status update"] == [
        "Order updated from NotYetSubmitted to Submitted",
        "Order updated from Submitted to Complete",
    ]

    complain_and_settle(story, program, order, photos[0])


def complain_and_settle(story: Story, program: Program, order: int, photo: int) -> None:
    """Raise an issue, let the operator take and resolve it, and read it each time."""
    issue = program.send(
        "POST",
        f"/Orders/{order}/Issues",
        issue="PrintDefects",
        issueDetail="There is a stripe.",
        action="Refund",
        affectedImages=str(photo),
    )
    path = f"/Orders/{order}/Issues/{issue['id']}"
    assert (issue["issueState"], issue["affectedImages"]) == ("Open", [str(photo)])

    story.operate("issue", "take", issue["id"], "--comment", "We look into it.")
    assert program.get(path)["issueState"] == "InProgress"
    program.send("PUT", path, comment="Thank you.")
    story.operate("issue", "resolve", issue["id"], "--refund", "50", "--comment", "Sorry.")

    resolved = program.get(path)
    assert resolved["issueState"] == "ClosedResolved"
    said = [
        resolved["commentary"].find(each) for each in ("We look into it.", "Thank you.", "Sorry.")
    ]
    assert -1 < said[0] < said[1] < said[2]
    listed = program.get(f"/Orders/{order}/Issues")
    assert listed["issues"] == listed["Issues"] == [resolved]


def test_every_version_shows_the_same_order_in_its_own_words(
    story: Story, program: Program, version: str
) -> None:
    order, photos = complete(story, program, version)
    mine = program.get(f"/Orders/{order}")

    now = story.merchant.get(f"/orders/{order}").data
    assert (now["status"], now["countryCode"], now["price"]) == ("Complete", "CH", mine["price"])
    assert [(image["id"], image["sku"]) for image in now["images"]] == [
        (photo, PRINT) for photo in photos
    ]
    assert now["preferredShippingMethod"] == UNDERSTOOD[version]
    assert now["merchantOrderId"] == WISHES[version].get("merchantOrderId")
    numbers = {each["shipmentId"] for each in now["shippingInfo"]["shipments"]}
    assert numbers == {str(each["shipmentId"]) for each in mine["shippingInfo"]["shipments"]}
    for other in VERSIONS:
        client = program.speaking(other)
        theirs = see(client, order)
        common = set(mine) & set(theirs)
        assert {name: theirs[name] for name in common} == {name: mine[name] for name in common}
        assert (theirs["destinationCountryCode"], theirs["countryCode"]) == ("CH", "GB")
        assert [photo["type"] for photo in theirs["photos"]] == ["4x6", "4x6"]
        method = METHODS_SHOWN[UNDERSTOOD[version]]
        assert theirs.get("preferredShippingMethod", method) == method
        assert order in [each["id"] for each in seen(client.get("/Orders"))]
        [switzerland] = [
            each for each in seen(client.get("/Country")) if each["countryCode"] == "CH"
        ]
        assert (
            switzerland["name"] == seen(client.get("/Catalogue/CH/Pro"))["country"] == "SWITZERLAND"
        )


def test_callbacks_come_in_the_words_of_the_version(
    story: Story, program: Program, version: str
) -> None:
    order, photos = complete(story, program, version)

    told = story.told(order)
    assert [status for status, _ in groupby(body["status"] for body in told)] == [
        "notyetsubmitted",
        "submitted",
        "complete",
    ]
    reference = WISHES[version].get("merchantOrderId")
    always = {"orderId": order, "id": order, "merchantOrderId": reference, "environment": "SANDBOX"}
    for body in told:
        assert {name: body[name] for name in always} == always
    if version == "2.3":
        check_events(told)
    else:
        check_shipments(told, photos)


def check_events(told: list[dict[str, Any]]) -> None:
    """Check what only 2.3 is told."""
    changes = [body["eventData"] for body in told if body["eventId"] == "orderStatusChanged"]
    assert changes == ["NotYetSubmitted", "Submitted", "Complete"]
    assert "itemsShipped" in {body["eventId"] for body in told}
    assert not any("shipments" in body for body in told)


def check_shipments(told: list[dict[str, Any]], photos: list[int]) -> None:
    """Check what 2.3 is not told."""
    assert told[0]["shipments"] == []
    assert not any("eventData" in body or "eventId" in body for body in told)
    seen_words = {each["status"] for body in told for each in body["shipments"]}
    assert seen_words == {"inprogress", "shipped"}
    last = told[-1]["shipments"]
    assert sorted(item for each in last for item in each["items"]) == photos
    assert {each["status"] for each in last} == {"shipped"}
    assert set(last[0]) == {"items", "status", "trackingNumber", "trackingUrl"}
