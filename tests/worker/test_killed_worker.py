"""A worker that is killed again and again loses nothing."""

import signal
import sys
from collections import Counter
from typing import Final

import pytest

from printworks.store.engine.database import Database
from tests.scale import scaled
from tests.worker import victim
from tests.worker.forks import forked_to_talk
from tests.worker.queues import add_merchant, enqueue_many, list_states
from tests.worker.victim import SLOTS

JOBS: Final = scaled(4000, part=20)
MERCHANTS: Final = 20
KILLS: Final = scaled(40, part=20)


def live(database_url: str, *, until: int | None) -> list[int]:
    """Run a worker, until it has begun that many jobs and is killed, or to its own end."""
    begun = []
    with forked_to_talk(victim.live, database_url) as (worker, said):
        for job_id in said:
            begun.append(job_id)
            if len(begun) == until:
                worker.kill()
        worker.join()
    assert worker.exitcode == (0 if until is None else -signal.SIGKILL)
    return begun


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_kills_lose_no_job(database_url: str) -> None:
    database = Database(database_url)
    promised = [
        job_id
        for number in range(MERCHANTS)
        for job_id in enqueue_many(
            database, JOBS // MERCHANTS, add_merchant(database, f"Shop {number}")
        )
    ]

    begun = [
        job_id for _ in range(KILLS) for job_id in live(database_url, until=JOBS // (KILLS + 1))
    ]
    begun += live(database_url, until=None)

    states = Counter(list_states(database))
    database.close()
    duplicates = len(begun) - len(set(begun))
    sys.stdout.write(f"{duplicates} of {JOBS} jobs ran again\n")
    assert states == {"done": JOBS}
    assert set(begun) == set(promised)
    # Only what was in flight or not yet reported at a kill runs again.
    assert duplicates <= KILLS * 3 * SLOTS
