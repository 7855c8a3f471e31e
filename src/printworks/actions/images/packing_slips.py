"""The result of validating a packing slip."""

from collections.abc import Mapping
from typing import Any

from printworks.actions.images.pictures import remove_files
from printworks.actions.images.redrawing import PendingFile, keep_file
from printworks.actions.production.release import enqueue_sending
from printworks.actions.work import Work
from printworks.rules.events import PackingSlipJudged
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.reasons import Reason, ReasonCode, add_reason
from printworks.store.images.images import list_images
from printworks.store.images.packing_slips import PackingSlip, update_packing_slip
from printworks.store.orders.orders import get_order_to_change, update_order
from printworks.store.orders.shipments import list_shipments


def record_packing_slip_status(
    work: Work, slip: PackingSlip, facts: Mapping[str, Any], pending: PendingFile | None = None
) -> bool:
    """Record the result of validating a packing slip; the order says if it cannot be used.

    Return False, and only remove the file, if it was recorded before, or the slip has been
    replaced or erased, or the order cancelled.
    """
    order = get_order_to_change(work.db, work.merchant.id, slip.order_id)
    is_wanted = order.status is not OrderStatus.CANCELLED and update_packing_slip(
        work.db, slip, **facts, updated_at=work.now
    )
    if pending is not None and is_wanted:
        keep_file(work, pending, noun="packing slip")
    elif pending is not None:
        # At once: it has a name and an address, and nobody would find it to erase it.
        remove_files(work, [pending.file])
    if not is_wanted:
        return False
    status: ImageStatus = facts["status"]
    work.record(order.id, PackingSlipJudged(status))
    if status is not ImageStatus.OK:
        failed = Reason(ReasonCode.PACKING_SLIP_FAILED, detail=facts["error_message"])
        values = {"reasons": add_reason(order.reasons, failed), "updated_at": work.now}
        order = update_order(work.db, order, values)
    # Shipments that only waited for the slip go to their labs now, with it or without.
    if order.image_count:
        shipments, images = list_shipments(work.db, order.id), list_images(work.db, order.id)
        enqueue_sending(work, order, shipments, images)
    return True
