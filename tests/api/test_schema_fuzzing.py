"""Thousands of requests made up from the OpenAPI document itself: every answer must fit it."""

import io
from collections.abc import Iterator
from typing import Any, Final

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
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
from tests.api.client import Client, Server, make_scope
from tests.api.conftest import an_order

CASES_FOR_EACH: Final = 360
CHECKS: Final = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
]
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
    """A session that reaches the application, with an order to find there."""
    v3.post("/orders", an_order())
    with requests.Session() as session:
        session.headers.update(v3.credentials)
        session.mount("https://", InProcess(v3.server))
        yield session


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_request_that_can_be_made_up_gets_an_undocumented_answer(
    session: requests.Session,
) -> None:
    schema = schemathesis.openapi.from_dict(DOCUMENT)
    adapter = session.get_adapter("https://")
    assert isinstance(adapter, InProcess)

    for found in schema.get_all_operations():
        assert isinstance(found, Ok)
        fuzz(found.ok(), session)

    assert len(adapter.statuses) >= 2000
    assert {200, 400, 404} <= set(adapter.statuses)


def fuzz(operation: Any, session: requests.Session) -> None:
    """Send one operation many requests."""

    @given(case=operation.as_strategy())
    @settings(
        max_examples=CASES_FOR_EACH,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    def send(case: Any) -> None:
        case.call_and_validate(
            base_url="https://print.example/v3.0", session=session, checks=CHECKS
        )

    send()
