"""Bodies that come too slowly are not waited for."""

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import pytest

from printworks.web.receiving import BodyLimits, BodyStalled, _Pace, limit_body


@pytest.mark.parametrize(
    ("pieces", "is_slow"),
    [
        # Seconds since the start, and what has arrived by then.
        ([(5, 1), (9.9, 2)], False),
        ([(5, 1), (10, 2)], True),
        ([(5, 1), (10, 10_000)], False),
        # A body that came quickly and then trickles is not excused by its beginning.
        ([(1, 10**8), (10, 10**8), (15, 10**8 + 1), (20.1, 10**8 + 2)], True),
        # A slow line is fine.
        ([(seconds, 1100 * seconds) for seconds in range(1, 600)], False),
        ([(seconds, 900 * seconds) for seconds in range(1, 600)], True),
    ],
)
def test_a_body_must_keep_its_pace(pieces: Sequence[tuple[float, int]], is_slow: bool) -> None:
    pace = _Pace(1000, 10, 0)

    assert any(pace.is_too_slow(size, seconds) for seconds, size in pieces) is is_slow


def test_only_what_is_not_complete_can_be_too_slow() -> None:
    async def receive_all(*messages: dict[str, Any]) -> None:
        waiting: Iterator[dict[str, Any]] = iter(messages)

        async def receive() -> Any:
            return next(waiting)

        # No line is that quick.
        impatient = BodyLimits(10**9, timedelta(microseconds=1), timedelta(seconds=60), 10**12)
        receive_within = limit_body(receive, {}, impatient)
        for _ in messages:
            await receive_within()

    some = {"type": "http.request", "body": b"x"}
    asyncio.run(receive_all({**some, "more_body": False}))
    with pytest.raises(BodyStalled):
        asyncio.run(receive_all({**some, "more_body": True}, {**some, "more_body": False}))
