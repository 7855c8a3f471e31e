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
