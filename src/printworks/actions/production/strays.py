"""Jobs that labs have and this installation does not know: of orders that a restore has undone."""

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import msgspec
from sqlalchemy import Connection

from printworks.labs.connector import LabConnector
from printworks.rules.production import read_job_number
from printworks.store.orders.shipments import find_job_names

_AT_ONCE: Final = 500


class StrayJob(msgspec.Struct, frozen=True):
    """A job that a lab has under a name that none of our shipments has."""

    lab: str
    name: str
    where: str


def find_strays(
    db: Connection, connectors: Iterable[tuple[str, LabConnector]]
) -> Iterator[StrayJob]:
    """Look through everything that labs have; raise `LabUnavailable` if one cannot be reached."""
    for lab, connector in connectors:
        jobs = connector.list_jobs()
        while some := list(islice(jobs, _AT_ONCE)):
            known = find_job_names(db, {read_job_number(job.name) for job in some})
            yield from (StrayJob(lab, job.name, job.where) for job in some if job.name not in known)
