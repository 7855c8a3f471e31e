"""Lists with very many images: complete, in pieces, and cut only where that is said."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from xml.etree import ElementTree as ET

import msgspec
import pytest
from sqlalchemy import text

from printworks.rules.lists import MOST_AT_ONCE
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from printworks.store.engine.rows import ROWS_AT_ONCE
from printworks.web.app import build_app
from tests.api.client import Client, Server
from tests.api.conftest import an_order
from tests.api.writing_here import kill_the_writer, write_here
from tests.factories import an_order as a_stored_order

pytestmark = pytest.mark.slow

# Oldest first.
SIZES = (250, 250, 0, 250)
AN_IMAGE = {"sku": "GLOBAL-PHO-4X6-PRO", "url": "https://shop.example/cat.jpg", "copies": 1}


@pytest.fixture
def made(v3: Client) -> list[int]:
    """Orders with more images than are listed at once; their ids, newest first."""
    assert sum(SIZES) > MOST_AT_ONCE
    return [make(v3, images) for images in SIZES][::-1]


def make(client: Client, images: int) -> int:
    order_id = int(client.post("/orders", an_order(merchantOrderId=f"with {images}")).data["id"])
    for left in range(images, 0, -250):
        batch = client.post(f"/orders/{order_id}/images/batch", [AN_IMAGE] * min(left, 250))
        assert batch.status == 200, batch.body
    return order_id


@pytest.fixture
def here(server: Server) -> None:
    """Let lists be written in this process."""
    write_here(server)


@contextmanager
def with_pages_of(images: int, server: Server, v3: Client) -> Iterator[Client]:
    """Serve the same orders with another limit."""
    settings, clock = server.app._settings, server.app._clock
    other = Server(build_app(msgspec.structs.replace(settings, list_images=images), clock))
    write_here(other)
    try:
        yield replace(v3, server=other)
    finally:
        other.close()


@pytest.mark.both_databases
def test_a_long_list_is_complete_in_every_version_and_format(v3: Client, made: list[int]) -> None:
    listed = v3.get("/orders")

    assert listed.status == 200
    assert "etag" not in listed.headers
    assert listed.headers["content-type"] == "application/json; charset=utf-8"
    assert listed.headers["cache-control"] == "no-store"
    assert "link" not in listed.headers
    assert list(listed.data) == ["content", "count", "summary"]
    assert listed.data["count"] == 4
    assert listed.data["content"] == [v3.get(f"/orders/{each}").data for each in made]
    for version in ("2.3", "2.5", "2.6"):
        older = replace(v3, prefix=f"/v{version}")
        shown = older.get("/Orders").json()
        assert shown == [older.get(f"/Orders/{each}").json() for each in made]
    assert read_xml(v3, "/orders", "data/content") == made
    assert read_xml(replace(v3, prefix="/v2.6"), "/Orders", ".") == made


def read_xml(client: Client, path: str, where: str) -> list[int]:
    answer = client.get(path, Accept="application/xml")
    assert answer.headers["content-type"] == "application/xml; charset=utf-8"
    assert answer.body.startswith(b"<?xml version=")
    found = ET.fromstring(answer.body).find(where)
    assert found is not None
    return [int(item.findtext("id") or "") for item in found.findall("item")]


@pytest.mark.usefixtures("here")
def test_a_long_list_may_be_of_some_orders_only(v3: Client, made: list[int]) -> None:
    v2_5 = replace(v3, prefix="/v2.5")

    listed = v3.get("/orders?status=NotYetSubmitted&limit=4&start=0")
    some = v2_5.get("/Orders?orderStatus=NotYetSubmitted&count=9")

    assert [order["id"] for order in listed.data["content"]] == made
    assert listed.data["count"] == 4
    assert [order["id"] for order in some.json()] == made


def test_a_cut_page_says_so_and_where_the_rest_begins(
    server: Server, v3: Client, made: list[int]
) -> None:
    with with_pages_of(550, server, v3) as client:
        first = client.get("/orders?limit=4&status=NotYetSubmitted")
        rest = client.get("/orders?limit=4&start=3")
        older = replace(client, prefix="/v2.6").get("/Orders?count=4&offset=0")
        everything = replace(client, prefix="/v2.3").get("/Orders").json()

    assert [order["id"] for order in first.data["content"]] == made[:3]
    assert (first.data["count"], first.data["nextStart"]) == (4, 3)
    assert first.headers["link"] == '<?limit=4&status=NotYetSubmitted&start=3>; rel="next"'
    assert [order["id"] for order in rest.data["content"]] == made[3:]
    assert "nextStart" not in rest.data
    assert [order["id"] for order in older.json()] == made[:3]
    assert older.headers["link"] == '<?count=4&offset=3>; rel="next"'
    # It has no pages.
    assert [order["id"] for order in everything] == made


def test_an_order_with_more_images_than_a_page_may_have_is_shown_alone(
    server: Server, v3: Client
) -> None:
    small, large = make(v3, 1), make(v3, 600)
    with with_pages_of(550, server, v3) as client:
        page = client.get("/orders").data
        rest = client.get(f"/orders?start={page['nextStart']}").data

    assert [order["id"] for order in page["content"]] == [large]
    assert [order["id"] for order in rest["content"]] == [small]


@pytest.mark.usefixtures("here")
def test_the_first_version_lists_any_number_of_orders(v3: Client, database: Database) -> None:
    v2_3 = replace(v3, prefix="/v2.3")
    with database.writing() as db:
        merchant = get_merchant_by_code(db, v3.credentials["X-Service-MerchantId"])
        made = [a_stored_order(db, merchant).id for _ in range(ROWS_AT_ONCE + 1)]

    listed = v2_3.get("/Orders")

    assert "etag" not in listed.headers
    assert [order["id"] for order in listed.json()] == made[::-1]


@pytest.mark.usefixtures("here")
def test_only_the_own_orders_are_in_it(v3: Client, made: list[int], somebody_else: Client) -> None:
    make(somebody_else, 1)

    assert len(v3.get("/orders").data["content"]) == len(made)
    assert len(somebody_else.get("/orders").data["content"]) == 1


@pytest.mark.usefixtures("here", "made")
def test_a_head_has_no_body(v3: Client) -> None:
    answer = v3.request("HEAD", "/orders")

    assert (answer.status, answer.body) == (200, b"")


@pytest.mark.usefixtures("made")
def test_the_process_that_writes_may_die(server: Server, v3: Client) -> None:
    before = v3.get("/orders").body
    kill_the_writer(server)

    assert v3.get("/orders").body == before


@pytest.mark.usefixtures("here", "made")
def test_what_goes_wrong_before_the_first_order_is_refused_as_usual(
    v3: Client, database: Database
) -> None:
    with database.writing() as db:
        # Nothing that the program itself would write.
        db.execute(text("UPDATE images SET status = 'Unheard'"))

    answer = v3.get("/orders")

    assert answer.status == 500
    assert answer.headers["x-request-id"] in answer.error
