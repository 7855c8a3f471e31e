"""Send the requests in PgQueuer's queue: run it with the address of a database.

As quick as PgQueuer goes: asyncpg, uvloop, large batches, and no limit to the jobs in hand; a
second argument sets one. Either way the client's connections limit the requests in flight.
"""

import json
import sys
from typing import Final

import aiohttp
import asyncpg  # type: ignore[import-not-found, import-untyped, unused-ignore]
import uvloop
from pgqueuer import Job, PgQueuer  # type: ignore[import-not-found, unused-ignore]

CONNECTIONS: Final = 6
IN_FLIGHT: Final = 32
BATCH: Final = 100


async def work(address: str, most_jobs: int | None) -> None:
    """Create the tables and send until the process ends."""
    async with (
        asyncpg.create_pool(address, min_size=CONNECTIONS, max_size=CONNECTIONS) as pool,
        aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=IN_FLIGHT)) as session,
    ):
        queue = PgQueuer.from_asyncpg_pool(pool)
        await queue.qm.queries.install()

        async def deliver(job: Job) -> None:
            told = json.loads(job.payload or b"")
            body = told["body"].encode()
            async with session.post(told["url"], data=body, headers=told["headers"]) as answer:
                if answer.status != 200:
                    message = f"The receiver says {answer.status}."
                    raise RuntimeError(message)

        queue.entrypoint("deliver")(deliver)
        print("ready", flush=True)
        await queue.run(
            # PgQueuer asks for twice as much room.
            batch_size=most_jobs // 2 if most_jobs else BATCH,
            max_concurrent_tasks=most_jobs,
        )


if __name__ == "__main__":
    uvloop.run(work(sys.argv[1], int(sys.argv[2]) if sys.argv[2:] else None))
