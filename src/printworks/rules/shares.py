"""Fair shares: how many requests a merchant may send, and how many are worked on at once.

A share is a bucket that fills at a steady rate. Its state is one number, the time at which it will
be full again, so that processes can share it without locks; each request moves that time on.
"""

import math
from typing import Final, NamedTuple, Self

# A bucket that would be full this much later than one that was just emptied was written under
# another limit or another clock; it starts again, full.
_TOO_LATE: Final = 1.0
# Shares of a microsecond are lost when times are written as fractions of seconds since 1970.
_ROUNDING: Final = 1e-6
# Refusals are answered at once so often; then they are held back, but not for longer than this.
REFUSALS_A_SECOND: Final = 1
REFUSALS_AT_ONCE: Final = 10
SECONDS_HELD: Final = 4.0
# An answer, or a body that is sent, counts as one request for each part of this size that it has.
BYTES_OF_ANSWER: Final = 32_768
BYTES_OF_BODY: Final = 4_096


class RequestShare(NamedTuple):
    """What one merchant, or one address, may send."""

    per_second: float
    burst: int
    in_work: int
    waiting: int

    @property
    def seconds_to_fill(self) -> float:
        """How long an empty bucket takes to be full."""
        return self.burst / self.per_second

    @property
    def policy(self) -> bytes:
        """What `RateLimit-Policy` says."""
        return b'"requests";q=%d;w=%d' % (self.burst, max(1, math.ceil(self.seconds_to_fill)))

    def divided_by(self, machines: int, processes: int) -> Self:
        """Return the part of one process.

        Processes of a machine share the bucket, but each has its own threads.
        """
        return self._replace(
            per_second=self.per_second / machines,
            burst=max(1, self.burst // machines),
            in_work=math.ceil(self.in_work / processes),
            waiting=math.ceil(self.waiting / processes),
        )


class ShareTerms(NamedTuple):
    """A merchant's own limits; None is that of the installation."""

    per_second: int | None = None
    burst: int | None = None
    in_work: int | None = None

    def apply_to(self, usual: RequestShare) -> RequestShare:
        """Return the share that a merchant has under these terms."""
        per_second = usual.per_second if self.per_second is None else self.per_second
        # A faster rate without a burst of its own keeps the usual time to fill.
        burst = max(usual.burst, math.ceil(per_second * usual.seconds_to_fill))
        return RequestShare(
            per_second=per_second,
            burst=burst if self.burst is None else self.burst,
            in_work=usual.in_work if self.in_work is None else self.in_work,
            waiting=usual.waiting,
        )


class Taken(NamedTuple):
    """What a bucket says to a request."""

    # When the bucket will be full: the new state.
    full_at: float
    remaining: int
    # Seconds until the bucket is full.
    resets_in: float
    # Seconds until the request may be sent again; 0 if it was granted.
    wait: float = 0.0

    @property
    def limit(self) -> bytes:
        """What `RateLimit` says."""
        return b'"requests";r=%d;t=%d' % (self.remaining, math.ceil(self.resets_in))


def take(share: RequestShare, full_at: float, now: float) -> Taken:
    """Take one request out of a bucket, if there is one in it."""
    each, most = 1 / share.per_second, share.burst / share.per_second
    if not now < full_at <= now + most + _TOO_LATE:
        full_at = now
    after = full_at + each
    room = now + most - after
    if room < -_ROUNDING:
        return Taken(full_at, 0, full_at - now, -room)
    return Taken(after, int((room + _ROUNDING) * share.per_second), after - now)


def count_more(answer: int, body: int) -> int:
    """Return as how many more requests one counts by the bytes of its answer and of its body.

    Writing a large answer takes as long, and so does checking a batch of images.
    """
    return max(0, answer - 1) // BYTES_OF_ANSWER + max(0, body - 1) // BYTES_OF_BODY


def charge(share: RequestShare, full_at: float, now: float, requests: int) -> Taken:
    """Take requests out of a bucket that were answered already; at most, it is empty then."""
    most = share.burst / share.per_second
    after = min(max(full_at, now) + requests / share.per_second, now + most)
    return Taken(after, int((now + most - after + _ROUNDING) * share.per_second), after - now)


def give_back(share: RequestShare, full_at: float) -> float:
    """Put one request back into a bucket, and return its state."""
    return full_at - 1 / share.per_second


def hold_refusal(caught_up_at: float, now: float, chance: float) -> tuple[float, float]:
    """Return the new state of somebody who is refused once more, and how long to hold the refusal.

    A program that sends again as soon as it was refused would otherwise take as much of the
    service for its refusals as others do for their answers. `chance`, from 0 to 1, shortens the
    wait by up to a half: those that come together must not come back together.
    """
    at_once = REFUSALS_AT_ONCE / REFUSALS_A_SECOND
    caught_up_at = max(caught_up_at, now) + 1 / REFUSALS_A_SECOND
    caught_up_at = min(caught_up_at, now + at_once + SECONDS_HELD)
    return caught_up_at, max(0.0, caught_up_at - now - at_once) * (1 - chance / 2)


def describe_share(share: RequestShare) -> str:
    """Say what a merchant may do, for the refusal."""
    return f"{share.per_second:g} requests a second, {share.burst} in a burst"
