"""Requests that no browser would send: refused as such, and never a failure of ours."""

import asyncio
import re
from datetime import timedelta
from itertools import product
from typing import Any, Final

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from printworks.dashboard.site.forms import read_sent
from printworks.web.pages import PageServer
from printworks.web.receiving import BodyLimits
from tests.api.client import Client, Server, make_scope
from tests.dashboard.visits import FORM
from tests.dashboard.windows import BOUNDARY, Window
from tests.running import Answer

SIGN_IN_COOKIE: Final = "__Host-printworks-sign-in"
MULTIPART: Final = f"multipart/form-data; boundary={BOUNDARY}"


class TestStrangeRequests:
    def test_a_strange_way_on_is_no_failure(self, alice: Window) -> None:
        for wanted in ("//[", "/[", "//[::1", "/\t/evil.example", "/%5Cevil"):
            answer = alice.open(f"/sign-in?next={wanted}")
            assert answer.status == 303, wanted
            assert answer.headers["location"] in {"/home", "/["}, wanted

    def test_a_strange_cookie_is_replaced(self, server: Server) -> None:
        for cookie in ('"\\012\\000x"', "\xff\xfe", "x" * 10_000, "g" * 32, ""):
            page = Window(Client(server, "", {}), {SIGN_IN_COOKIE: cookie}).open("/sign-in")
            assert page.status == 200, cookie
            assert re.match(rf"{SIGN_IN_COOKIE}=[0-9a-f]{{32}};", page.headers["set-cookie"]), (
                cookie
            )

    def test_a_body_that_cannot_be_read_is_refused(self, alice: Window) -> None:
        part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="a"'.encode()
        end = f"\r\n--{BOUNDARY}--\r\n".encode()
        bodies = [
            ("", b"a=1"),
            ("text/plain", b"\xff\xfe"),
            ("application/json", b"[" * 1000),
            (FORM, b"\xff=%ff&%00=%00&form_token=%ff"),
            (FORM, b"&" * 10_000),
            (FORM, b"a=1&" * 81),
            ("multipart/form-data", b"a"),
            ("multipart/form-data; boundary=", b"a"),
            (f"multipart/form-data; boundary={'x' * 5000}", b"a"),
            ("multipart/mixed; boundary=x", b"--x--"),
            ("MULTIPART/FORM-DATA; BOUNDARY=x", b"--x--"),
            (MULTIPART, b""),
            (MULTIPART, b"nothing of the kind"),
            (MULTIPART, part),
            (MULTIPART, part + b"\r\n\r\n" + b"x" * 100_001 + end),
            (MULTIPART, part + b'; filename="\xff\x00"\r\n\r\nx' + end),
            (MULTIPART, (part + b"\r\n\r\nx\r\n") * 81 + end),
            (MULTIPART, (part + b'; filename="a"\r\n\r\nx\r\n') * 101 + end),
            (f"{MULTIPART}; charset=undefined", part + b"\r\n\r\nx" + end),
            (f"{MULTIPART}; charset=idna", part + b"\r\n\r\nxn--\xff" + end),
            (f"{MULTIPART}; charset=punycode", part + b"\r\n\r\n\xff-\xff" + end),
            (f"{MULTIPART}; charset=no-such", part + b"\r\n\r\nx" + end),
        ]
        pages = ("/sign-in", "/settings", "/orders/new", "/issues/new")
        for address, (kind, body) in product(pages, bodies):
            headers = {"Cookie": alice.cookie, "Content-Type": kind}
            answer = alice.browser.request("POST", address, body, headers)
            assert answer.status in {400, 403}, (kind, body[:100], answer.status)

    @pytest.mark.both_databases
    def test_half_a_character_in_the_name_of_a_file_is_no_failure(self, alice: Window) -> None:
        token = alice.token("/orders/new")
        fields = [("form_token", token), ("do", "create-order"), ("sku", "unknown")]
        parts = "".join(
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
            for name, value in fields
        )
        file = (
            f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="pictures"; filename="\\ud800"'
        )
        body = f"{parts}{file}\r\n\r\nx\r\n--{BOUNDARY}--\r\n".encode()
        kind = f"{MULTIPART}; charset=unicode_escape"
        headers = {"Cookie": alice.cookie, "Content-Type": kind}
        assert alice.browser.request("POST", "/orders/new", body, headers).status == 400

    def test_a_deed_that_is_none_is_refused(self, alice: Window) -> None:
        token = alice.token("/settings")
        for do in ([], [""], ["unknown"], ["submit-order"], ["end-session", "unknown"]):
            answer = alice.send("/settings", {"form_token": token, "do": do})
            assert answer.status == 400, do
        assert alice.open("/settings").status == 200

    def test_other_methods_are_refused(self, alice: Window) -> None:
        addresses = ("/settings", "/sign-in", "/sign-out", "/orders/1", "/account/statement.csv")
        methods = ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "FOO")
        headers = {"Cookie": alice.cookie}
        for address, method in product(addresses, methods):
            answer = alice.browser.request(method, address, b"x", headers)
            assert answer.status == 405, (method, address)

    @pytest.mark.both_databases
    def test_a_number_that_no_row_can_have_is_nobodys(
        self, alice: Window, operator: Window
    ) -> None:
        for number in ("9223372036854775808", "9" * 19, "9" * 5000, "-1", "0", "1e3", "%00"):
            for page in ("orders", "issues", "integrations/callbacks"):
                assert alice.open(f"/{page}/{number}").status == 404, (page, number)
            for page in ("orders", "issues", "shipments", "jobs", "people"):
                assert operator.open(f"/console/{page}/{number}").status == 404, (page, number)


class TestManyAtOnce:
    def test_one_person_sends_only_a_few_forms_at_once(
        self, server: Server, alice: Window, bob: Window
    ) -> None:
        part = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nx'
        begun = {"type": "http.request", "body": part.encode(), "more_body": True}

        def send(window: Window) -> asyncio.Task[Answer]:
            headers = {"Cookie": window.cookie, "Content-Type": MULTIPART}
            scope = make_scope("POST", "/orders/new", headers)
            return asyncio.create_task(server.ask(scope, [begun]))

        async def send_many() -> tuple[set[int], int]:
            hers = [send(alice) for _ in range(5)]
            done, stalled = await asyncio.wait(hers, return_when="FIRST_COMPLETED")
            _, waiting = await asyncio.wait([*stalled, send(bob)], timeout=0.05)
            for task in waiting:
                task.cancel()
            await asyncio.wait(waiting)
            return {task.result().status for task in done}, len(waiting)

        assert server.run(send_many()) == ({429}, 5)
        assert alice.upload("/orders/new", "unknown", []).status == 400


def test_every_answer_says_what_a_browser_may_do_with_it(alice: Window) -> None:
    answers = [
        alice.open("/account/statement.csv"),
        alice.send("/settings", {}),
        Window(alice.browser).open("/orders"),
        Window(alice.browser).open("/orders", HX_Request="true"),
        alice.open("/no-such-page"),
    ]
    assert [answer.status for answer in answers] == [200, 403, 303, 204, 404]
    for answer in answers:
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]


class TestABodyThatStalls:
    def test_it_is_given_up(self) -> None:
        async def take(request: Request) -> Response:
            sent = await read_sent(request)
            return PlainTextResponse(str(sent))

        limits = BodyLimits(1000, timedelta(milliseconds=50), timedelta(seconds=1))
        pages = PageServer([Route("/orders/new", take, methods=["POST"])], limits)
        begun = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\nx'

        assert asyncio.run(ask(pages, begun.encode())) == 408
        assert asyncio.run(ask(pages, begun.encode() + b"x" * 1000)) == 413


async def ask(pages: PageServer, begun: bytes) -> int:
    """Send the beginning of a form with a file, and nothing more; return the status."""
    waiting = [{"type": "http.request", "body": begun, "more_body": True}]
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if not waiting:
            await asyncio.Event().wait()
        return waiting.pop()

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    await pages(make_scope("POST", "/orders/new", {"Content-Type": MULTIPART}), receive, send)
    return int(sent[0]["status"])
