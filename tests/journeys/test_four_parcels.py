"""What receivers of 2.3, 2.6 and 3.0 hear of an order of four parcels: every step, once."""

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from printworks.imaging.processor import ImageProcessor
from printworks.rules.callbacks import CallbackFormat
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import sign_up
from tests.api.images import an_image, create
from tests.api.production import see, set_status
from tests.worker.hosts import holds
from tests.worker.receivers import Receiver, listen
from tests.worker.shops import A_PICTURE, Shop, open_shop

# Of several bands, and made by several labs.
SKUS: Final = ("GLOBAL-PHO-4X6-PRO", "FRA-INSTA-30X30", "EU-CAN-8X8", "PANEL-5X7")


@pytest.fixture(scope="session")
def processor() -> Iterator[ImageProcessor]:
    """The image processor of all shops."""
    with ImageProcessor(slots=1) as processor:
        yield processor


@pytest.fixture
def shop(database: Database, tmp_path: Path, processor: ImageProcessor) -> Iterator[Shop]:
    """A service with its worker."""
    with open_shop(database, tmp_path, processor) as shop:
        yield shop


@pytest.fixture
def server(shop: Shop) -> Iterator[Server]:
    """The same service over HTTP."""
    server = Server(build_app(shop.settings, shop.clock))
    yield server
    server.close()


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    """A receiver of callbacks."""
    with Receiver() as receiver:
        yield receiver


def fulfil(client: Client, shop: Shop) -> dict[str, Any]:
    """Order one of each, wait until all of it is shipped, and return the order."""
    url = shop.host.at("/sunset.jpg", holds(A_PICTURE))
    order_id = create(client, merchantOrderId="invoice 42")
    batch = [an_image(sku=sku, url=url) for sku in SKUS]
    assert client.post(f"/orders/{order_id}/images/batch", batch).status == 200
    shop.drain()
    assert set_status(client, order_id, "Submitted").status == 200
    shop.drain()
    assert client.post("/sandbox/clock", {"advance": "P10D"}).status == 200
    shop.drain()
    return see(client, order_id)


def without_timestamp(body: dict[str, Any]) -> dict[str, Any]:
    """Return what a callback tells."""
    return {name: value for name, value in body.items() if name != "timestamp"}


@pytest.mark.timeout(120)
@pytest.mark.parametrize("chosen", ["2.3", "2.6", "3.0"])
def test_every_callback_carries_news(
    shop: Shop, server: Server, database: Database, receiver: Receiver, chosen: str
) -> None:
    client = sign_up(server, database, "Mary's shop")
    with database.reading() as db:
        merchant = get_merchant_by_code(db, client.credentials["X-Service-MerchantId"])
    listen(shop, receiver.at("/cb"), merchant=merchant, chosen=CallbackFormat(chosen))

    order = fulfil(client, shop)

    parcels = order["shippingInfo"]["shipments"]
    told = [without_timestamp(heard.told) for heard in receiver.heard]
    assert (order["status"], len(parcels)) == ("Complete", 4)
    assert len(told) == len(parcels) + 3
    assert all(earlier != later for earlier, later in pairwise(told))
    if chosen == "2.3":
        by_number = sorted(parcel["shipmentId"] for parcel in parcels)
        *steps, complete = [(body["eventId"], body["eventData"]) for body in told]
        assert steps[:2] == [
            ("orderStatusChanged", "NotYetSubmitted"),
            ("orderStatusChanged", "Submitted"),
        ]
        assert sorted(steps[2:]) == [("itemsShipped", number) for number in by_number]
        assert complete == ("orderStatusChanged", "Complete")
    else:
        shipped = [
            [one["status"].lower() for one in body["shipments"]].count("shipped") for body in told
        ]
        assert shipped == [0, 0, 1, 2, 3, 4, 4]
        statuses = [body["status"].lower() for body in told]
        assert statuses == ["notyetsubmitted", *["submitted"] * 5, "complete"]
    skipped = [
        event["delivery"]["state"]
        for event in client.get("/events").data["events"]
        if not event["hasNews"]
    ]
    assert skipped == ["skipped"] * 8
