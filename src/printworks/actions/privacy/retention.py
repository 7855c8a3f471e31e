"""What is removed of old orders without anybody asking for it."""

from datetime import datetime

from printworks.actions.privacy.erasing import erase_subjects
from printworks.actions.work import SystemWork
from printworks.rules.jobs import JobKind
from printworks.rules.privacy import ADDRESS_SUBJECTS
from printworks.store.accounts.privacy.erasers import erase_proofs
from printworks.store.accounts.privacy.sweeps import list_old_proofs, list_old_recipients
from printworks.store.orders.orders import increase_version


def erase_old_recipients(system: SystemWork, *, before: datetime, limit: int) -> int:
    """Erase the recipients of orders that ended before then; return how many.

    Orders with an issue or a payment that is not settled are left for later.
    """
    found = list_old_recipients(system.db, before=before, limit=limit)
    files: list[str] = []
    for order_id in found:
        work, order = system.lock_order(order_id)
        files += erase_subjects(work, order, ADDRESS_SUBJECTS)
    _remove(system, files)
    return len(found)


def remove_old_proofs(system: SystemWork, *, before: datetime, limit: int) -> int:
    """Remove the proofs of orders that ended before then; return how many files."""
    files: list[str] = []
    for order_id in list_old_proofs(system.db, before=before, limit=limit):
        work, order = system.lock_order(order_id)
        files += erase_proofs(work.db, order.id).files
        # Its answers no longer have links to them.
        increase_version(work.db, order.id)
    _remove(system, files)
    return len(files)


def _remove(system: SystemWork, files: list[str]) -> None:
    if files:
        system.enqueue_unowned(JobKind.REMOVE_FILES, {"files": files})
