"""What becomes of a packing slip."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import Connection

from printworks.actions.production.production import enqueue_sending
from printworks.rules.events import PackingSlipJudged
from printworks.rules.images import ImageStatus
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import list_images
from printworks.store.images.packing_slips import PackingSlip, update_packing_slip
from printworks.store.labs.shipments import list_shipments
from printworks.store.orders.events import record_event
from printworks.store.orders.orders import get_order_to_change, update_order


def judge_packing_slip(
    db: Connection,
    merchant: Merchant,
    slip: PackingSlip,
    facts: Mapping[str, Any],
    *,
    now: datetime,
) -> bool:
    """Say what became of a packing slip; one that cannot be used is told on the order.

    Return False, and change nothing, if that was said before or another slip is wanted by now.
    """
    order = get_order_to_change(db, merchant.id, slip.order_id)
    if not update_packing_slip(db, slip, **facts, updated_at=now):
        return False
    status: ImageStatus = facts["status"]
    record_event(db, order.id, PackingSlipJudged(status), now=now)
    if status is not ImageStatus.OK:
        message = f"The packing slip cannot be used. {facts['error_message']}"
        order = update_order(db, order, {"error_message": message, "updated_at": now}) or order
    # What was complete but for the slip goes to its labs now, with it or without.
    if order.image_count:
        shipments, images = list_shipments(db, order.id), list_images(db, order.id)
        enqueue_sending(db, merchant, order, shipments, images, now=now)
    return True
