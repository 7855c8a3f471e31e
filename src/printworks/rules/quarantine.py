"""Quarantine: the service takes orders and shows them, but nothing leaves it.

After a restore, the database does not know what has happened since its backup: a shipment may be
at its lab, a payment made, a callback delivered. Until an operator has seen what that can be, no
job runs that reaches a lab, a bank or a receiver.
"""

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import Final, NamedTuple

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


class DoubtWords(NamedTuple):
    """How operators read of a kind of doubt: a heading, and what its two columns are."""

    heading: str
    subject: str
    detail: str


DOUBTS: Final[Mapping[DoubtKind, DoubtWords]] = {
    DoubtKind.SENT: DoubtWords("Lab jobs that may have been sent to their labs", "Lab job", "Lab"),
    DoubtKind.REPORTED: DoubtWords(
        "Lab jobs that may have been made, sent or failed since", "Lab job", "Lab"
    ),
    DoubtKind.PAID: DoubtWords(
        "Payments that may have been made, declined or refunded", "Payment", "State"
    ),
    DoubtKind.DELIVERED: DoubtWords("Callbacks that may have been delivered", "Callback", "State"),
    DoubtKind.SUBMITTED: DoubtWords(
        "Open orders that may have been changed, submitted or cancelled", "Reference", "Recipient"
    ),
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
