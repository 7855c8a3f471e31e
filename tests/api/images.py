"""Images for the tests of the API: as they are sent, and what becomes of them behind it."""

from typing import Any, Final

from sqlalchemy import select

from printworks.actions.images.images import record_image_status
from printworks.actions.orders.moves import move_order
from printworks.rules.images import ImageStatus
from printworks.rules.jobs import JobKind
from printworks.rules.orders import OrderStatus
from printworks.store.accounts.merchants import get_merchant
from printworks.store.engine.database import Database
from printworks.store.images.images import get_image
from printworks.store.orders.orders import get_order
from printworks.store.tables import jobs, orders
from tests.api.client import Client
from tests.api.conftest import an_order
from tests.factories import NOON, a_work, a_work_of

PHOTO: Final = "GLOBAL-PHO-4X6-PRO"
URL: Final = "https://shop.example/sunset.jpg"

_S = OrderStatus

# How an order comes to be in each status in which it takes no more images.
WAYS: Final = {
    _S.SUBMITTED: [_S.SUBMITTED],
    _S.AWAITING_PAYMENT: [_S.AWAITING_PAYMENT],
    _S.COMPLETE: [_S.SUBMITTED, _S.COMPLETE],
    _S.CANCELLED: [_S.CANCELLED],
}


def an_image(**members: Any) -> dict[str, Any]:
    """Say what makes a valid image."""
    return {"sku": PHOTO, "url": URL, "copies": 1, "sizing": "Crop", **members}


def an_addressed_order(**members: Any) -> dict[str, Any]:
    """Say what makes an order that lacks nothing but images."""
    address = {"address1": "1 High Street", "addressTownOrCity": "London"}
    return an_order(**{**address, "postalOrZipCode": "SW1A 1AA", **members})


def create(client: Client, **members: Any) -> int:
    """Create an order with an address; return its id."""
    return int(client.post("/orders", an_addressed_order(**members)).data["id"])


def add(client: Client, order_id: int, **members: Any) -> dict[str, Any]:
    """Add an image and return it."""
    image: dict[str, Any] = client.post(f"/orders/{order_id}/images", an_image(**members)).data
    return image


def judge(database: Database, image_id: int, status: ImageStatus, **facts: Any) -> None:
    """Say what became of an image, as the worker does."""
    with database.writing() as db:
        image = get_image(db, image_id)
        owner = select(orders.c.merchant_id).where(orders.c.id == image.order_id)
        merchant = get_merchant(db, db.execute(owner).scalar_one())
        assert record_image_status(a_work(db, merchant, now=NOON), image, status, **facts)


def receive(database: Database, image_id: int, width: int = 1200, height: int = 1800) -> None:
    """Say that an image arrived with so many pixels."""
    judge(database, image_id, ImageStatus.OK, width=width, height=height)


def move(database: Database, order_id: int, status: OrderStatus) -> None:
    """Bring an order that is NotYetSubmitted into another status."""
    with database.writing() as db:
        owner = select(orders.c.merchant_id).where(orders.c.id == order_id)
        order = get_order(db, db.execute(owner).scalar_one(), order_id)
        for step in WAYS[status]:
            order = move_order(a_work_of(db, order, now=NOON), order, step)


def promised(database: Database, kind: JobKind) -> list[int]:
    """List the images for which a job of this kind waits."""
    with database.reading() as db:
        found = select(jobs.c.args).where(jobs.c.kind == kind).order_by(jobs.c.id)
        return [args["image"] for args in db.execute(found).scalars()]


def count_images(database: Database, order_id: int) -> int:
    """Return how many images an order says that it has."""
    with database.reading() as db:
        found = select(orders.c.image_count).where(orders.c.id == order_id)
        return int(db.execute(found).scalar_one())
