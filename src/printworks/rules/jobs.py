"""The kinds of background jobs, the policy of each, and when a failed job is retried."""

from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec

from printworks.rules.images import DOWNLOAD_ATTEMPTS, wait_after_download
from printworks.rules.pools import Pool


class JobState(StrEnum):
    """The state of a job: scheduled → due → running → done, failed or cancelled."""

    SCHEDULED = "scheduled"
    DUE = "due"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


class JobKind(StrEnum):
    """What can be enqueued; each kind has a policy here and a handler in the worker."""

    FETCH_IMAGE = "fetch-image"
    FETCH_SLOW_IMAGE = "fetch-slow-image"
    RENDER_IMAGE = "render-image"
    DRAW_MOCKUP = "draw-mockup"
    RENDER_PROOFS = "render-proofs"
    FETCH_PACKING_SLIP = "fetch-packing-slip"
    FETCH_SLOW_PACKING_SLIP = "fetch-slow-packing-slip"
    SEND_TO_LAB = "send-to-lab"
    APPLY_LAB_REPORT = "apply-lab-report"
    CANCEL_AT_LAB = "cancel-at-lab"
    POLL_LABS = "poll-labs"
    DELIVER_CALLBACK = "deliver-callback"
    RETRY_CALLBACK = "retry-callback"
    CHALLENGE_CALLBACK = "challenge-callback"
    PURGE_CALLBACK_ATTEMPTS = "purge-callback-attempts"
    CHECK_PAYMENT = "check-payment"
    REFUND_PAYMENT = "refund-payment"
    CHECK_CARD = "check-card"
    FORGET_CARD = "forget-card"
    END_CHECKOUT = "end-checkout"
    MAKE_INVOICE = "make-invoice"
    COLLECT_INVOICES = "collect-invoices"
    RUN_LOT = "run-lot"
    REMOVE_FILES = "remove-files"
    ERASE_FILES = "erase-files"
    ERASE_WAITING = "erase-waiting"
    ERASE_OLD_RECIPIENTS = "erase-old-recipients"
    PURGE_PROOFS = "purge-proofs"
    PURGE_ISSUE_PHOTOS = "purge-issue-photos"
    PURGE_PICTURES = "purge-pictures"
    CANCEL_DRAFTS = "cancel-drafts"
    PURGE_JOBS = "purge-jobs"
    PURGE_IDEMPOTENCY_KEYS = "purge-idempotency-keys"
    PURGE_REQUESTS = "purge-requests"
    PURGE_SESSIONS = "purge-sessions"
    PURGE_LOTS = "purge-lots"
    SUM_DAYS = "sum-days"
    VERIFY_LEDGER = "verify-ledger"
    SEND_MAIL = "send-mail"
    SEND_NOTICE = "send-notice"
    WRITE_NOTICES = "write-notices"
    START_RESET = "start-reset"
    CHECK_ACCOUNTS = "check-accounts"
    PURGE_MAILS = "purge-mails"


# Where a download goes whose host was slow lately: a few at a time, with slots of their own.
SLOW_KINDS: Final[Mapping[str, JobKind]] = {
    JobKind.FETCH_IMAGE: JobKind.FETCH_SLOW_IMAGE,
    JobKind.FETCH_PACKING_SLIP: JobKind.FETCH_SLOW_PACKING_SLIP,
}


# How long a process that moves a merchant's clock reserves the merchant's jobs without renewing it.
ADVANCING_LEASE: Final = timedelta(minutes=3)
# How far the clocks of machines may be apart.
MOST_SKEW: Final = timedelta(seconds=10)


def has_lease_ended(unchanged: timedelta, length: timedelta, *, is_past: bool) -> bool:
    """Say whether a lease has ended that an observer has seen unchanged for this long.

    Holders renew after a third of its length. What the observer's clock says counts only together
    with half of the length: the clock may just have been set forward. Without it, all of the
    length counts: the clock may have been set back.
    """
    return unchanged >= (length / 2 if is_past else length)


# The states in which an operator may retry or cancel a job. A running job can be neither.
MAY_RETRY: Final = frozenset({JobState.SCHEDULED, JobState.FAILED, JobState.CANCELLED})
MAY_CANCEL: Final = frozenset({JobState.SCHEDULED, JobState.DUE, JobState.FAILED})


class Acknowledge(StrEnum):
    """How success is stored.

    GROUPED is several times faster, but after a kill the last few jobs of a worker run again.
    SINGLY is for work that is expensive to repeat.
    """

    GROUPED = "grouped"
    SINGLY = "singly"


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one kind of job."""

    # Concurrent jobs of one merchant, over all workers: a receiver that hangs delays only its own
    # merchant.
    in_flight: int
    # Counted when a job is claimed, so that a job that kills its worker ends too.
    attempts: int
    acknowledge: Acknowledge
    # From the attempts so far to the wait before the next one; None for no more.
    wait_after: Callable[[int], timedelta | None]
    timeout: timedelta = timedelta(minutes=10)
    # Whose slots it uses.
    pool: Pool = Pool.UPKEEP
    # Whether it tells a lab, a bank, a receiver or a person something: it waits in quarantine.
    reaches_out: bool = False


class Retry(msgspec.Struct, frozen=True):
    """Retry after a wait."""

    wait: timedelta
    # Whether this was one of the attempts that the job has.
    counts: bool = True
    # What it becomes, if it is to wait with others.
    kind: JobKind | None = None


class GiveUp(msgspec.Struct, frozen=True):
    """The job is exhausted: an operator has to decide."""


class PermanentFailure(Exception):
    """Raised by a handler when a retry would fail too."""


class RetryLater(Exception):
    """Raised by a handler after an infrastructure error, such as a full disk.

    It does not use up an attempt of the job. With a kind, the job becomes one of that kind.
    """

    def __init__(self, reason: str, *, wait: timedelta, kind: JobKind | None = None) -> None:
        super().__init__(reason)
        self.wait = wait
        self.kind = kind


def decide(policy: Policy, attempts: int, error: BaseException) -> Retry | GiveUp:
    """Return whether and when a job is retried that has failed after this many attempts."""
    if isinstance(error, RetryLater):
        return Retry(error.wait, counts=False, kind=error.kind)
    if isinstance(error, PermanentFailure) or attempts >= policy.attempts:
        return GiveUp()
    wait = policy.wait_after(attempts)
    return GiveUp() if wait is None else Retry(wait)


def doubling(first: timedelta, *, longest: timedelta) -> Callable[[int], timedelta]:
    """Return an exponential backoff: each wait is twice the one before, up to the longest."""

    def wait_after(attempts: int) -> timedelta:
        # No more doublings than the longest wait needs: a timedelta can overflow.
        doublings = min(attempts - 1, (longest // first).bit_length())
        return min(longest, first * (1 << doublings))

    return wait_after


HOURLY: Final = (
    JobKind.POLL_LABS,
    JobKind.PURGE_CALLBACK_ATTEMPTS,
    JobKind.ERASE_WAITING,
    JobKind.ERASE_OLD_RECIPIENTS,
    JobKind.PURGE_PICTURES,
    JobKind.PURGE_PROOFS,
    JobKind.PURGE_ISSUE_PHOTOS,
    JobKind.CANCEL_DRAFTS,
    JobKind.PURGE_JOBS,
    JobKind.PURGE_IDEMPOTENCY_KEYS,
    JobKind.PURGE_REQUESTS,
    JobKind.PURGE_SESSIONS,
    JobKind.PURGE_LOTS,
    JobKind.SUM_DAYS,
    JobKind.VERIFY_LEDGER,
    JobKind.CHECK_ACCOUNTS,
    JobKind.PURGE_MAILS,
)
# What runs by itself again and again, and is of no interest unless it fails.
PERIODIC: Final = frozenset(HOURLY)
_SWEEP: Final = Policy(
    in_flight=1,
    attempts=5,
    acknowledge=Acknowledge.GROUPED,
    wait_after=doubling(timedelta(minutes=1), longest=timedelta(minutes=10)),
)

# The handler counts failed downloads itself. These further attempts are for workers that die.
SPARE_ATTEMPTS: Final = 3

_DOWNLOAD: Final = Policy(
    pool=Pool.DOWNLOADS,
    in_flight=8,
    attempts=DOWNLOAD_ATTEMPTS + SPARE_ATTEMPTS,
    acknowledge=Acknowledge.SINGLY,
    # Other failures than those that the handler counts are retried as well.
    wait_after=lambda attempts: wait_after_download(attempts) or timedelta(minutes=10),
)
# Those from hosts that were slow lately: few of them at a time.
_SLOW_DOWNLOAD: Final = msgspec.structs.replace(_DOWNLOAD, in_flight=2, pool=Pool.SLOW_DOWNLOADS)
# A picture that cannot be rendered fails at the first attempt: these are for workers that die,
# which is not the fault of the picture, since children render it.
_RENDER: Final = Policy(
    pool=Pool.RENDERING,
    in_flight=4,
    attempts=30,
    acknowledge=Acknowledge.SINGLY,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(minutes=10)),
)
# One at a time, so that of two drawings of the same image the later one is stored last.
_MOCKUP: Final = msgspec.structs.replace(_RENDER, pool=Pool.MOCKUPS, in_flight=1)
_REMOVAL: Final = Policy(
    in_flight=4,
    attempts=20,
    acknowledge=Acknowledge.GROUPED,
    wait_after=doubling(timedelta(minutes=1), longest=timedelta(hours=6)),
)

# It asks the labs, one after the other.
_POLL: Final = msgspec.structs.replace(_SWEEP, pool=Pool.LABS, reaches_out=True)
_LAB: Final = Policy(
    pool=Pool.LABS,
    reaches_out=True,
    in_flight=8,
    attempts=30,
    acknowledge=Acknowledge.SINGLY,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(hours=1)),
)

# No money may be lost because a provider was unavailable: there is always another attempt.
_PAYMENT: Final = Policy(
    pool=Pool.PAYMENTS,
    reaches_out=True,
    in_flight=8,
    attempts=1000,
    timeout=timedelta(minutes=5),
    acknowledge=Acknowledge.SINGLY,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(hours=1)),
)

# The first attempt of a callback. One merchant never has all the slots of a worker.
_CALLBACK: Final = Policy(
    pool=Pool.CALLBACKS,
    reaches_out=True,
    in_flight=24,
    # Failures of the receiver are counted in the callback, and every attempt is a job of its own:
    # these are for workers that die.
    attempts=100,
    timeout=timedelta(minutes=1),
    acknowledge=Acknowledge.GROUPED,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(hours=1)),
)
# Later attempts, and the first ones to slow receivers: few of them at a time.
_LATE_CALLBACK: Final = msgspec.structs.replace(_CALLBACK, in_flight=2, pool=Pool.LATE_CALLBACKS)

# A mail says itself until when it is worth sending: that ends before its attempts do.
_MAIL: Final = Policy(
    pool=Pool.MAIL,
    in_flight=4,
    attempts=400,
    timeout=timedelta(minutes=5),
    acknowledge=Acknowledge.SINGLY,
    wait_after=doubling(timedelta(seconds=30), longest=timedelta(minutes=30)),
    reaches_out=True,
)

# Many orders, a few in each job. One lot of a merchant after the other, so that two of them cannot
# create the same order; it may charge cards. Attempts are for workers that die.
_LOT: Final = Policy(
    reaches_out=True,
    in_flight=1,
    attempts=100,
    acknowledge=Acknowledge.SINGLY,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(minutes=10)),
)

# Nothing but the database is needed: what fails, fails until an operator has looked at it.
_INVOICE: Final = Policy(
    in_flight=2,
    attempts=30,
    acknowledge=Acknowledge.GROUPED,
    wait_after=doubling(timedelta(seconds=10), longest=timedelta(minutes=10)),
)

POLICIES: Final[Mapping[str, Policy]] = {
    JobKind.DELIVER_CALLBACK: _CALLBACK,
    JobKind.RETRY_CALLBACK: _LATE_CALLBACK,
    JobKind.CHALLENGE_CALLBACK: msgspec.structs.replace(_LATE_CALLBACK, in_flight=1),
    JobKind.CHECK_PAYMENT: _PAYMENT,
    JobKind.REFUND_PAYMENT: _PAYMENT,
    JobKind.CHECK_CARD: _PAYMENT,
    JobKind.FORGET_CARD: _PAYMENT,
    JobKind.END_CHECKOUT: _PAYMENT,
    JobKind.MAKE_INVOICE: _INVOICE,
    # One after the other: each takes what the one before has left.
    JobKind.COLLECT_INVOICES: msgspec.structs.replace(_INVOICE, in_flight=1),
    JobKind.RUN_LOT: _LOT,
    JobKind.SEND_TO_LAB: _LAB,
    JobKind.APPLY_LAB_REPORT: _LAB,
    JobKind.CANCEL_AT_LAB: _LAB,
    JobKind.FETCH_IMAGE: _DOWNLOAD,
    JobKind.FETCH_SLOW_IMAGE: _SLOW_DOWNLOAD,
    JobKind.RENDER_IMAGE: _RENDER,
    JobKind.DRAW_MOCKUP: _MOCKUP,
    JobKind.RENDER_PROOFS: _RENDER,
    JobKind.FETCH_PACKING_SLIP: _DOWNLOAD,
    JobKind.FETCH_SLOW_PACKING_SLIP: _SLOW_DOWNLOAD,
    JobKind.REMOVE_FILES: _REMOVAL,
    # A lab's disk may not be mounted for days, and nobody may forget to ask again.
    JobKind.ERASE_FILES: msgspec.structs.replace(_LAB, attempts=100, timeout=timedelta(hours=1)),
    JobKind.SEND_MAIL: _MAIL,
    # News, of which there may be many, with a lane of their own: they do not delay a new password.
    JobKind.SEND_NOTICE: _MAIL,
    JobKind.WRITE_NOTICES: msgspec.structs.replace(_SWEEP, attempts=20),
    JobKind.START_RESET: msgspec.structs.replace(_SWEEP, in_flight=4, attempts=20),
    **dict.fromkeys(HOURLY, _SWEEP),
    JobKind.POLL_LABS: _POLL,
    # Large ledgers take long, and nothing waits for it.
    JobKind.VERIFY_LEDGER: msgspec.structs.replace(_SWEEP, timeout=timedelta(hours=2)),
}


def hourly_key(kind: JobKind, now: datetime) -> str:
    """Return the deduplication key of this hour, so that the job runs once."""
    return f"{kind}:{now:%Y-%m-%dT%H}"
