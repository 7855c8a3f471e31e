"""What is refused for its address, its headers or its framing: in every version, with a reason."""

import json
from typing import Any

import pytest

from tests.api.client import Client, make_scope
from tests.api.conftest import an_order
from tests.running import Answer

JSON = "application/json"
VERSIONS = "Its path must begin with a version: /v3.0, /v2.6, /v2.5, /v2.3."


@pytest.fixture(params=["/v3.0", "/v2.6", "/v2.5", "/v2.3"])
def client(request: pytest.FixtureRequest, v3: Client) -> Client:
    """Alice, through each of the versions."""
    return Client(v3.server, request.param, v3.credentials)


class TestLargeBodies:
    """They are refused for what is said before them."""

    @pytest.mark.parametrize(
        "headers", [{}, {"Content-Encoding": "gzip"}, {"Content-Type": "image/png"}]
    )
    def test_a_wrong_key_comes_first(self, client: Client, headers: dict[str, str]) -> None:
        wrong = {**client.credentials, "X-Service-REST-API-Key": "wrong"}
        stranger = Client(client.server, client.prefix, wrong)

        answer = stranger.request(
            "POST", "/orders", b"{}", {**headers, "Content-Length": "50000000"}
        )

        assert answer.status == 401
        assert answer.headers["connection"] == "close"

    def test_the_type_comes_before_the_size(self, client: Client) -> None:
        headers = {"Content-Type": "image/png", "Content-Length": "50000000"}

        assert client.request("POST", "/orders", b"x", headers).status == 415

    @pytest.mark.parametrize(
        ("method", "path", "status"), [("PUT", "/orders", 405), ("POST", "/ordners", 404)]
    )
    def test_so_does_the_address(self, client: Client, method: str, path: str, status: int) -> None:
        answer = client.request(method, path, b"{}", {"Content-Length": "50000000"})

        assert answer.status == status
        assert answer.headers["connection"] == "close"


class TestCompressedBodies:
    @pytest.mark.parametrize("encoding", ["gzip", "br", "identity, gzip"])
    def test_they_are_415(self, client: Client, encoding: str) -> None:
        headers = {"Content-Type": JSON, "Content-Encoding": encoding}

        answer = client.request("POST", "/orders", b"{}", headers)

        assert answer.status == 415
        assert answer.error == (
            f"The content encoding {encoding} is not understood here; send the body uncompressed."
        )

    @pytest.mark.parametrize("encoding", ["", "identity", " Identity "])
    def test_one_that_is_not_compressed_may_say_so(self, v3: Client, encoding: str) -> None:
        headers = {"Content-Type": JSON, "Content-Encoding": encoding}
        body = json.dumps(an_order()).encode()

        assert v3.request("POST", "/orders", body, headers).status == 200

    def test_without_a_body_there_is_nothing_to_uncompress(self, v3: Client) -> None:
        assert v3.get("/orders", **{"Content-Encoding": "gzip"}).status == 200


def test_broken_chunks_are_400_in_the_shape_of_the_version(client: Client) -> None:
    headers = {**client.credentials, "Transfer-Encoding": "chunked"}
    scope = make_scope("POST", f"{client.prefix}/orders", headers)
    chunk = {"type": "http.request", "body": b'{"recipient', "more_body": True}
    # What the server makes of chunks that it cannot read.
    broken = {"type": "http.disconnect"}

    answer = client.server.run(client.server.ask(scope, [chunk, broken]))

    assert answer.status == 400
    assert answer.error == "The chunks of the body are malformed, or the last one is missing."
    assert answer.headers["x-request-id"]
    assert answer.headers["connection"] == "close"
    assert answer.json().keys() == client.request("POST", "/orders", b"{").json().keys()


class TestPathsWithoutAVersion:
    @pytest.mark.parametrize(
        "path",
        ["/v4.0/orders", "/v2.9/Orders", "/v1", "/V3/orders/1", "/orders", "/Orders/1/Photos"],
    )
    @pytest.mark.parametrize("method", ["GET", "POST"])
    def test_a_program_is_told_the_versions(self, v3: Client, method: str, path: str) -> None:
        answer = ask(v3, method, path, v3.credentials)

        assert answer.status == 404
        assert answer.headers["content-type"] == "application/json; charset=utf-8"
        assert answer.error == f"There is nothing at this address. {VERSIONS}"

    @pytest.mark.parametrize("header", ["X-Service-MerchantId", "X-Service-REST-API-Key"])
    def test_one_of_the_headers_makes_it_a_program(self, v3: Client, header: str) -> None:
        assert VERSIONS in ask(v3, "GET", "/v4.0/orders", {header: "anything"}).error

    @pytest.mark.parametrize(
        ("path", "status"), [("/v4.0/orders", 404), ("/v1", 404), ("/orders", 303)]
    )
    def test_a_browser_gets_its_page(self, v3: Client, path: str, status: int) -> None:
        answer = ask(v3, "GET", path, {})

        assert answer.status == status
        assert b"errorMessage" not in answer.body

    @pytest.mark.parametrize("path", ["/", "/v3.0/docs", "/v3.0/openapi.json", "/sign-in"])
    def test_a_program_may_read_other_pages(self, v3: Client, path: str) -> None:
        assert ask(v3, "GET", path, v3.credentials).status == 200


def ask(client: Client, method: str, path: str, headers: dict[str, Any] | Any) -> Answer:
    scope = make_scope(method, path, headers)
    nothing = {"type": "http.request", "body": b"", "more_body": False}
    return client.server.run(client.server.ask(scope, [nothing]))
