"""What the processes of one deployment share, and how they come to share it."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from sqlalchemy import delete

from printworks.store.accounts.secrets import ENVIRONMENT, claim_environment
from printworks.store.engine.database import Database
from printworks.store.tables import secrets

PROCESSES = 6


def test_processes_that_start_at_once_agree_to_which_environment_they_belong(
    database: Database,
) -> None:
    start = Barrier(PROCESSES)

    def claim(environment: str) -> str:
        start.wait()
        with database.writing() as db:
            return claim_environment(db, environment)

    with ThreadPoolExecutor(PROCESSES) as pool:
        for _ in range(5):
            with database.writing() as db:
                db.execute(delete(secrets).where(secrets.c.name == ENVIRONMENT))
            claimed = pool.map(claim, ["sandbox", "live"] * (PROCESSES // 2))
            assert len(set(claimed)) == 1
