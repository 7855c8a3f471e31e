"""Quotes that have ended: calculated again when the merchant looks, and never charged unseen."""

from collections import Counter
from collections.abc import Sequence

import msgspec

from printworks.actions.orders.quotes import calculate_price, quote_order
from printworks.actions.work import SystemWork, Work
from printworks.rules.quotes import explain_new_price, keeps_quote
from printworks.store.engine.database import Database
from printworks.store.images.images import Images, ItemSum
from printworks.store.labs.shipments import WholeOrder
from printworks.store.orders import quotes as store
from printworks.store.orders.orders import Order, get_order_to_change


def is_quote_over(work: Work, order: Order) -> bool:
    """Whether an order no longer keeps the price that it was quoted."""
    ends = order.quote_expires_at
    if ends is None or not keeps_quote(order.status, ends, order.payment_request_id):
        return False
    return ends <= work.now


def renew_quotes(
    work: Work, database: Database, found: Sequence[WholeOrder]
) -> Sequence[WholeOrder]:
    """Return orders that the merchant looks at, at the prices of today if their quotes have ended.

    They are stored in a transaction of its own, each unless it has changed since it was read.
    """
    over = [one for one in found if is_quote_over(work, one.order)]
    if not over:
        return found
    renewed: dict[int, WholeOrder] = {}
    with database.writing_beside(work.db) as db:
        writing = msgspec.structs.replace(work, db=db)
        # Always in the same order: two lists of the same orders must not deadlock.
        for one in sorted(over, key=lambda one: one.order.id):
            order = get_order_to_change(db, work.merchant.id, one.order.id)
            # If it has changed since, this is what it was when it was read.
            if order.version == one.order.version:
                quoted = quote_order(writing, order, {})
                images = quoted.show(one.images)
                renewed[order.id] = one._replace(order=quoted.order, images=images)
    return [renewed.get(one.order.id, one) for one in found]


def refuse_unseen_price(work: Work, whole: WholeOrder) -> str | None:
    """Return why an order whose quote has ended cannot be submitted; None if it costs the same."""
    order = whole.order
    if not is_quote_over(work, order):
        return None
    _, values = calculate_price(work, order, _sum(whole.images))
    current = values["price"]
    # A price is a number whatever else is in the row.
    assert isinstance(current, int)  # noqa: S101
    if current == order.price:
        return None
    currency = order.currency or work.merchant.currency
    return explain_new_price(quoted=order.price, current=current, currency=currency)


def end_quotes(
    system: SystemWork, *, merchant_id: int | None = None, order_id: int | None = None, most: int
) -> list[int]:
    """End quotes of open orders now, some at a time; return which.

    They are calculated again when their merchants look. Sandbox clocks are never behind the real
    one, so that they are over in the time of every merchant.
    """
    ended = store.end_quotes(
        system.db, merchant_id=merchant_id, order_id=order_id, now=system.real_now, most=most
    )
    if ended:
        subject = f"order {order_id}" if order_id else f"{len(ended)} orders"
        system.audit("refresh-quotes", subject, merchant=merchant_id)
    return ended


def _sum(images: Images) -> list[ItemSum]:
    copies = Counter[tuple[str, int]]()
    for image in images:
        copies[image.sku, image.price] += image.copies
    return [ItemSum(sku, price, number) for (sku, price), number in copies.items()]
