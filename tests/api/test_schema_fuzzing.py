"""Thousands of requests made up from the OpenAPI document itself: every answer must fit it."""

import io
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from requests.adapters import HTTPAdapter
from schemathesis.checks import not_a_server_error
from schemathesis.core.result import Ok
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from urllib3 import HTTPResponse

from printworks.api.openapi import describe
from printworks.api.v3.endpoints import V3_0
from printworks.store.engine.database import Database
from tests.api.client import Client, Server, make_scope
from tests.api.images import PHOTO, URL, create
from tests.api.pngs import a_png
from tests.api.v3_0.test_callbacks import listens
from tests.scale import IS_FULL, scaled

BACKENDS: Final = ["sqlite", "postgresql"]
WHOLE: Final = 480
CASES_FOR_EACH: Final = scaled(WHOLE, part=40)
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
KNOWN: Final = {
    "sku": PHOTO,
    "url": URL,
    "file": a_png(60, 90),
    "recipientName": "Mary Fox",
    "countryCode": "GB",
    "skus": [PHOTO],
    "advance": "PT1S",
    # Nothing has happened since: whatever is sent again is work.
    "since": "2026-11-16",
}
# A test that got no further than the door would prove little.
USUAL: Final = {
    "GET /orders/{id}": {200, 404},
    "GET /orders": {200},
    "POST /orders": {200, 400},
    "PUT /orders/{id}": {200, 400, 404},
    "GET /orders/{id}/SubmissionStatus": {200, 404},
    "POST /orders/{id}/status": {200, 403, 404},
    "POST /orders/{orderId}/images": {200, 400, 404},
    "POST /orders/{orderId}/images/batch": {200, 400, 404},
    "POST /images/check": {200, 400},
    "GET /countries": {200},
    "POST /catalogue/service%20direct/destination/{countryCode}/prices": {200, 400, 404},
    "GET /events": {200},
    "POST /callbacks/{id}/resend": {200, 404},
    "POST /callbacks/replay": {200, 400},
    "GET /sandbox/clock": {200},
    "POST /sandbox/clock": {200, 400},
}
# What is made up is no address, and no choice that the product offers.
NEVER_RIGHT: Final = ("packingSlipUrl", "attributes", "priceToUser")
DOCUMENT: Final = describe(V3_0, header_prefix="X-Service-")


class InProcess(HTTPAdapter):
    """Carries requests to the application without a socket."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self.server = server
        self.statuses: list[int] = []

    def send(self, request: requests.PreparedRequest, *_: Any, **__: Any) -> requests.Response:
        """Ask, and dress the answer as the library expects it."""
        headers = {name: _as_text(value) for name, value in request.headers.items()}
        scope = make_scope(str(request.method), request.path_url, headers)
        body = request.body or b""
        content = body if isinstance(body, bytes) else str(body).encode()
        # The library gives no part a file name.
        content = content.replace(b'name="file"\r\n', b'name="file"; filename="a"\r\n')
        message = {"type": "http.request", "body": content}
        answer = self.server.run(self.server.ask(scope, [message]))
        self.statuses.append(answer.status)
        raw = HTTPResponse(
            io.BytesIO(answer.body),
            headers=answer.headers,
            status=answer.status,
            preload_content=False,
        )
        return self.build_response(request, raw)


def _as_text(value: str | bytes) -> str:
    return value.decode("latin-1") if isinstance(value, bytes) else value


@pytest.fixture
def session(v3: Client) -> Iterator[requests.Session]:
    """A session that reaches the application."""
    with requests.Session() as session:
        session.headers.update(v3.credentials)
        session.mount("https://", InProcess(v3.server))
        yield session


# What is made up for 2.x is sent to SQLite.
@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("backend", BACKENDS if IS_FULL else ["postgresql"], indirect=True)
def test_no_request_that_can_be_made_up_gets_an_undocumented_answer(
    v3: Client, somebody_else: Client, session: requests.Session, database: Database
) -> None:
    listens(v3, database)
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    adapter = session.get_adapter("https://")
    assert isinstance(adapter, InProcess)
    statuses: dict[str, set[int]] = {}

    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        operation: Any = found.ok()
        before = len(adapter.statuses)
        if "/sandbox/" in operation.label:
            # Who has ordered nothing: a move would go and fetch every picture on the way.
            session.headers.update(somebody_else.credentials)
        else:
            session.headers.update(v3.credentials)
        # As often as it takes to meet the usual answers, but not more often than in a full run.
        for attempt in range(WHOLE // CASES_FOR_EACH):
            fuzz(operation, session, v3.prefix, partial(aim_at, order_id=create(v3)), attempt)
            statuses[operation.label] = set(adapter.statuses[before:])
            if USUAL.get(operation.label, set()) <= statuses[operation.label]:
                break

    # An operation without anything to make up is asked less often.
    assert len(adapter.statuses) >= len(statuses) * CASES_FOR_EACH // 2
    assert len(statuses) == len(V3_0.endpoints)
    for label, expected in USUAL.items():
        assert expected <= statuses[label], label


def fuzz(
    operation: Any,
    session: requests.Session,
    prefix: str,
    aim: Callable[[Any], None],
    attempt: int,
) -> None:
    """Send one operation many requests, half of them about something that exists."""

    # A run must not fail by chance: new requests are made up by the full run only.
    @seed(secrets.randbits(32) if IS_FULL else attempt)
    @given(case=operation.as_strategy(), is_aimed=st.booleans())
    @settings(
        max_examples=CASES_FOR_EACH,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    def send(case: Any, is_aimed: bool) -> None:
        if is_aimed:
            aim(case)
        case.call_and_validate(
            base_url=f"https://print.example{prefix}", session=session, checks=CHECKS
        )

    send()


def aim_at(case: Any, *, order_id: int) -> None:
    """Let a request be about an order, a country and a product that exist."""
    for name in {"id", "orderId"} & set(case.path_parameters or ()):
        case.path_parameters[name] = order_id
    if "countryCode" in (case.path_parameters or ()):
        case.path_parameters["countryCode"] = KNOWN["countryCode"]
    for body in case.body if isinstance(case.body, list) else [case.body]:
        if isinstance(body, dict):
            body.update({name: value for name, value in KNOWN.items() if name in body})
            for name in NEVER_RIGHT:
                body.pop(name, None)
