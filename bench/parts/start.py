"""Starting: from the command to the first answer, and the catalogue alone."""

import subprocess
import sys

from bench.budgets import SQLITE
from bench.lines import Line, state, state_most
from bench.session import Session
from bench.tools import ROOT

LOAD = """
import time
from printworks.catalogue.snapshot import Catalogue
began = time.process_time()
Catalogue.load()
print(time.process_time() - began)
"""


def measure(session: Session) -> list[Line]:
    """Measure starts on an existing data folder."""
    seeded = session.seed("ours")
    seeded.add_orders(session.sizes.few)
    seeded.close()
    plan = session.plan("ours", seeded, "serve")
    waits = []
    for _ in range(session.sizes.rounds + 1):
        with session.serving(ours=plan) as (server,):
            waits.append(server.seconds)
    # The first start fills the data folder for the others.
    lines = [state("start to first answer, s", waits[1:])]
    if session.database == SQLITE:
        lines.append(_time_catalogue(session.sizes.rounds))
    return lines


def _time_catalogue(rounds: int) -> Line:
    """Return the least CPU seconds of loading it in a new process: other load only adds."""
    command = [sys.executable, "-c", LOAD]
    said = [
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for _ in range(rounds)
    ]
    return state_most("loading the built-in catalogue, CPU s", [min(map(float, said))])
