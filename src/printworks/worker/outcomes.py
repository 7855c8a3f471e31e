"""What became of jobs, and how it is written: for many of them in one transaction."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple, TypeAlias

from sqlalchemy import Connection

from printworks.store.queue.claims import find_held
from printworks.store.queue.jobs import Claim
from printworks.store.queue.outcomes import Exhausted, PutBack, exhaust, finish, put_back
from printworks.worker.context import Completion


class JobDone(NamedTuple):
    """A job that succeeded, and what is to be written with that."""

    claim: Claim
    completion: Completion | None


Outcome: TypeAlias = JobDone | PutBack | Exhausted


def write_outcomes(db: Connection, outcomes: Sequence[Outcome], *, now: datetime) -> int:
    """Write what became of jobs; return how many of them were still held."""
    done = [end for end in outcomes if isinstance(end, JobDone)]
    _write_completions(db, done, now=now)
    return (
        finish(db, [end.claim for end in done], now=now)
        + put_back(db, [end for end in outcomes if isinstance(end, PutBack)], now=now)
        + exhaust(db, [end for end in outcomes if isinstance(end, Exhausted)], now=now)
    )


def name_outcome(outcome: Outcome) -> str:
    """Return the word under which an outcome is counted."""
    match outcome:
        case JobDone():
            return "done"
        case PutBack():
            return "retry" if outcome.counts else "later"
        case Exhausted():
            return "failed"


def _write_completions(db: Connection, done: Sequence[JobDone], *, now: datetime) -> None:
    noted = {end.claim: end.completion for end in done if end.completion is not None}
    together: dict[Any, list[Any]] = {}
    for held in find_held(db, list(noted)):
        completion = noted[held]
        together.setdefault(completion.write, []).append(completion.note)
    for write, notes in together.items():
        write(db, notes, now)
