"""Which kinds of work wait for later, how much each may cost, and what follows a failure."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec

from printworks.rules.images import DOWNLOAD_ATTEMPTS, wait_after_download


class JobState(StrEnum):
    """Where a job is: scheduled → due → running → done, failed or cancelled."""

    SCHEDULED = "scheduled"
    DUE = "due"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobKind(StrEnum):
    """What can be promised; each kind has a policy here and a handler in the worker."""

    FETCH_IMAGE = "fetch-image"
    RENDER_IMAGE = "render-image"
    FETCH_PACKING_SLIP = "fetch-packing-slip"
    SEND_TO_LAB = "send-to-lab"
    APPLY_LAB_REPORT = "apply-lab-report"
    CANCEL_AT_LAB = "cancel-at-lab"
    LOOK_AT_LABS = "look-at-labs"
    DELIVER_CALLBACK = "deliver-callback"
    RETRY_CALLBACK = "retry-callback"
    FORGET_CALLBACK_ATTEMPTS = "forget-callback-attempts"
    CHECK_PAYMENT = "check-payment"
    REFUND_PAYMENT = "refund-payment"
    END_CHECKOUT = "end-checkout"
    REMOVE_FILES = "remove-files"
    FORGET_PICTURES = "forget-pictures"
    FORGET_JOBS = "forget-jobs"
    FORGET_IDEMPOTENCY_KEYS = "forget-idempotency-keys"
    FORGET_REQUESTS = "forget-requests"
    FORGET_SESSIONS = "forget-sessions"


# An operator may ask for another try in these states, and call a job off in those. A running
# job is in somebody's hands: it can be neither.
MAY_RETRY: Final = frozenset({JobState.SCHEDULED, JobState.FAILED, JobState.CANCELLED})
MAY_CANCEL: Final = frozenset({JobState.SCHEDULED, JobState.DUE, JobState.FAILED})


class Acknowledge(StrEnum):
    """How success is written down.

    GROUPED is several times quicker, but a worker that is killed runs its last few jobs
    again. SINGLY is for work that hurts when it happens twice.
    """

    GROUPED = "grouped"
    SINGLY = "singly"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What one kind of job may cost."""

    # Jobs of one merchant that run at the same time, over all workers: a receiver that
    # hangs holds up nobody but the merchant it belongs to.
    in_flight: int
    # Counted when a job is claimed, so that one which kills its worker comes to an end too.
    attempts: int
    timeout: timedelta
    acknowledge: Acknowledge
    # From the attempts so far to the wait before the next one; None gives up.
    wait_after: Callable[[int], timedelta | None]
    # Whether it does little but wait for others, and so gives up its slot when that takes long.
    steps_aside: bool = False
    # Whether it stays in the queue while many others wait aside.
    comes_last: bool = False


class Retry(msgspec.Struct, frozen=True):
    """Try again after a wait."""

    wait: timedelta
    # Whether this was one of the attempts that the job has.
    counts: bool = True


class GiveUp(msgspec.Struct, frozen=True):
    """Leave the job to a person."""


class PermanentFailure(Exception):
    """Raised by a handler when another try would end the same way."""


class RetryLater(Exception):
    """Raised by a handler that could not even try, for reasons that are not the job's.

    A full disk or a busy host must not use up the attempts of whoever had the bad luck.
    """

    def __init__(self, reason: str, *, wait: timedelta) -> None:
        super().__init__(reason)
        self.wait = wait


def decide(policy: Policy, attempts: int, error: BaseException) -> Retry | GiveUp:
    """Say what follows when a job has failed, this having been its so-manieth attempt."""
    if isinstance(error, RetryLater):
        return Retry(error.wait, counts=False)
    if isinstance(error, PermanentFailure) or attempts >= policy.attempts:
        return GiveUp()
    wait = policy.wait_after(attempts)
    return GiveUp() if wait is None else Retry(wait)


def doubling(first: timedelta, *, longest: timedelta) -> Callable[[int], timedelta]:
    """Return waits of which each is twice the one before, up to the longest."""

    def wait_after(attempts: int) -> timedelta:
        # No more doublings than the longest wait needs: a timedelta can overflow.
        doublings = min(attempts - 1, (longest // first).bit_length())
        return min(longest, first * (1 << doublings))

    return wait_after


_SWEEP: Final = Policy(
    in_flight=1,
    attempts=5,
    timeout=timedelta(minutes=10),
    acknowledge=Acknowledge.GROUPED,
    wait_after=doubling(timedelta(minutes=1), longest=timedelta(minutes=10)),
)

# A download fails at most so many times, and its handler then says so. The attempts beyond are
# for workers that die on the way.
SPARE_ATTEMPTS: Final = 3

_DOWNLOAD: Final = Policy(
    in_flight=8,
    attempts=DOWNLOAD_ATTEMPTS + SPARE_ATTEMPTS,
    timeout=timedelta(minutes=10),
    acknowledge=Acknowledge.SINGLY,
    # Whatever goes wrong beyond the attempts that the handler counts is tried again as well.
    wait_after=lambda attempts: wait_after_download(attempts) or timedelta(minutes=10),
)
# What cannot be drawn ends at the first try: these are for workers that die, which says nothing of
# the picture, for those are drawn by children.
_RENDER: Final = Policy(
    in_flight=4,
    attempts=30,
    timeout=timedelta(minutes=10),
    acknowledge=Acknowledge.SINGLY,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(minutes=10)),
)
_REMOVAL: Final = Policy(
    in_flight=4,
    attempts=20,
    timeout=timedelta(minutes=10),
    acknowledge=Acknowledge.GROUPED,
    wait_after=doubling(timedelta(minutes=1), longest=timedelta(hours=6)),
)

_LAB: Final = Policy(
    in_flight=8,
    attempts=30,
    timeout=timedelta(minutes=10),
    acknowledge=Acknowledge.SINGLY,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(hours=1)),
)

# Nobody may lose money because a provider was away: there is always another attempt.
_PAYMENT: Final = Policy(
    in_flight=8,
    attempts=1000,
    timeout=timedelta(minutes=5),
    acknowledge=Acknowledge.SINGLY,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(hours=1)),
)

# The first try of a callback. One merchant never has all the slots of a worker.
_CALLBACK: Final = Policy(
    in_flight=24,
    # A receiver's failures are counted in the callback, and every try is a job of its own: these
    # are for workers that die on the way.
    attempts=100,
    timeout=timedelta(minutes=1),
    acknowledge=Acknowledge.GROUPED,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(hours=1)),
    steps_aside=True,
)
# Later tries, and the first ones of receivers that take long: few of them at a time.
_LATE_CALLBACK: Final = msgspec.structs.replace(_CALLBACK, in_flight=2, comes_last=True)

POLICIES: Final[Mapping[str, Policy]] = {
    JobKind.DELIVER_CALLBACK: _CALLBACK,
    JobKind.RETRY_CALLBACK: _LATE_CALLBACK,
    JobKind.CHECK_PAYMENT: _PAYMENT,
    JobKind.REFUND_PAYMENT: _PAYMENT,
    JobKind.END_CHECKOUT: _PAYMENT,
    JobKind.SEND_TO_LAB: _LAB,
    JobKind.APPLY_LAB_REPORT: _LAB,
    JobKind.CANCEL_AT_LAB: _LAB,
    JobKind.LOOK_AT_LABS: _SWEEP,
    JobKind.FETCH_IMAGE: _DOWNLOAD,
    JobKind.RENDER_IMAGE: _RENDER,
    JobKind.FETCH_PACKING_SLIP: _DOWNLOAD,
    JobKind.REMOVE_FILES: _REMOVAL,
    JobKind.FORGET_CALLBACK_ATTEMPTS: _SWEEP,
    JobKind.FORGET_PICTURES: _SWEEP,
    JobKind.FORGET_JOBS: _SWEEP,
    JobKind.FORGET_IDEMPOTENCY_KEYS: _SWEEP,
    JobKind.FORGET_REQUESTS: _SWEEP,
    JobKind.FORGET_SESSIONS: _SWEEP,
}

HOURLY: Final = (
    JobKind.LOOK_AT_LABS,
    JobKind.FORGET_CALLBACK_ATTEMPTS,
    JobKind.FORGET_PICTURES,
    JobKind.FORGET_JOBS,
    JobKind.FORGET_IDEMPOTENCY_KEYS,
    JobKind.FORGET_REQUESTS,
    JobKind.FORGET_SESSIONS,
)


def hourly_key(kind: JobKind, now: datetime) -> str:
    """Return the dedupe key of this hour: whoever promises first, it happens once."""
    return f"{kind}:{now:%Y-%m-%dT%H}"
