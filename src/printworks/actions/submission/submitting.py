"""Handing an order to production, once somebody has paid for it or may owe it."""

from datetime import datetime

from sqlalchemy import Connection

from printworks.actions.images.images import enqueue_prints
from printworks.actions.orders.moves import move_order
from printworks.actions.payments.charges import charge_order
from printworks.actions.production.production import offer_to_labs
from printworks.catalogue.snapshot import Catalogue
from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import forget_refusal
from printworks.store.accounts.merchants import Merchant
from printworks.store.images.images import Images
from printworks.store.orders.orders import Order


def release_to_production(
    db: Connection,
    merchant: Merchant,
    order: Order,
    images: Images,
    *,
    catalogue: Catalogue,
    provider: str,
    now: datetime,
    request_id: str | None = None,
) -> Order:
    """Choose the labs of a valid order, charge the merchant and let production begin.

    Raise `WrongState`, before anything is written, if no lab can make it.
    """
    shipments = offer_to_labs(db, merchant, order, images, catalogue, now=now)
    charge_order(db, merchant, order, provider=provider, now=now)
    submitted = move_order(
        db,
        order,
        OrderStatus.SUBMITTED,
        shipments,
        lacks_images=any(image.status is ImageStatus.AWAITING_URL_OR_DATA for image in images),
        now=now,
        # Asking for production ends a hold.
        held_at=None,
        payment_request_id=None,
        pay_until=None,
        error_message=forget_refusal(order.error_message),
    )
    enqueue_prints(db, merchant, images, now=now, request_id=request_id)
    return submitted
