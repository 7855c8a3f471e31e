"""What the documents say is what the service does."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from printworks.api.openapi import describe, encode, statuses_of
from printworks.api.v3.endpoints import V3_0
from printworks.errors import OutOfRoom, ServiceError, ServiceUnavailable
from printworks.settings import Settings
from tests.api.client import Client
from tests.worker.hosts import PictureHost, holds
from tests.worker.shops import A_PICTURE

DOCS = Path(__file__).parents[2] / "docs" / "api"
EXAMPLE = re.compile(r"```http\n(?P<request>.*?)```\s+```json\n(?P<answer>.*?)```", re.DOTALL)
# Where the merchants of the guide keep their pictures.
SHOP = "https://shop.example"
# Stands for what the guide leaves out: other members, or the rest of a text.
MORE = "…"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """A private sandbox, which may fetch pictures from this machine."""
    return Settings.load(tmp_path, {})


@pytest.fixture
def host() -> Iterator[PictureHost]:
    """The server of the merchant's pictures."""
    with PictureHost() as host:
        yield host


def fits(shown: Any, said: Any) -> bool:
    """Say whether an answer is what the guide shows of it."""
    match shown:
        case dict():
            return (
                isinstance(said, dict)
                and (MORE in shown or shown.keys() == said.keys())
                and all(
                    name in said and fits(shown[name], said[name]) for name in {*shown} - {MORE}
                )
            )
        case [*first, "…"]:
            return isinstance(said, list) and fits(first, said[: len(first)])
        case list():
            return (
                isinstance(said, list) and len(shown) == len(said) and all(map(fits, shown, said))
            )
        case str() if shown.endswith(MORE):
            return isinstance(said, str) and said.startswith(shown.removesuffix(MORE))
    return bool(shown == said)


def test_the_committed_openapi_document_is_the_generated_one() -> None:
    committed = (DOCS / "openapi-v3.0.json").read_bytes()

    assert committed == encode(describe(V3_0, header_prefix="X-Service-")), "Run `make openapi`."


def test_the_served_openapi_document_is_the_committed_one(stranger: Client) -> None:
    served = stranger.get("/openapi.json")

    assert served.status == 200
    assert served.body == (DOCS / "openapi-v3.0.json").read_bytes()


@pytest.mark.slow
@pytest.mark.both_databases
def test_every_example_in_the_guide_is_answered_as_it_says(v3: Client, host: PictureHost) -> None:
    examples = list(EXAMPLE.finditer((DOCS / "v3.0.md").read_text()))
    assert len(examples) >= 20
    here = host.at("/sunset.jpg", holds(A_PICTURE)).removesuffix("/sunset.jpg")
    host.at("/cat.png", holds(A_PICTURE))

    for example in examples:
        head, _, body = example["request"].partition("\n\n")
        first_line, *header_lines = head.strip().splitlines()
        method, target = first_line.split()
        headers = dict(line.split(": ") for line in header_lines)
        # The parts of a body end their lines as HTTP does.
        ending = "\r\n" if "multipart" in head else "\n"
        content = body.strip().replace("\n", ending).replace(SHOP, here).encode()
        answer = v3.request(method, target.removeprefix("/v3.0"), content, headers)

        said = answer.body.decode().replace(here, SHOP)
        assert fits(json.loads(example["answer"]), json.loads(said)), f"{first_line}\n{said}"


def test_the_guide_lists_every_operation_and_no_other() -> None:
    guide = (DOCS / "v3.0.md").read_text()
    listed = set(re.findall(r"^\| `([A-Z]+ /[^`]*)` \|", guide, re.MULTILINE))

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
        ("PUT", "/orders/{orderId}/images/{imageId}"): {400, 403, 404},
        ("PATCH", "/orders/{orderId}/images/{imageId}"): {400, 403, 404},
        ("POST", "/images/check"): {400},
        ("GET", "/countries"): set(),
        ("POST", "/catalogue/service direct/destination/{countryCode}/prices"): {400, 404},
        ("GET", "/events"): {400},
        ("POST", "/callbacks/{id}/resend"): {403, 404},
        ("POST", "/callbacks/replay"): {400, 403},
        ("GET", "/catalogue/service direct/destination/{countryCode}/shippingRates"): {404},
        ("GET", "/invoices"): {400},
        ("GET", "/invoices/{number}"): {404},
        ("GET", "/invoices/{number}/pdf"): {404},
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
        is_ours = kind in {ServiceUnavailable, OutOfRoom}
        assert endpoint.status_of(kind("x")) // 100 == (5 if is_ours else 4)


def test_the_reference_page_needs_nothing_from_outside(stranger: Client) -> None:
    page = stranger.get("/docs")

    assert page.status == 200
    addresses = re.findall(rb'(?:src|href)="([^"]+)"', page.body)
    assert not [each for each in addresses if b"//" in each.replace(b"https://print.example", b"")]
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    for name in ("guide", "callbacks", "versions"):
        assert stranger.get(f"/docs/{name}").status == 200


@pytest.mark.parametrize("path", ["/docs/", "/DOCS", "/openapi.json/", "/OpenAPI.json"])
def test_the_documents_are_found_like_everything_else(stranger: Client, path: str) -> None:
    assert stranger.get(path).status == 200
