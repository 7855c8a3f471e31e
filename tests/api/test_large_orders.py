"""Orders with very many images are planned and shown by another process after an update."""

from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import text

from printworks.api.orders import MOST_SHOWN_HERE
from printworks.store.engine.database import Database
from printworks.web.pool import PoolFull
from tests.api.client import Client, Server
from tests.api.conftest import an_order
from tests.api.writing_here import WrittenHere, kill_the_writer, write_here

pytestmark = pytest.mark.slow

AN_IMAGE = {"sku": "GLOBAL-PHO-4X6-PRO", "url": "https://shop.example/cat.jpg", "copies": 1}
EXPRESS = {"preferredShippingMethod": "Express"}


@pytest.fixture
def here(server: Server) -> WrittenHere:
    """Let the answer be written in this process."""
    return write_here(server)


@pytest.fixture
def order_id(v3: Client) -> int:
    """An order that is large enough."""
    return make(v3, MOST_SHOWN_HERE + 1)


def make(client: Client, images: int) -> int:
    order_id = int(client.post("/orders", an_order()).data["id"])
    assert client.post(f"/orders/{order_id}/images/batch", [AN_IMAGE] * images).status == 200
    return order_id


@pytest.mark.both_databases
def test_an_update_answers_with_the_whole_order_in_every_version_and_format(
    here: WrittenHere, v3: Client, order_id: int
) -> None:
    updated = v3.put(f"/orders/{order_id}", an_order(**EXPRESS))
    assert updated.status == 200
    assert updated.headers["content-length"] == str(len(updated.body))
    assert updated.data["preferredShippingMethod"] == "Express"
    assert len(updated.data["images"]) == MOST_SHOWN_HERE + 1
    assert updated.data["shippingInfo"]["shipments"]
    assert updated.data == v3.get(f"/orders/{order_id}").data

    for version in ("2.3", "2.5", "2.6"):
        older = replace(v3, prefix=f"/v{version}")
        answer = older.put(f"/Orders/{order_id}", {"recipientName": f"Reader of {version}"})
        assert answer.status == 200
        assert answer.json()["recipientName"] == f"Reader of {version}"
        assert answer.json() == older.get(f"/Orders/{order_id}").json()

    as_xml = v3.put(f"/orders/{order_id}", an_order(), Accept="application/xml")
    assert as_xml.headers["content-type"] == "application/xml; charset=utf-8"
    assert as_xml.body == v3.get(f"/orders/{order_id}", Accept="application/xml").body
    assert here.orders_written == 5


def test_a_smaller_order_is_shown_by_the_process_that_was_asked(
    here: WrittenHere, v3: Client
) -> None:
    order_id = make(v3, MOST_SHOWN_HERE)

    assert v3.put(f"/orders/{order_id}", an_order(**EXPRESS)).status == 200
    assert here.orders_written == 0


def test_nobody_waits_for_the_other_process_to_start_and_it_may_die(
    server: Server, v3: Client, order_id: int
) -> None:
    app: Any = server.app
    long = app._edge._long
    first = v3.put(f"/orders/{order_id}", an_order(**EXPRESS))
    assert (first.status, long._started.done()) == (200, False)

    long._started.result(60)
    assert v3.put(f"/orders/{order_id}", an_order(**EXPRESS)).body == first.body
    kill_the_writer(server)
    assert v3.put(f"/orders/{order_id}", an_order(**EXPRESS)).body == first.body
    # A thread did it: the next one starts another process.
    assert long._pool is None


@pytest.mark.usefixtures("here")
def test_a_key_brings_the_same_answer_again(v3: Client, order_id: int) -> None:
    key = {"Idempotency-Key": "once"}
    first = v3.put(f"/orders/{order_id}", an_order(**EXPRESS), **key)
    v3.put(f"/orders/{order_id}", an_order())

    again = v3.put(f"/orders/{order_id}", an_order(**EXPRESS), **key)

    assert (first.status, first.data["preferredShippingMethod"]) == (200, "Express")
    assert again.body == first.body
    assert v3.get(f"/orders/{order_id}").data["preferredShippingMethod"] == "Standard"


def test_a_key_stays_free_if_there_is_no_room_to_write(
    here: WrittenHere, v3: Client, order_id: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def have_no_room(*_: object) -> bytes:
        raise PoolFull

    key = {"Idempotency-Key": "once"}
    with monkeypatch.context() as patch:
        patch.setattr(here, "_run", have_no_room)
        refused = v3.put(f"/orders/{order_id}", an_order(**EXPRESS), **key)
    again = v3.put(f"/orders/{order_id}", an_order(**EXPRESS), **key)

    assert (refused.status, refused.headers["retry-after"]) == (503, "1")
    assert (again.status, again.data["preferredShippingMethod"]) == (200, "Express")


@pytest.mark.usefixtures("here")
def test_what_goes_wrong_there_is_refused_as_usual(
    v3: Client, order_id: int, database: Database
) -> None:
    with database.writing() as db:
        # Nothing that the program itself would write.
        db.execute(text("UPDATE images SET status = 'Unheard'"))

    answer = v3.put(f"/orders/{order_id}", an_order(**EXPRESS))

    assert answer.status == 500
    assert answer.headers["x-request-id"] in answer.error
