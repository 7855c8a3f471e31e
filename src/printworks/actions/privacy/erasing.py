"""Erasing the recipient of an order: the database at once, files and labs in a job.

The transaction that blanks the rows writes the receipt and enqueues the job with everything that
is left to delete, so that a process may die at any line.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from printworks.actions.privacy.erasers import ERASERS
from printworks.actions.work import SystemWork, Work
from printworks.errors import WrongState
from printworks.rules.events import RecipientErased
from printworks.rules.issues import UNSETTLED
from printworks.rules.jobs import JobKind
from printworks.rules.privacy import (
    ErasureState,
    Subject,
    find_obstacle,
    read_asked_by,
)
from printworks.store.accounts.privacy.erasers import is_being_paid
from printworks.store.accounts.privacy.erasures import (
    Erasure,
    find_unfinished,
    get_erasure,
    insert_erasure,
    list_waiting,
    update_erasure,
)
from printworks.store.issues.issues import list_issues
from printworks.store.money.payments import list_requests_of_order
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import list_every_shipment

_MOST_PAYMENTS: Final = 100
# Erasures that wait because of an issue or a payment are looked at again with every sweep.
_MOST_WAITING: Final = 1000
# Whose payments nobody else knows of.
_OUR_OWN: Final = frozenset({"simulated", "account"})


def erase_order(
    system: SystemWork, order_id: int, *, asked_by: str, when_ended: bool = False
) -> Erasure:
    """Erase the recipient of an order, and return the receipt.

    While the recipient is still needed that is refused or, with `when_ended`, put off until the
    hourly sweep finds that it is not needed any more.
    """
    who = read_asked_by(asked_by)
    work, order = system.lock_order(order_id)
    begun = find_unfinished(work.db, order.id)
    obstacle = _find_obstacle(work, order)
    if begun is not None and (obstacle is not None or begun.state is not ErasureState.WAITING):
        raise WrongState(f"Order {order.id} is being erased already: see receipt {begun.id}.")
    if obstacle is not None and not when_ended:
        raise WrongState(obstacle)
    erasure = begun or _begin(work, order, who)
    if obstacle is not None:
        work.audit("erase-recipient-later", f"order {order.id}", receipt=erasure.id)
        return erasure
    work.audit("erase-recipient", f"order {order.id}", receipt=erasure.id)
    return _erase(work, order, erasure)


def erase_waiting(system: SystemWork, *, limit: int) -> int:
    """Erase recipients of orders that have ended since somebody asked; return how many."""
    erased = 0
    for erasure in list_waiting(system.db, limit=_MOST_WAITING):
        work, order = system.lock_order(erasure.order_id)
        # Another worker may have been first.
        is_waiting = get_erasure(work.db, erasure.id).state is ErasureState.WAITING
        if is_waiting and _find_obstacle(work, order) is None:
            _erase(work, order, erasure)
            erased += 1
        if erased == limit:
            break
    return erased


def erase_subjects(work: Work, order: Order, subjects: Iterable[Subject]) -> list[str]:
    """Remove some of what is known of a recipient, without a receipt; return the files to delete."""
    _, files = _run_erasers(work, order, subjects)
    work.record(order.id, RecipientErased())
    return files


def finish_erasure(
    system: SystemWork, erasure_id: int, removed: Mapping[str, int], left: Sequence[str]
) -> None:
    """Note that the files and the copies of labs are gone. Idempotent: the first one counts."""
    erasure = get_erasure(system.db, erasure_id)
    work, _ = system.lock_order(erasure.order_id)
    erasure = get_erasure(work.db, erasure_id)
    if erasure.state is not ErasureState.ERASING:
        return
    update_erasure(
        work.db,
        erasure,
        state=ErasureState.DONE,
        removed={**(erasure.removed or {}), **removed},
        left_elsewhere=[*(erasure.left_elsewhere or []), *left],
        finished_at=work.real_now,
    )


def _find_obstacle(work: Work, order: Order) -> str | None:
    found = list_issues(work.db, order.merchant_id, order.id)
    return find_obstacle(
        order.status,
        open_issues=[issue.id for issue in found if issue.state in UNSETTLED],
        is_being_paid=is_being_paid(work.db, order.id),
    )


def _begin(work: Work, order: Order, asked_by: str) -> Erasure:
    return insert_erasure(
        work.db,
        {
            "merchant_id": order.merchant_id,
            "order_id": order.id,
            "state": ErasureState.WAITING,
            "asked_by": asked_by,
            "done_by": work.actor.who,
            "created_at": work.real_now,
        },
    )


def _erase(work: Work, order: Order, erasure: Erasure) -> Erasure:
    left = _list_elsewhere(work, order)
    jobs = [
        {"lab": one.lab, "job": one.id}
        for one in list_every_shipment(work.db, order.id)
        if one.state is not None
    ]
    removed, files = _run_erasers(work, order, ERASERS)
    work.record(order.id, RecipientErased())
    args = {"erasure": erasure.id, "files": files, "labs": jobs}
    work.enqueue_unowned(JobKind.ERASE_FILES, args)
    return update_erasure(
        work.db,
        erasure,
        state=ErasureState.ERASING,
        removed=removed,
        left_elsewhere=left,
        erased_at=work.real_now,
    )


def _run_erasers(
    work: Work, order: Order, subjects: Iterable[Subject]
) -> tuple[dict[str, int], list[str]]:
    """Return how much was removed of each subject, and the files that are to be deleted."""
    removed: dict[str, int] = {}
    files: list[str] = []
    for subject in subjects:
        erased = ERASERS[subject](work, order)
        removed[subject.value] = erased.amount
        files += erased.files
    return removed, files


def _list_elsewhere(work: Work, order: Order) -> list[str]:
    """Say what others keep, whom the service cannot ask to forget it."""
    payments = list_requests_of_order(work.db, order.id, limit=_MOST_PAYMENTS)
    return [
        f"Payment provider {payment.provider}: the payment with the reference {payment.reference}."
        for payment in reversed(payments)
        if payment.reference and payment.provider not in _OUR_OWN
    ]
