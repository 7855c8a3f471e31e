"""Requests that come at the same time: each is answered as if it were alone."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import select, update

from printworks.api.messages import Response
from printworks.api.orders import MOST_SHOWN_AT_ONCE
from printworks.api.responses import render
from printworks.store.engine.database import Database
from printworks.store.tables import orders, payment_requests
from tests.api.client import Client
from tests.api.conftest import an_order
from tests.api.images import add, an_addressed_order, an_image, create
from tests.running import Answer

pytestmark = pytest.mark.both_databases


def test_requests_that_wait_together_are_answered_together(v3: Client) -> None:
    with ThreadPoolExecutor(16) as callers:
        bodies = [an_order(recipientName=f"No. {number}") for number in range(60)]
        bodies[::3] = [an_order(countryCode="QQ")] * 20
        answers = list(callers.map(lambda body: v3.post("/orders", body), bodies))

    assert [answer.status for answer in answers[::3]] == [400] * 20
    for body, answer in zip(bodies, answers, strict=True):
        if answer.status == 200:
            assert answer.data["recipientName"] == body["recipientName"]
    assert v3.get("/orders").data["count"] == 40


def test_changes_at_the_same_time_build_on_each_other(v3: Client) -> None:
    names = ["address1", "address2", "addressTownOrCity", "stateOrCounty", "postalOrZipCode"]
    order = v3.post("/orders", an_order()).data

    with ThreadPoolExecutor(8) as callers:
        changes = [an_order(**{name: f"{name} {turn}"}) for turn in range(4) for name in names]
        answers = list(callers.map(lambda body: v3.put(f"/orders/{order['id']}", body), changes))

    assert {answer.status for answer in answers} == {200}
    final = v3.get(f"/orders/{order['id']}").data
    assert final in [answer.data for answer in answers]
    assert all(final[name] for name in names)


def test_whoever_asks_for_it_at_the_same_time_gets_the_same_payment_address(v3: Client) -> None:
    order = v3.post("/orders", an_order()).data
    body = an_order(payment="InvoiceRecipient")

    with ThreadPoolExecutor(8) as callers:
        answers = list(callers.map(lambda _: v3.put(f"/orders/{order['id']}", body), range(8)))

    assert len({answer.data["paymentUrl"] for answer in answers}) == 1


def test_images_that_are_refused_take_nothing_from_those_that_come_with_them(v3: Client) -> None:
    order_id = create(v3)
    bodies = [an_image(copies=number) for number in range(30)]
    bodies[::3] = [an_image(sku="NO-SUCH-SKU")] * 10

    with ThreadPoolExecutor(8) as callers:
        path = f"/orders/{order_id}/images"
        answers = list(callers.map(lambda body: v3.post(path, body), bodies))

    assert [answer.status for answer in answers[::3]] == [400] * 10
    added = [answer.data for answer in answers if answer.status == 200]
    shown = v3.get(f"/orders/{order_id}").data["images"]
    assert len(added) == 20
    assert shown == sorted(added, key=lambda image: int(image["id"]))


@pytest.mark.parametrize("method", ["Express", "Standard"])
def test_whoever_writes_does_not_wait_for_a_large_answer(
    v3: Client, database: Database, monkeypatch: pytest.MonkeyPatch, method: str
) -> None:
    """Neither for one with new prices, nor for one with the old ones."""
    order_id, images = create(v3), [an_image()] * (MOST_SHOWN_AT_ONCE + 1)
    v3.post(f"/orders/{order_id}/images/batch", images)
    seen = v3.get(f"/orders/{order_id}").data
    written = []

    def write_meanwhile(*given: Any) -> Response:
        with database.writing() as db:
            written.append(db.execute(update(orders).values(recipient_name="Meanwhile")).rowcount)
        return render(*given)

    monkeypatch.setattr("printworks.api.answers.render", write_meanwhile)
    body = an_addressed_order(preferredShippingMethod=method, address2="Flat 2")
    changed = v3.put(f"/orders/{order_id}", body).data

    assert written == [1]
    assert len(changed["images"]) == len(images)
    assert (changed["price"] == seen["price"]) == (method == "Standard")


@pytest.mark.parametrize("count", [MOST_SHOWN_AT_ONCE, MOST_SHOWN_AT_ONCE + 1])
def test_a_change_answers_with_the_order_as_it_is(v3: Client, count: int) -> None:
    order_id = create(v3)
    v3.post(f"/orders/{order_id}/images/batch", [an_image()] * count)
    v3.get(f"/orders/{order_id}")

    changed = v3.put(f"/orders/{order_id}", an_addressed_order(address2="Flat 2")).data

    assert changed == v3.get(f"/orders/{order_id}").data


def test_an_image_comes_before_the_submission_or_not_at_all(v3: Client) -> None:
    order_id = create(v3)
    first = add(v3, order_id)

    def send(number: int) -> Answer:
        if number == 6:
            return v3.post(f"/orders/{order_id}/status", {"status": "Submitted"})
        return v3.post(f"/orders/{order_id}/images", an_image())

    with ThreadPoolExecutor(6) as callers:
        answers = list(callers.map(send, range(12)))

    submission = answers.pop(6)
    added = [answer.data for answer in answers if answer.status == 200]
    assert submission.status == 200
    assert {answer.status for answer in answers} <= {200, 403}
    order = v3.get(f"/orders/{order_id}").data
    assert order["status"] == "Submitted"
    assert order["images"] == [first, *sorted(added, key=lambda image: int(image["id"]))]


def test_submissions_that_are_refused_take_nothing_from_those_that_come_with_them(
    v3: Client, database: Database
) -> None:
    ids = [create(v3) for _ in range(12)]
    complete = [one for place, one in enumerate(ids) if place % 3]
    for order_id in complete:
        add(v3, order_id)
    wanted = [*ids, *ids]

    with ThreadPoolExecutor(8) as callers:
        submit = {"status": "Submitted"}
        answers = list(callers.map(lambda one: v3.post(f"/orders/{one}/status", submit), wanted))

    statuses = [answer.status for answer in answers]
    assert statuses[:12:3] + statuses[12::3] == [403] * 8
    # Each of the others is submitted and paid for once, however often it is asked for. Whoever
    # asks again while the payment is under way hears how that ended.
    pairs = [pair for pair in zip(statuses[:12], statuses[12:], strict=True) if 200 in pair]
    assert len(pairs) == 8
    assert {status for pair in pairs for status in pair} <= {200, 403}
    with database.reading() as db:
        paid = db.execute(select(payment_requests.c.order_id)).scalars()
        assert sorted(paid) == complete
    found = [v3.get(f"/orders/{one}").data["status"] for one in ids]
    assert found == ["NotYetSubmitted", "Submitted", "Submitted"] * 4


def test_a_large_body_does_not_keep_others_from_writing(v3: Client) -> None:
    large = an_order(colours=["x" * 20_000])

    assert v3.post("/orders", large).status == 200


def test_whoever_polls_at_the_same_time_gets_an_answer_of_their_own(
    v3: Client, somebody_else: Client
) -> None:
    mine = [create(v3) for _ in range(3)]
    stranger = replace(
        v3, credentials={**v3.credentials, "X-Service-REST-API-Key": "pw_sandbox_wrong"}
    )
    for order_id in mine:
        # Kept from now on.
        v3.get(f"/orders/{order_id}")

    def ask(number: int) -> tuple[int, object]:
        client = (v3, somebody_else, stranger)[number % 3]
        answer = client.get(f"/orders/{mine[number // 3 % 3]}")
        return answer.status, answer.data["id"] if answer.status == 200 else None

    with ThreadPoolExecutor(16) as callers:
        answers = list(callers.map(ask, range(90)))

    assert answers[1::3] == [(404, None)] * 30
    assert answers[2::3] == [(401, None)] * 30
    assert answers[::3] == [(200, mine[number % 3]) for number in range(30)]
