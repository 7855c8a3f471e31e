"""Idempotency-Key: the same request twice happens once, and is answered the same."""

import threading
from datetime import timedelta
from typing import Any

import pytest

from printworks.actions.accounts.merchants import rotate_key
from printworks.store.accounts.idempotency import KeyClaim, claim_key
from printworks.store.engine.database import Database
from tests.api.client import Client
from tests.api.conftest import MovableClock, an_order
from tests.factories import a_work_by_code
from tests.running import Answer

pytestmark = pytest.mark.both_databases


def create(client: Client, key: str, **members: Any) -> Answer:
    return client.post("/orders", an_order(**members), Idempotency_Key=key)


def test_the_same_request_gets_the_stored_answer_and_happens_once(
    v3: Client, clock: MovableClock
) -> None:
    first = create(v3, "key-1")
    clock.advance(days=1)

    again = create(v3, "key-1")

    assert again.status == 200
    assert again.body == first.body
    assert again.headers["idempotent-replayed"] == "true"
    assert v3.get("/orders").data["count"] == 1


def test_another_request_with_the_same_key_is_refused(v3: Client) -> None:
    create(v3, "key-1")

    another = create(v3, "key-1", recipientName="Tom Fox")

    assert another.status == 422
    assert "another request" in another.error
    assert v3.get("/orders").data["count"] == 1


def test_keys_of_different_merchants_have_nothing_to_do_with_each_other(
    v3: Client, somebody_else: Client
) -> None:
    mine, theirs = create(v3, "key-1"), create(somebody_else, "key-1")

    assert mine.data["id"] != theirs.data["id"]


@pytest.mark.parametrize("prefix", ["/v3.0", "/v2.6"])
def test_a_refused_request_leaves_its_key_to_the_corrected_one(v3: Client, prefix: str) -> None:
    client = Client(v3.server, prefix, v3.credentials)
    good = an_order(
        destinationCountryCode="GB", payment="InvoiceMe", qualityLevel="Pro", address1="1 Lane"
    )
    good.pop("preferredShippingMethod" if prefix == "/v2.6" else "qualityLevel")

    refused = client.post("/orders", {**good, "countryCode": "XX"}, Idempotency_Key="key-1")
    corrected = client.post("/orders", good, Idempotency_Key="key-1")
    again = client.post("/orders", good, Idempotency_Key="key-1")

    assert [refused.status, corrected.status, again.status] == [400, 200, 200]
    assert again.body == corrected.body
    assert v3.get("/orders").data["count"] == 1


def test_a_refusal_is_not_repeated_once_its_reason_is_gone(v3: Client) -> None:
    order = v3.post("/orders", an_order()).data
    path = f"/orders/{order['id']}/status"
    refused = v3.post(path, {"status": "AwaitingPayment"}, Idempotency_Key="key-1")
    v3.put(f"/orders/{order['id']}", an_order(payment="InvoiceRecipient"))

    again = v3.post(path, {"status": "AwaitingPayment"}, Idempotency_Key="key-1")

    assert refused.status == 403
    assert "idempotent-replayed" not in again.headers
    assert again.body != refused.body


def test_a_conflict_leaves_the_key_with_the_first_request(v3: Client) -> None:
    first = create(v3, "key-1")

    assert create(v3, "key-1", recipientName="Tom Fox").status == 422
    assert create(v3, "key-1").body == first.body


def test_eight_refusals_at_once_are_each_answered_and_leave_the_key_free(v3: Client) -> None:
    answers: list[Answer] = []
    threads = [
        threading.Thread(target=lambda: answers.append(create(v3, "key-1", countryCode="XX")))
        for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(answers) == 8
    assert {answer.status for answer in answers} <= {400, 409}
    assert create(v3, "key-1").status == 200


def test_a_put_may_carry_a_key(v3: Client) -> None:
    order = v3.post("/orders", an_order()).data
    path = f"/orders/{order['id']}"

    first = v3.put(path, an_order(recipientName="Tom Fox"), Idempotency_Key="key-1")
    v3.put(path, an_order(recipientName="Ann Fox"))
    again = v3.put(path, an_order(recipientName="Tom Fox"), Idempotency_Key="key-1")

    assert again.body == first.body
    assert v3.get(path).data["recipientName"] == "Ann Fox"


def test_a_refusal_of_the_credentials_is_not_kept(
    v3: Client, database: Database, clock: MovableClock
) -> None:
    v3.get("/orders")
    with database.writing() as db:
        new_key = rotate_key(
            a_work_by_code(db, v3.credentials["X-Service-MerchantId"], now=clock.now),
            old_key_valid_for=timedelta(0),
        )
    renewed = Client(v3.server, "/v3.0", {**v3.credentials, "X-Service-REST-API-Key": new_key})

    assert create(v3, "key-1").status == 401
    assert create(renewed, "key-1").status == 200


def test_a_multipart_request_with_another_boundary_is_the_same_request(v3: Client) -> None:
    def send(boundary: str, name: str) -> Answer:
        fields = an_order(recipientName=name).items()
        parts = [
            f'--{boundary}\r\nContent-Disposition: form-data; name="{key}"\r\n\r\n{value}\r\n'
            for key, value in fields
        ]
        body = "".join(parts) + f"--{boundary}--\r\n"
        content_type = f"multipart/form-data; boundary={boundary}"
        headers = {"Content-Type": content_type, "Idempotency-Key": "key-1"}
        return v3.request("POST", "/orders", body.encode(), headers)

    first, again, another = send("one", "Mary"), send("two", "Mary"), send("three", "Tom")

    assert first.status == 200
    assert again.body == first.body
    assert another.status == 422


@pytest.mark.parametrize("key", ["", "   ", "x" * 256, "a\tb"])
def test_a_key_that_is_none_is_refused(v3: Client, key: str) -> None:
    answer = create(v3, key)

    assert answer.status == 400
    assert "Idempotency-Key" in answer.error


class TestWhileTheFirstIsRunning:
    @pytest.fixture
    def under_way(self, v3: Client, database: Database, clock: MovableClock) -> Client:
        """A merchant whose first request with key-1 has not been answered."""
        create(v3, "key-1")
        with database.writing() as db:
            db.exec_driver_sql("UPDATE idempotency_keys SET answer_status = NULL")
        return v3

    def test_the_same_request_is_asked_to_wait(self, under_way: Client) -> None:
        answer = create(under_way, "key-1")

        assert answer.status == 409
        assert "still running" in answer.error

    def test_it_takes_the_place_of_one_that_died(
        self, under_way: Client, clock: MovableClock
    ) -> None:
        clock.advance(minutes=2)

        assert create(under_way, "key-1").status == 200
        assert create(under_way, "key-1").headers["idempotent-replayed"] == "true"


def test_only_one_of_many_takes_a_key(v3: Client, database: Database, clock: MovableClock) -> None:
    with database.reading() as db:
        merchant_id = db.exec_driver_sql("SELECT id FROM merchants").scalar_one()
    taken = []

    def take(number: int) -> None:
        claim = KeyClaim(merchant_id, "key-1", str(number))
        with database.writing() as db:
            until = clock.now + timedelta(minutes=2)
            taken.append(claim_key(db, claim, fingerprint="x", now=clock.now, until=until))

    threads = [threading.Thread(target=take, args=[number]) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(taken) == [False] * 7 + [True]


def test_eight_at_once_make_one_order(v3: Client) -> None:
    answers: list[Answer] = []
    threads = [
        threading.Thread(target=lambda: answers.append(create(v3, "key-1"))) for _ in range(8)
    ]

    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert {answer.status for answer in answers} <= {200, 409}
    assert len({answer.body for answer in answers if answer.status == 200}) == 1
    assert v3.get("/orders").data["count"] == 1
