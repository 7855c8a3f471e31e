"""Drive one server with wrk for a few seconds, and count only successful answers."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Final

SCRIPT: Final = Path(__file__).with_name("requests.lua")


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
    first_id: int = 1
    last_id: int = 1


@dataclass(frozen=True)
class Sample:
    """The result of one round; latencies in milliseconds."""

    per_second: float
    p50: float
    p99: float


def drive(target: Target, *, connections: int, seconds: float) -> Sample:
    """Send as many requests as the connections can take."""
    ended = subprocess.run(
        [
            *("wrk", "--threads", "1", "--connections", str(connections)),
            *("--duration", f"{seconds:g}s", "--timeout", "20s", "--script", SCRIPT),
            f"https://127.0.0.1:{target.port}/",
            *("--", target.method, target.path),
            *(target.credentials.merchant, target.credentials.key),
            *(target.body or "-", str(target.first_id), str(target.last_id)),
        ],
        capture_output=True,
        text=True,
        timeout=seconds + 60,
        check=True,
    )
    result = json.loads(ended.stdout.rpartition("RESULT ")[2])
    if result["failed"] or result["refused"] or not result["requests"]:
        message = f"{target.method} {target.path} did not always succeed: {result}"
        raise RuntimeError(message)
    return Sample(
        per_second=result["requests"] / result["microseconds"] * 1e6,
        p50=result["p50"] / 1000,
        p99=result["p99"] / 1000,
    )
