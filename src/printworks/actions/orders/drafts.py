"""Orders that were created and never submitted: cancelled when nobody has touched them for long."""

from datetime import datetime

from printworks.actions.orders.orders import cancel_order
from printworks.actions.work import SystemWork
from printworks.rules.reasons import Reason, ReasonCode, add_reason
from printworks.store.orders.drafts import list_old_drafts
from printworks.store.orders.orders import update_order


def cancel_old_drafts(system: SystemWork, *, before: datetime, limit: int) -> int:
    """Cancel orders that were not submitted or changed since then; return how many.

    They say why. Their pictures are deleted like those of other cancelled orders.
    """
    found = list_old_drafts(system.db, before=before, limit=limit)
    for order_id in found:
        work, order = system.lock_order(order_id)
        cancelled = cancel_order(work, order)
        reasons = add_reason(cancelled.reasons, Reason(ReasonCode.NEVER_SUBMITTED))
        update_order(work.db, cancelled, {"reasons": reasons})
    return len(found)
