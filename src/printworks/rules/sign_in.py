"""How often somebody may try to sign in, and who needs a second factor."""

from datetime import datetime, timedelta
from typing import Final, NamedTuple

from printworks.rules.people import wait_after

# Tries without a success are forgotten after this time without another.
FORGOTTEN_AFTER: Final = timedelta(days=1)


class Tries(NamedTuple):
    """How many tries are counted, and when the last of them was, or was forgotten."""

    number: int
    at: datetime


class Allowance(NamedTuple):
    """How many tries are allowed together, and how often one more."""

    together: int
    every: timedelta


# Of one network address, for any account; and of one browser that its owner has used before, while
# others have to wait.
OF_A_NETWORK: Final = Allowance(20, timedelta(seconds=5))
OF_A_KNOWN_BROWSER: Final = Allowance(5, timedelta(minutes=5))
# Links to choose a new password, for one address: whether somebody signs in with it or not.
OF_A_RESET: Final = Allowance(3, timedelta(minutes=20))
# Invitations by mail: to one address, whoever invites; and of one merchant, to any address.
OF_AN_INVITATION: Final = OF_A_RESET
OF_A_TEAM: Final = Allowance(20, timedelta(hours=1))


def count_in_a_row(before: Tries, *, now: datetime) -> Tries | timedelta:
    """Count a try that follows others without a success; return how long to wait if there is a wait.

    The try is counted before anyone knows whether it succeeds, so that many at once get no more
    tries than one after the other.
    """
    if now - before.at >= FORGOTTEN_AFTER:
        return Tries(1, now)
    wait = wait_after(before.number)
    # A clock that was set back makes nobody wait longer.
    left = min(before.at + wait - now, wait)
    return left if left > timedelta() else Tries(before.number + 1, now)


def count_within(allowance: Allowance, before: Tries, *, now: datetime) -> Tries | timedelta:
    """Count a try of which there are only so many together and one more every so often."""
    forgotten = max((now - before.at) // allowance.every, 0)
    if forgotten >= before.number:
        return Tries(1, now)
    count, since = before.number - forgotten, before.at + forgotten * allowance.every
    if count < allowance.together:
        return Tries(count + 1, since)
    return min(since + allowance.every - now, allowance.every)
