"""A PostgreSQL for the benchmark: the tests' own, but durable.

It is run with the peers' Python, which has the programs of PostgreSQL.
"""

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from bench.tools import PEERS_PYTHON, ROOT
from tests import postgres

DURABLE: Final[Mapping[str, str]] = {
    "fsync": "on",
    "full_page_writes": "on",
    "autovacuum": "on",
    "shared_buffers": "128MB",
}


@contextmanager
def running() -> Iterator[postgres.Run]:
    """Run a server until the block ends."""
    lifeline = postgres.Lifeline()
    try:
        log = lifeline.folder / "log"
        with log.open("wb") as output:
            keeper = subprocess.Popen(
                [PEERS_PYTHON, "-m", "bench.postgres", lifeline.folder],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=output,
                start_new_session=True,
            )
        assert keeper.stdout is not None
        with keeper.stdout as said:
            is_ready = said.read() == b"ready"
        # This file tells a run that its server is up.
        (lifeline.folder / "keeper").write_text(str(keeper.pid))
        if not is_ready:
            message = f"PostgreSQL did not start:\n{log.read_text(errors='replace')}"
            raise RuntimeError(message)
        yield postgres.Run(lifeline.folder)
    finally:
        lifeline.let_go()
        keeper.wait()


if __name__ == "__main__":
    postgres.SERVER_SETTINGS.update(DURABLE)
    postgres.keep(Path(sys.argv[1]))
