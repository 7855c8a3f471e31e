"""What the documents say is what the service does."""

import json
import re
from pathlib import Path

import pytest

from printworks.api.openapi import describe, encode, statuses_of
from printworks.api.v3.endpoints import V3_0
from printworks.errors import ServiceError
from tests.api.client import Client

DOCS = Path(__file__).parents[2] / "docs" / "api"
EXAMPLE = re.compile(r"```http\n(?P<request>.*?)```\s+```json\n(?P<answer>.*?)```", re.DOTALL)


def test_the_committed_openapi_document_is_the_generated_one() -> None:
    committed = (DOCS / "openapi-v3.0.json").read_bytes()

    assert committed == encode(describe(V3_0, header_prefix="X-Service-")), "Run `make openapi`."


def test_the_served_openapi_document_is_the_committed_one(stranger: Client) -> None:
    served = stranger.get("/openapi.json")

    assert served.status == 200
    assert served.body == (DOCS / "openapi-v3.0.json").read_bytes()


def test_every_example_in_the_guide_is_answered_as_it_says(v3: Client) -> None:
    examples = list(EXAMPLE.finditer((DOCS / "v3.0.md").read_text()))
    assert len(examples) >= 14

    for example in examples:
        head, _, body = example["request"].partition("\n\n")
        first_line, *header_lines = head.strip().splitlines()
        method, target = first_line.split()
        headers = dict(line.split(": ") for line in header_lines)
        # The parts of a body end their lines as HTTP does.
        ending = "\r\n" if "multipart" in head else "\n"
        content = body.strip().replace("\n", ending).encode()
        answer = v3.request(method, target.removeprefix("/v3.0"), content, headers)

        assert answer.json() == json.loads(example["answer"]), first_line


def test_the_guide_lists_every_operation_and_no_other() -> None:
    guide = (DOCS / "v3.0.md").read_text()
    listed = set(re.findall(r"^\| `([A-Z]+ /\S*)` \|", guide, re.MULTILINE))

    assert listed == {f"{endpoint.method} {endpoint.path}" for endpoint in V3_0.endpoints}


def test_every_status_of_the_contract_is_documented() -> None:
    contract = {
        ("GET", "/orders/{id}"): {404},
        ("GET", "/orders"): {404},
        ("POST", "/orders"): {400},
        ("PUT", "/orders/{id}"): {400, 403, 404},
        ("GET", "/orders/{id}/SubmissionStatus"): {404},
        ("POST", "/orders/{id}/status"): {400, 403, 404},
        ("POST", "/orders/{orderId}/images"): {400, 403, 404},
        ("POST", "/orders/{orderId}/images/batch"): {400, 403, 404},
        ("POST", "/images/check"): {400},
        ("GET", "/countries"): set(),
        ("POST", "/catalogue/service direct/destination/{countryCode}/prices"): {400, 404},
        ("GET", "/sandbox/clock"): set(),
        ("POST", "/sandbox/clock"): {400, 409},
    }

    documented = {
        (endpoint.method, endpoint.path): set(statuses_of(endpoint)) for endpoint in V3_0.endpoints
    }

    assert set(documented) == set(contract)
    for operation, statuses in contract.items():
        assert {200} | statuses <= documented[operation]


def test_every_error_has_a_usual_status() -> None:
    endpoint = V3_0.endpoints[0]

    for kind in ServiceError.__subclasses__():
        assert 400 <= endpoint.status_of(kind("x")) < 500


def test_the_reference_page_needs_nothing_from_outside(stranger: Client) -> None:
    page = stranger.get("/docs")

    assert page.status == 200
    addresses = re.findall(rb'(?:src|href)="([^"]+)"', page.body)
    assert not [each for each in addresses if b"//" in each]
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    for name in ("swagger-ui-bundle.js", "swagger-ui.css", "open.js"):
        assert stranger.get(f"/docs/{name}").status == 200


@pytest.mark.parametrize("path", ["/docs/", "/DOCS", "/openapi.json/", "/OpenAPI.json"])
def test_the_documents_are_found_like_everything_else(stranger: Client, path: str) -> None:
    assert stranger.get(path).status == 200
