"""The states of a shipment at its lab, and what may still be changed in each."""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from printworks.rules.orders import PERMISSIONS, OrderStatus, Permissions


class LabState(StrEnum):
    """The state of a shipment at its lab."""

    OFFERED = "offered"
    ACCEPTED = "accepted"
    IN_PRODUCTION = "in-production"
    DISPATCHED = "dispatched"
    # Its carrier says that it has arrived.
    DELIVERED = "delivered"
    REJECTED = "rejected"
    CANCELLED = "cancelled"
    FAILED = "failed"


# Of base32: fifty random bits, and a name that every file system takes.
TOKEN_LENGTH: Final = 10
# Not `7-… - Copy`, the name that a desktop gives to a copy.
_JOB_NAME: Final = re.compile(rf"([1-9][0-9]{{0,18}})-[a-z2-7]{{{TOKEN_LENGTH}}}")


def name_job(number: int, token: str) -> str:
    """Return what a lab calls a job: every answer must repeat it."""
    return f"{number}-{token}"


def is_job_name(text: str) -> bool:
    """Whether a text can be the name of a job."""
    return _JOB_NAME.fullmatch(text) is not None


def read_job_number(name: str) -> int:
    """Return the number in the name of a job."""
    return int(name.partition("-")[0])


_S = LabState

# A lab may skip steps, and its reports may come late or twice: other moves are ignored.
LAB_MOVES: Final[Mapping[LabState, frozenset[LabState]]] = {
    _S.OFFERED: frozenset(
        {_S.ACCEPTED, _S.IN_PRODUCTION, _S.DISPATCHED, _S.REJECTED, _S.CANCELLED, _S.FAILED}
    ),
    _S.ACCEPTED: frozenset({_S.IN_PRODUCTION, _S.DISPATCHED, _S.REJECTED, _S.CANCELLED, _S.FAILED}),
    # Cancelled only by an operator, who has it printed again.
    _S.IN_PRODUCTION: frozenset({_S.DISPATCHED, _S.FAILED, _S.CANCELLED}),
    _S.DISPATCHED: frozenset({_S.DELIVERED}),
    _S.DELIVERED: frozenset(),
    _S.REJECTED: frozenset(),
    _S.CANCELLED: frozenset(),
    _S.FAILED: frozenset({_S.CANCELLED}),
}

# Shipments that will never be sent; others replace them.
DROPPED: Final = frozenset({_S.REJECTED, _S.CANCELLED})
# Shipments that a lab still has to make.
OPEN: Final = frozenset({_S.OFFERED, _S.ACCEPTED, _S.IN_PRODUCTION})
# Shipments that have left their lab.
SENT: Final = frozenset({_S.DISPATCHED, _S.DELIVERED})


def is_news(known: LabState, reported: LabState) -> bool:
    """Whether a report moves a shipment forward; else it is late, repeated or impossible."""
    return reported in LAB_MOVES[known]


def is_stuck(state: LabState | None, held_because: str | None) -> bool:
    """Whether a shipment waits for an operator, because it failed or is held."""
    return state is LabState.FAILED or (state in OPEN and held_because is not None)


def judge_report(known: LabState | None, reported: LabState) -> LabState:
    """Return what a lab's report means: one that rejects what it has begun could not make it.

    Its prints may exist by then, so that an operator decides what becomes of them.
    """
    if known is LabState.IN_PRODUCTION and reported is LabState.REJECTED:
        return LabState.FAILED
    return reported


class LabRules(NamedTuple):
    """The last states at its lab in which something of a shipment may still be changed."""

    cancel: frozenset[LabState]
    hold: frozenset[LabState]
    update_shipping: frozenset[LabState]


def find_permissions(
    status: OrderStatus, shipments: Iterable[tuple[LabState, LabRules]], *, is_held: bool
) -> Permissions:
    """Return what the merchant may still do: what the status and every lab permit."""
    permissions = PERMISSIONS[status]
    if status is OrderStatus.SUBMITTED:
        at_labs = [(state, rules) for state, rules in shipments if state not in DROPPED]
        permissions = Permissions(
            # A lab that has failed has nothing to cancel.
            cancel=all(state is _S.FAILED or state in rules.cancel for state, rules in at_labs),
            hold=all(state in rules.hold for state, rules in at_labs),
            update_shipping=all(state in rules.update_shipping for state, rules in at_labs),
            remove_images=False,
        )
    return permissions._replace(hold=permissions.hold and not is_held)
