"""Requests made up from the documents of the older versions: every answer must fit them."""

from collections.abc import Iterator
from functools import partial
from typing import Any, Final

import pytest
import requests
import schemathesis
from schemathesis.core.result import Ok

from printworks.api.openapi import describe
from printworks.api.v2.endpoints import make_family
from printworks.wire.v2.versions import Version
from tests.api.client import Client
from tests.api.test_schema_fuzzing import CASES_FOR_EACH, WHOLE, InProcess, fuzz
from tests.api.v2.shop import URL, add, create
from tests.worker.shops import A_PICTURE

KNOWN: Final = {
    "type": "4x6",
    "url": URL,
    "file": A_PICTURE,
    "recipientName": "Mary Fox",
    "countryCode": "GB",
    "destinationCountryCode": "GB",
    "status": "Submitted",
}
# What is made up is no choice that the product offers, no hash of this file and no photo.
NEVER_RIGHT: Final = ("attributes", "md5Hash", "affectedImages", "newState")
# A test that got no further than the door would prove little.
USUAL: Final = {
    "GET /Orders/{id}": {200, 404},
    "POST /Orders": {200},
    "PUT /Orders/{id}": {200, 404},
    "GET /Orders/{orderId}/Photos/{photoId}": {200, 404},
    "POST /Orders/{orderId}/Photos/": {200, 404},
    "POST /Orders/{orderId}/Photos/Batch": {200, 404},
    "GET /Catalogue/{countryCode}/{qualityLevel}": {200, 404},
    "GET /Country": {200},
    "POST /Orders/{orderId}/Issues": {404},
}


@pytest.fixture
def session(v2: Client) -> Iterator[requests.Session]:
    """A session that reaches the application."""
    with requests.Session() as session:
        session.headers.update(v2.credentials)
        session.mount("https://", InProcess(v2.server))
        yield session


# What is made up for 3.0 is sent to PostgreSQL; here the shapes matter.
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("backend", ["sqlite"])
def test_no_request_that_can_be_made_up_gets_an_undocumented_answer(
    v2: Client, session: requests.Session
) -> None:
    version = Version(v2.prefix.removeprefix("/v"))
    document = describe(make_family(version), header_prefix="X-Service-")
    adapter = session.get_adapter("https://")
    assert isinstance(adapter, InProcess)
    statuses: dict[str, set[int]] = {}

    for found in schemathesis.openapi.from_dict(document).get_all_operations():
        assert isinstance(found, Ok)
        operation: Any = found.ok()
        before = len(adapter.statuses)
        # As often as it takes to meet the usual answers, but not more often than in a full run.
        for attempt in range(WHOLE // CASES_FOR_EACH):
            order_id = create(v2)
            aim = partial(aim_at, order_id=order_id, photo_id=add(v2, order_id)["id"])
            fuzz(operation, session, v2.prefix, aim, attempt)
            statuses[operation.label] = set(adapter.statuses[before:])
            if USUAL.get(operation.label, set()) <= statuses[operation.label]:
                break

    # An operation without anything to make up is asked less often.
    assert len(adapter.statuses) >= len(statuses) * CASES_FOR_EACH // 2
    for label, expected in USUAL.items():
        assert expected <= statuses[label], label


def aim_at(case: Any, *, order_id: int, photo_id: int) -> None:
    """Let a request be about an order, a photo, a country and a product that exist."""
    there = {"id": order_id, "orderId": order_id, "photoId": photo_id, "countryCode": "GB"}
    for name in there.keys() & set(case.path_parameters or ()):
        case.path_parameters[name] = there[name]
    for body in case.body if isinstance(case.body, list) else [case.body]:
        if isinstance(body, dict):
            body.update({name: value for name, value in KNOWN.items() if name in body})
            for name in NEVER_RIGHT:
                body.pop(name, None)
