"""What happens later: the loop that runs promised jobs, and one file for each sort of work."""

from collections.abc import Mapping
from typing import Final

from printworks.rules.jobs import JobKind
from printworks.worker.loop import Handler
from printworks.worker.sweeps import forget_idempotency_keys, forget_jobs

HANDLERS: Final[Mapping[str, Handler]] = {
    JobKind.FORGET_JOBS: forget_jobs,
    JobKind.FORGET_IDEMPOTENCY_KEYS: forget_idempotency_keys,
}
