"""Sending: whatever a receiver says is a result, and only silence is an error."""

import time
from collections.abc import Sequence
from datetime import timedelta

import pytest

from printworks.net.client import Outbound, Posted
from printworks.net.errors import BadAddress, BadAnswer, OutboundError, TimedOut, Unreachable
from printworks.net.guard import Guard
from tests.net.running import Script, Step, a_server, answer, redirect, run


def post(script: Script | Sequence[Step], *, keep: int = 64 * 1024, seconds: float = 5) -> Posted:
    """Post to a receiver with this script, on a machine where loopback is allowed."""
    got: list[Posted] = []

    async def story() -> None:
        async with Outbound(Guard(allow_loopback=True)) as outbound, a_server(script) as port:
            got.append(
                await outbound.post(
                    f"http://127.0.0.1:{port}/callbacks",
                    b'{"id": 1}',
                    {"Content-Type": "application/json"},
                    timeout=timedelta(seconds=seconds),
                    keep=keep,
                )
            )

    run(story)
    return got[0]


def test_a_receiver_gets_the_body_and_its_headers() -> None:
    heads: list[bytes] = []

    def note(head: bytes) -> list[bytes]:
        heads.append(head)
        return [answer(b"thanks")]

    posted = post(note)

    assert heads[0].startswith(b"POST /callbacks HTTP/1.1\r\n")
    assert b"Content-Type: application/json\r\n" in heads[0]
    assert b"Content-Length: 9\r\n" in heads[0]
    assert (posted.status, posted.answer) == (200, b"thanks")
    assert timedelta(0) <= posted.duration < timedelta(seconds=5)


@pytest.mark.parametrize("status", [200, 201, 204, 304, 400, 404, 410, 500, 503])
def test_every_status_is_a_result(status: int) -> None:
    assert post([answer(status=f"{status} So")]).status == status


def test_a_redirect_is_not_followed() -> None:
    asked: list[bytes] = []

    def lead_on(head: bytes) -> list[bytes]:
        asked.append(head)
        return [redirect("/elsewhere", "307 Temporary Redirect")]

    assert post(lead_on).status == 307
    assert len(asked) == 1


def test_a_receiver_may_say_when_to_come_again() -> None:
    posted = post([answer(status="503 Busy", retry_after="120")])

    assert posted.retry_after == "120"


@pytest.mark.parametrize(
    "steps",
    [
        [answer(b"x" * 5000)],
        [answer(b"x" * 5000, content_length="9999999")],
        [b"HTTP/1.1 200 OK\r\n\r\n", *[b"x" * 5000] * 1000],
    ],
)
def test_only_the_beginning_of_the_answer_is_kept(steps: list[Step]) -> None:
    posted = post(steps, keep=1000)

    assert (posted.status, posted.answer) == (200, b"x" * 1000)
    assert posted.duration < timedelta(seconds=4)


@pytest.mark.parametrize(
    "steps",
    [
        pytest.param([answer(b"xyz", content_length="9"), 5.0], id="stalls"),
        pytest.param([answer(b"xyz", content_length="9")], id="ends early"),
        pytest.param([answer(b"xyz", content_length="9"), 0.05, None], id="resets"),
    ],
)
def test_a_status_counts_even_if_the_answer_breaks_off(steps: list[Step]) -> None:
    began = time.monotonic()

    posted = post(steps, seconds=0.6)

    assert (posted.status, posted.answer) == (200, b"xyz")
    assert time.monotonic() - began < 4


@pytest.mark.parametrize(
    ("steps", "error"),
    [
        pytest.param([5.0], TimedOut, id="says nothing"),
        pytest.param([b"H", 0.1, b"T", 0.1, b"T", 0.1, b"P", 5.0], TimedOut, id="drips a status"),
        pytest.param([None], Unreachable, id="resets"),
        pytest.param([], Unreachable, id="closes"),
        pytest.param([b"220 mail.example ESMTP\r\n"], BadAnswer, id="speaks another protocol"),
    ],
)
def test_silence_is_an_error_in_time(steps: list[Step], error: type[OutboundError]) -> None:
    began = time.monotonic()

    with pytest.raises(error) as failed:
        post(steps, seconds=0.4 if error is TimedOut else 5)

    assert type(failed.value) is error
    assert time.monotonic() - began < 4


def test_a_connection_is_used_again_and_its_end_is_no_failure() -> None:
    async def story() -> None:
        # The server closes after its answer without a word about it.
        async with (
            Outbound(Guard(allow_loopback=True)) as outbound,
            a_server([answer(b"x")]) as port,
        ):
            for _ in range(20):
                posted = await outbound.post(f"http://127.0.0.1:{port}/", b"{}", {})
                assert posted.status == 200

    run(story)


def test_an_announcement_is_not_the_answer() -> None:
    hints = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"

    posted = post([hints, answer(b"thanks")])

    assert (posted.status, posted.answer) == (200, b"thanks")


def test_an_answer_that_comes_too_late_is_not_taken_for_that_of_the_next_request() -> None:
    async def story() -> None:
        scripts: list[list[Step]] = [[answer(b"in time")], [0.5, answer(b"late")]]
        async with (
            Outbound(Guard(allow_loopback=True)) as outbound,
            a_server(lambda _: scripts.pop()) as port,
        ):
            address = f"http://127.0.0.1:{port}/"
            with pytest.raises(TimedOut):
                await outbound.post(address, b"{}", {}, timeout=timedelta(seconds=0.1))
            posted = await outbound.post(address, b"{}", {})
            assert posted.answer == b"in time"

    run(story)


def test_a_header_cannot_add_lines_of_its_own() -> None:
    async def story() -> None:
        async with Outbound(Guard()) as outbound:
            with pytest.raises(ValueError, match="line break"):
                await outbound.post(
                    "http://a.example/", b"", {"webhook-id": "1\r\nHost: b.example"}
                )

    run(story)


def test_headers_of_the_caller_replace_the_usual_ones() -> None:
    heads: list[bytes] = []

    async def story() -> None:
        def note(head: bytes) -> list[bytes]:
            heads.append(head)
            return [answer()]

        async with Outbound(Guard(allow_loopback=True)) as outbound, a_server(note) as port:
            await outbound.post(f"http://127.0.0.1:{port}/a?b=c", b"{}", {"user-agent": "Other"})

    run(story)

    (head,) = heads
    assert head.startswith(b"POST /a?b=c HTTP/1.1\r\nHost: 127.0.0.1:")
    assert head.lower().count(b"user-agent:") == 1
    assert b"Other\r\n" in head


@pytest.mark.parametrize("address", ["ftp://a.example/", "http://u@a.example/", "mailto:a@b.c"])
def test_a_bad_address_is_turned_down(address: str) -> None:
    async def story() -> None:
        async with Outbound(Guard()) as outbound:
            with pytest.raises(BadAddress):
                await outbound.post(address, b"{}", {})

    run(story)
