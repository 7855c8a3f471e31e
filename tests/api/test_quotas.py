"""Files that are too many, or for which there is no room, are refused before they are read."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from sqlalchemy import update

from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.tables import merchants
from tests.api.client import Client, Server, make_scope
from tests.api.conftest import an_order
from tests.api.v2 import shop
from tests.worker.shops import A_PICTURE

AN_IMAGE = {"sku": "GLOBAL-PHO-4X6-PRO", "url": "https://shop.example/cat.jpg", "copies": 1}
QUOTA = 5_000_000
FULL = (
    "The files of this account take 0.0 GB and may take 0.0 GB. Cancel orders that are not "
    "needed and wait until old files are deleted, or ask the operator for more room."
)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, merchant_files=QUOTA, open_uploads=1, order_images=2)


@pytest.fixture
def v2(v3: Client) -> Client:
    return replace(v3, prefix="/v2.6")


class TestTheQuota:
    def test_a_merchant_with_too_many_files_adds_no_more(
        self, v3: Client, v2: Client, database: Database
    ) -> None:
        order, photos = int(v3.post("/orders", an_order()).data["id"]), shop.create(v2)
        waiting = shop.add(v2, photos, url="")["id"]
        with database.writing() as db:
            db.execute(update(merchants).values(file_bytes=QUOTA))

        refused = [
            v3.post(f"/orders/{order}/images", AN_IMAGE),
            v3.post(f"/orders/{order}/images/batch", [AN_IMAGE]),
            v2.post(f"/Orders/{photos}/Photos/", shop.a_photo()),
            shop.upload(v2, photos, A_PICTURE),
            shop.fill(v2, f"/Orders/{photos}/Photos/{waiting}", A_PICTURE),
            v2.put(f"/Orders/{photos}/Photos/{waiting}", {"url": shop.URL}),
        ]

        assert [answer.status for answer in refused] == [403] * 6
        assert {answer.error for answer in refused} == {FULL}
        assert v3.get(f"/orders/{order}").data["images"] == []
        assert len(shop.see(v2, photos)["photos"]) == 1

    def test_an_uploaded_file_counts(self, v2: Client, database: Database) -> None:
        order = shop.create(v2)

        assert shop.upload(v2, order, A_PICTURE).status == 200
        assert shop.upload(v2, order, A_PICTURE).status == 200

        with database.reading() as db:
            assert db.execute(merchants.select()).one().file_bytes == len(A_PICTURE)

    def test_an_order_has_no_more_images_than_the_operator_allows(
        self, v3: Client, v2: Client
    ) -> None:
        order = int(v3.post("/orders", an_order()).data["id"])

        three = v3.post(f"/orders/{order}/images/batch", [AN_IMAGE] * 3)
        two = v3.post(f"/orders/{order}/images/batch", [AN_IMAGE] * 2)
        older = shop.create(v2)
        for _ in range(2):
            shop.add(v2, older)
        third = v2.post(f"/Orders/{older}/Photos/", shop.a_photo())

        assert (three.status, two.status, third.status) == (403, 200, 403)
        assert three.error == (
            "The order has 0 images and may have 2 at most; create another order for the others."
        )
        assert third.error == (
            "The order has 2 photos and may have 2 at most; create another order for the others."
        )


class TestTheDisk:
    def test_a_file_is_refused_while_there_is_no_room(
        self, v2: Client, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        order = shop.create(v2)
        with monkeypatch.context() as crowded:
            crowded.setattr("printworks.actions.services.disk_usage", lambda _: Disk(10**8))
            refused = shop.upload(v2, order, A_PICTURE)
            by_address = shop.add(v2, order)
        taken = shop.upload(v2, order, A_PICTURE)

        assert refused.status == 507
        assert refused.headers["retry-after"] == "60"
        assert refused.error == (
            "There is no room for more files at the moment; the operator has to make room. "
            "Try again later."
        )
        # The download waits for room.
        assert by_address["status"] == "NotYetDownloaded"
        assert taken.status == 200


class Disk:
    """What a disk says of itself."""

    def __init__(self, free: int) -> None:
        self.free = free


def test_one_upload_too_many_is_refused_and_nobody_elses(
    server: Server, v2: Client, somebody_else: Client
) -> None:
    order = shop.create(v2)
    bob = replace(somebody_else, prefix="/v2.6")
    theirs = shop.create(bob)

    with arriving(server, v2, order):
        refused = shop.upload(v2, order, A_PICTURE)
        other = shop.upload(bob, theirs, A_PICTURE)
    taken = shop.upload(v2, order, A_PICTURE)

    assert refused.status == 429
    assert refused.headers["retry-after"] == "5"
    assert refused.error == (
        "As many files of this account are arriving as may at once (1); send this one again when "
        "one of them is complete."
    )
    assert (other.status, taken.status) == (200, 200)


@contextmanager
def arriving(server: Server, client: Client, order_id: int) -> Iterator[None]:
    """Let a file arrive that is not complete before the block ends."""
    headers = {**client.credentials, "Content-Type": "multipart/form-data; boundary=XX"}
    scope = make_scope("POST", f"{client.prefix}/Orders/{order_id}/Photos/", headers)

    async def begin() -> tuple[asyncio.Future[None], asyncio.Event]:
        is_begun, is_over = asyncio.Event(), asyncio.Event()

        async def receive() -> dict[str, Any]:
            is_begun.set()
            await is_over.wait()
            return {"type": "http.disconnect"}

        async def send(_message: dict[str, Any]) -> None:
            """Let nobody hear it."""

        running = asyncio.ensure_future(server.app(scope, receive, send))
        await is_begun.wait()
        return running, is_over

    async def end() -> None:
        is_over.set()
        await running

    running, is_over = server.run(begin())
    try:
        yield
    finally:
        server.run(end())
