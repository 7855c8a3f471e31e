"""Requests that come at the same time: each is answered as if it were alone."""

from concurrent.futures import ThreadPoolExecutor

from tests.api.client import Client
from tests.api.conftest import an_order


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


def test_a_large_body_does_not_keep_others_from_writing(v3: Client) -> None:
    large = an_order(colours=["x" * 20_000])

    assert v3.post("/orders", large).status == 200
