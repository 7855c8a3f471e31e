"""Quarantine: the service takes orders and shows them, but nothing leaves it.

After a restore, the database does not know what has happened since its backup: a shipment may be
at its lab, a payment made, a callback delivered. Until an operator has seen what that can be, no
job runs that reaches a lab, a bank or a receiver.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from printworks.rules.jobs import Policy

IN_QUARANTINE: Final = (
    "The service is in quarantine: nothing leaves it until its operator has ended that."
)


class QuarantineCause(StrEnum):
    """Why the service is in quarantine."""

    RESTORED = "restored"
    MOVED = "moved"
    OPERATOR = "operator"


class DoubtKind(StrEnum):
    """What may have happened that the database does not know."""

    SENT = "sent-to-lab"
    REPORTED = "reported-by-lab"
    PAID = "paid"
    DELIVERED = "callback-delivered"
    SUBMITTED = "submitted"


# What operators read of each kind, after a number.
DOUBTS: Final[Mapping[DoubtKind, str]] = {
    DoubtKind.SENT: "lab jobs may have been sent to their labs",
    DoubtKind.REPORTED: "lab jobs may have been reported as made, sent or failed",
    DoubtKind.PAID: "payments may have been made, declined or refunded",
    DoubtKind.DELIVERED: "callbacks may have been delivered",
    DoubtKind.SUBMITTED: "open orders may have been changed, submitted or cancelled",
}


class Quarantine(msgspec.Struct, frozen=True):
    """Since when nothing leaves the service, and why."""

    cause: QuarantineCause
    since: datetime
    # What happened after this time, the database does not know.
    known_until: datetime


def hold_back(policies: Mapping[str, Policy]) -> dict[str, Policy]:
    """Return the policies of the jobs that run in quarantine: those that reach nobody outside."""
    return {kind: policy for kind, policy in policies.items() if not policy.reaches_out}
