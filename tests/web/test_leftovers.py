"""An answer that comes before the body: the rest is received and discarded, within limits."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest

from printworks.web.leftovers import MOST_DISCARDED, ArrivingBody, Leftovers
from printworks.web.receiving import BodyLimits

PIECE = {"type": "http.request", "body": b"x" * 100, "more_body": True}
LAST = {"type": "http.request", "body": b"", "more_body": False}
GONE = {"type": "http.disconnect"}
REFUSAL = {"type": "http.response.start", "status": 401, "headers": [(b"x", b"y")]}
LENGTH = (b"content-length", b"1000000")
CHUNKED = (b"transfer-encoding", b"chunked")


def limits(stall: float = 60) -> BodyLimits:
    return BodyLimits(1000, timedelta(seconds=stall), timedelta(seconds=60))


def an_arriving_body(*headers: tuple[bytes, bytes]) -> tuple[ArrivingBody, list[dict[str, Any]]]:
    """Return a request of which nothing has arrived yet, and where its answer goes."""
    sent: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    return ArrivingBody({"headers": list(headers)}, never, send), sent


async def never() -> Any:
    await asyncio.Event().wait()


async def ignore(_message: Any) -> None:
    pass


def from_each(messages: Iterator[Any]) -> Callable[[], Awaitable[Any]]:
    async def receive() -> Any:
        return next(messages)

    return receive


def discard(*messages: Any, header: tuple[bytes, bytes] = LENGTH) -> list[Any]:
    """Answer early and discard the rest; return what was not received."""
    waiting = iter(messages)

    async def run() -> None:
        body = ArrivingBody({"headers": [header]}, from_each(waiting), ignore)
        await Leftovers(limits()).discard(body)

    asyncio.run(run())
    return list(waiting)


@pytest.mark.parametrize("header", [LENGTH, CHUNKED])
def test_the_rest_is_received_to_its_end(header: tuple[bytes, bytes]) -> None:
    assert discard(PIECE, PIECE, LAST, "the next request", header=header) == ["the next request"]


def test_a_body_that_never_ends_is_cut() -> None:
    assert discard(*[PIECE] * 20, header=CHUNKED) == [PIECE] * 9


def test_a_client_that_goes_away_is_not_waited_for() -> None:
    assert discard(PIECE, GONE, PIECE) == [PIECE]


def test_without_a_body_there_is_nothing_to_receive() -> None:
    assert discard(PIECE, header=(b"content-length", b"0")) == [PIECE]


def test_a_body_that_stalls_is_cut() -> None:
    async def run() -> None:
        body, _ = an_arriving_body(LENGTH)
        await Leftovers(limits(stall=0.01)).discard(body)

    asyncio.run(asyncio.wait_for(run(), 30))


def test_only_so_many_are_received_at_once() -> None:
    async def run() -> None:
        leftovers = Leftovers(limits())
        held = [
            asyncio.create_task(leftovers.discard(an_arriving_body(LENGTH)[0]))
            for _ in range(MOST_DISCARDED)
        ]
        await asyncio.sleep(0)
        # This one is not waited for, and never ends.
        await leftovers.discard(an_arriving_body(LENGTH)[0])
        assert not any(task.done() for task in held)
        for task in held:
            task.cancel()
        await asyncio.gather(*held, return_exceptions=True)
        # They have made room.
        body = ArrivingBody({"headers": [LENGTH]}, from_each(iter([LAST])), ignore)
        await leftovers.discard(body)
        assert body.is_over

    asyncio.run(asyncio.wait_for(run(), 30))


@pytest.mark.parametrize(
    ("header", "status", "is_closed"),
    [
        (LENGTH, 401, True),
        (CHUNKED, 401, True),
        ((b"content-length", b"2"), 404, False),
        ((b"content-length", b"2"), 408, True),
        ((b"content-length", b"0"), 401, False),
        ((b"content-length", b"nonsense"), 401, False),
    ],
)
def test_an_early_answer_asks_the_client_to_stop_unless_little_is_left(
    header: tuple[bytes, bytes], status: int, is_closed: bool
) -> None:
    body, sent = an_arriving_body(header)

    asyncio.run(body.send({**REFUSAL, "status": status}))

    assert ((b"connection", b"close") in sent[0]["headers"]) == is_closed


def test_an_answer_after_the_body_keeps_the_connection() -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def run() -> None:
        body = ArrivingBody({"headers": [CHUNKED]}, from_each(iter([PIECE, LAST])), send)
        await body.receive()
        await body.receive()
        await body.send(REFUSAL)

    asyncio.run(run())

    assert sent == [REFUSAL]
