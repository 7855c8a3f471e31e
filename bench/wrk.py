"""Drive one server with wrk for a few seconds, and count only successful answers."""

import json
import subprocess
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final

SCRIPT: Final = Path(__file__).with_name("requests.lua")
ENOUGH_ANSWERS: Final = 200
MOST_SECONDS: Final = 64


@dataclass(frozen=True)
class Credentials:
    """The credentials of the requests."""

    merchant: str = "nobody"
    key: str = "none"


@dataclass(frozen=True)
class Target:
    """One kind of request to one server; `%d` in the path is a random id of these."""

    port: int
    path: str
    credentials: Credentials = Credentials()
    method: str = "GET"
    body: Path | None = None
    ids: range = range(1, 2)
    # An entity tag that the client already knows.
    known_tag: str = ""


@dataclass(frozen=True)
class Sample:
    """The result of one round; latencies in milliseconds."""

    per_second: float
    p50: float
    p99: float


class NoAnswers(Exception):
    """A server has answered nothing, or not as it should."""


def drive(target: Target, *, connections: int, seconds: float) -> Sample:
    """Send as many requests as the connections can take, until enough were answered.

    A round with too few answers on a slow machine is measured again, twice as long.
    """
    while True:
        result = _run(target, connections, seconds)
        if result["failed"] or result["refused"]:
            message = f"{target.method} {target.path} did not always succeed: {result}"
            raise NoAnswers(message)
        if result["requests"] >= ENOUGH_ANSWERS:
            break
        if seconds >= MOST_SECONDS:
            message = (
                f"{target.method} {target.path} got {result['requests']} answers in {seconds:g} s."
            )
            raise NoAnswers(message)
        seconds = min(2 * seconds, MOST_SECONDS)
    return Sample(
        per_second=result["requests"] / result["microseconds"] * 1e6,
        p50=result["p50"] / 1000,
        p99=result["p99"] / 1000,
    )


def _run(target: Target, connections: int, seconds: float) -> dict[str, int]:
    ended = subprocess.run(
        [
            *("wrk", "--threads", "1", "--connections", str(connections)),
            # Whole seconds are all it knows.
            *("--duration", f"{ceil(seconds)}s", "--timeout", "60s", "--script", SCRIPT),
            f"https://127.0.0.1:{target.port}/",
            *("--", target.method, target.path),
            *(target.credentials.merchant, target.credentials.key, target.body or "-"),
            *(str(target.ids.start), str(target.ids.stop - 1), target.known_tag or "-"),
        ],
        capture_output=True,
        text=True,
        timeout=seconds + 120,
        check=True,
    )
    result: dict[str, int] = json.loads(ended.stdout.rpartition("RESULT ")[2])
    return result
