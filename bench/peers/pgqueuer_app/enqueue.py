"""Enqueue requests for PgQueuer, one line of JSON each, in one transaction.

Prints the moment at which that begins to commit.
"""

import asyncio
import sys
import time

import asyncpg  # type: ignore[import-not-found, import-untyped, unused-ignore]
from pgqueuer import Queries  # type: ignore[import-not-found, unused-ignore]


async def enqueue(address: str, requests: list[bytes]) -> float:
    """Put the requests into the queue."""
    connection = await asyncpg.connect(address)
    try:
        queries = Queries.from_asyncpg_connection(connection)
        async with connection.transaction():
            await queries.enqueue(["deliver"] * len(requests), list(requests), [0] * len(requests))
            began = time.monotonic()
    finally:
        await connection.close()
    return began


if __name__ == "__main__":
    print(asyncio.run(enqueue(sys.argv[1], sys.stdin.buffer.read().splitlines())))
