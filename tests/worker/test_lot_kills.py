"""A worker that is killed in the middle of a file, again and again, creates each order once."""

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from printworks.clock import system_clock
from printworks.rules.lots import LotState
from printworks.store.engine.database import Database
from tests.factories import a_merchant
from tests.scale import scaled
from tests.worker import lot_victim
from tests.worker.forks import forked
from tests.worker.hosts import wait_until
from tests.worker.lots import a_file, lot_of, many_rows, references_of, send_file, start

ORDERS: Final = scaled(400)
KILLS: Final = scaled(12, part=4)


def live(database_url: str, folder: Path, until: Callable[[], object] | None = None) -> None:
    """Run a worker until something is so, and kill it; or to its own end."""
    with forked(lot_victim.live, database_url, folder) as worker:
        if until is not None:
            wait_until(until)
            worker.kill()
        worker.join()
    assert worker.exitcode == (0 if until is None else -signal.SIGKILL)


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_kills_create_no_order_twice_and_lose_none(database_url: str, tmp_path: Path) -> None:
    database = Database(database_url)
    with database.writing() as db:
        merchant = a_merchant(db)
    lot_id = send_file(database, merchant, a_file(*many_rows(ORDERS)))
    start(database, merchant, lot_id, now=system_clock())

    for kill in range(1, KILLS + 1):
        wanted = ORDERS * kill // (KILLS + 1)
        live(
            database_url,
            tmp_path,
            lambda wanted=wanted: len(references_of(database, merchant)) >= wanted,  # type: ignore[misc]
        )
    live(database_url, tmp_path)

    created = references_of(database, merchant)
    state = lot_of(database, merchant, lot_id).state
    database.close()
    assert sorted(created, key=str) == sorted((f"S-{n}" for n in range(ORDERS)), key=str)
    assert state is LotState.DONE
