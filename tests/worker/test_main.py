"""The worker as a process: it starts, sweeps, and stops when it is told to."""

import json
import os
import signal
import subprocess
from contextlib import ExitStack
from pathlib import Path

import pytest

from printworks.rules.jobs import HOURLY
from printworks.store.engine.database import Database
from printworks.worker.sweeps import SWEEPS
from tests.programs import PROGRAM
from tests.worker.queues import list_states

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_worker_does_its_sweeps_and_stops_cleanly(
    database_url: str, tmp_path: Path, number: signal.Signals
) -> None:
    environment = {
        "PATH": os.environ["PATH"],
        "PRINTWORKS_DATABASE_URL": database_url,
        # Kept for good unless an operator says otherwise.
        "PRINTWORKS_KEEP_RECIPIENTS": "365d",
        "PRINTWORKS_KEEP_PROOFS": "365d",
    }
    with (
        subprocess.Popen(
            [PROGRAM, "work", "--data", tmp_path], stderr=subprocess.PIPE, env=environment
        ) as process,
        ExitStack() as ending,
    ):
        # If it does not say what is expected, it must not outlive the test.
        ending.callback(process.kill)
        assert process.stderr is not None
        said: list[str] = []
        while said.count("swept") < len(SWEEPS):
            said.append(json.loads(process.stderr.readline())["event"])
        process.send_signal(number)
        said += [json.loads(line)["event"] for line in process.stderr]
        process.wait()

    database = Database(database_url)
    states = list_states(database)
    database.close()
    assert process.returncode == 0
    assert states == ["done"] * len(HOURLY)
    assert (said[0], said[-1]) == ("worker started", "worker stopped")
