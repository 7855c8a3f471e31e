"""What goes wrong on the way to a page is a page, too, and says nothing that it should not."""

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from printworks.web.pages import PageServer, normal_path
from tests.api.client import make_scope
from tests.dashboard.visits import words_of
from tests.running import Answer


async def fail(_request: Request) -> Response:
    """Fail with something that must not be shown."""
    message = "secret detail"
    raise RuntimeError(message)


async def lose_the_database(_request: Request) -> Response:
    """Fail as a database does that is away."""
    message = "SELECT 1"
    raise OperationalError(message, {}, OSError("server closed the connection"))


async def repeat(request: Request) -> Response:
    """Say what was sent."""
    return PlainTextResponse(await request.body())


PAGES = PageServer(
    [
        Route("/fail", fail),
        Route("/away", lose_the_database),
        Route("/repeat", repeat, methods=["POST"]),
    ]
)


def ask(
    method: str,
    path: str,
    messages: Iterable[dict[str, Any]] = (),
    headers: Mapping[str, str] | None = None,
) -> Answer:
    """Send a request in pieces; when there are no more, the client has gone."""
    waiting = iter(messages)
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return next(waiting, {"type": "http.disconnect"})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    asyncio.run(PAGES(make_scope(method, path, headers or {}), receive, send))
    if not sent:
        return Answer(0, {}, b"")
    named = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return Answer(sent[0]["status"], named, b"".join(part["body"] for part in sent[1:]))


def piece(body: bytes, *, more: bool = False) -> dict[str, Any]:
    """Return a piece of a body."""
    return {"type": "http.request", "body": body, "more_body": more}


def test_a_failure_is_a_page_with_a_number_and_without_details() -> None:
    page = ask("GET", "/fail", headers={"X-Request-Id": "seven"})

    assert page.status == 500
    assert "logged as seven" in words_of(page)
    assert b"secret detail" not in page.body


def test_a_database_that_is_away_asks_to_come_back() -> None:
    page = ask("GET", "/away")

    assert (page.status, page.headers["retry-after"]) == (503, "5")
    assert b"SELECT" not in page.body


def test_a_form_may_come_in_pieces() -> None:
    assert ask("POST", "/repeat", [piece(b"a=", more=True), piece(b"1")]).body == b"a=1"


def test_a_form_that_grows_too_large_is_refused() -> None:
    pieces = [piece(b"x" * 100_000, more=True) for _ in range(11)]

    assert ask("POST", "/repeat", pieces).status == 413


def test_whoever_goes_away_in_the_middle_gets_no_answer() -> None:
    assert ask("POST", "/repeat", [piece(b"a=", more=True)]).status == 0


def test_a_page_without_a_form_can_only_be_looked_at() -> None:
    page = ask("POST", "/fail", [piece(b"")])

    assert page.status == 405
    assert "This page can only be viewed." in words_of(page)


@pytest.mark.parametrize("host", ["[", "evil.example/pay/other?", ""])
def test_a_strange_host_changes_nothing(host: str) -> None:
    assert ask("GET", "/none", headers={"Host": host}).status == 404


@pytest.mark.parametrize(
    ("path", "normal"),
    [
        ("/", "/"),
        ("//", "/"),
        ("/V3.0/Docs/", "/v3.0/docs"),
        ("/Proofs/7/ABC/preview.jpg", "/proofs/7/abc/preview.jpg"),
        ("/PAY/AbC-_d/", "/pay/AbC-_d"),
        ("/Payments/AbC", "/payments/AbC"),
        ("/bank/AbC", "/bank/AbC"),
        ("/pay", "/pay"),
    ],
)
def test_capital_letters_count_in_tokens_only(path: str, normal: str) -> None:
    assert normal_path(path) == normal
