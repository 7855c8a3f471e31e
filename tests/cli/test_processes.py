"""Commands as processes of their own: what the process of the tests cannot prove of them.

`test_serve.py` and `test_listen.py` have those that run until they are stopped.
"""

import hashlib
import json
import os
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from printworks.clock import system_clock
from printworks.store.tables.transfer.holds import find_hold
from tests.cli.operators import Operator
from tests.cli.program import run, run_process
from tests.commands import make_environment
from tests.programs import PROGRAM
from tests.worker.hosts import wait_until

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("words", "settings", "code"),
    [
        (["--version"], {}, 0),
        (["merchant", "--help"], {}, 0),
        (["merchant", "list"], {}, 0),
        (["merchant", "list", "--json"], {}, 0),
        (["merchant", "list"], {"port": "many"}, 1),
        (["merchant", "people", "nobody"], {}, 1),
        (["catalogue", "check"], {"catalogue": "nowhere"}, 1),
        (["doctor"], {"environment": "test"}, 1),
        (["merchant", "lst"], {}, 2),
        (["merchant", "add"], {}, 2),
        (["ledger", "payment", "1", "lots"], {}, 2),
    ],
)
def test_a_process_says_and_ends_as_the_same_command_in_a_test(
    words: list[str], settings: dict[str, str], code: int, tmp_path: Path, sqlite_url: str
) -> None:
    # Its database is in the folder.
    assert sqlite_url.endswith(f"{tmp_path}/printworks.db")
    settings = {"data": str(tmp_path), **settings}

    ended = run_process(*words, **settings)

    assert ended.code == code, ended
    assert ended == run(*words, **settings)


def test_a_process_changes_what_the_next_one_reads(tmp_path: Path) -> None:
    added = run_process("merchant", "add", "Alice", "--json", "--data", tmp_path)
    listed = run_process("merchant", "list", "--json", "--data", tmp_path)

    assert (added.code, added.complained) == (0, "")
    assert json.loads(added.said)["merchantId"] in listed.said


def test_what_a_process_makes_is_for_its_owner_alone(tmp_path: Path) -> None:
    data = tmp_path / "data"

    assert run_process("merchant", "add", "Alice", "--data", data).code == 0

    made = [data, *data.rglob("*")]
    assert {path.stat().st_mode & 0o077 for path in made} == {0}
    assert (data / "printworks.db").exists()


def test_help_does_not_wait_for_the_database_library() -> None:
    ended = subprocess.run(
        [PROGRAM, "--help"],
        capture_output=True,
        text=True,
        timeout=60,
        env={**make_environment({}), "PYTHONPROFILEIMPORTTIME": "1"},
    )

    assert ended.returncode == 0
    assert "printworks.cli" in ended.stderr
    assert "sqlalchemy" not in ended.stderr


def wait_for_reader(pipe: Path) -> int:
    """Open a pipe as soon as somebody reads from it."""
    opened: list[int] = []

    def is_read() -> bool:
        with suppress(OSError):
            opened.append(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))
        return bool(opened)

    wait_until(is_read)
    return opened[0]


def test_a_backup_that_is_stopped_leaves_nothing_behind(keeper: Operator, tmp_path: Path) -> None:
    keeper.submits_an_order()
    place, key = tmp_path / "backups", "proofs/1/preview.jpg"
    digits = hashlib.sha256(key.encode()).hexdigest()[:3]
    proof = keeper.data / "files" / "proofs" / digits / "1_preview.jpg"
    proof.parent.mkdir(parents=True)
    os.mkfifo(proof)
    settings = {
        "PRINTWORKS_DATABASE_URL": keeper.database.url.render_as_string(),
        "PRINTWORKS_CATALOGUE": str(keeper.catalogue),
    }

    backup = subprocess.Popen(
        [PROGRAM, "backup", place, "--data", keeper.data], env=make_environment(settings)
    )
    # As soon as it reads this file, all rows are written.
    waiting = wait_for_reader(proof)
    assert list((keeper.data / "tmp").glob("backup-*/orders.jsonl.gz"))
    backup.terminate()
    os.close(waiting)

    assert backup.wait(60) != 0
    assert list((keeper.data / "tmp").glob("backup-*")) == []
    assert list(place.glob("running/*")) == []
    with keeper.database.reading() as db:
        assert find_hold(db, now=system_clock()) is None
