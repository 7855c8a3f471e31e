"""Quotes that have ended: calculated again when the merchant looks, and never charged unseen."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from printworks.actions.orders.quotes import calculate_price, quote_order
from printworks.actions.taxes import TaxedTotal, tax_again, total_again
from printworks.actions.work import SystemWork, Work
from printworks.rules.quotes import explain_new_price, keeps_quote
from printworks.store.engine.database import Database
from printworks.store.images.images import Images, ItemSum
from printworks.store.money.sellers import find_tax_parties
from printworks.store.orders import quotes as store
from printworks.store.orders.orders import Order, get_order_to_change
from printworks.store.orders.shipments import WholeOrder

# Renewed in one transaction, so that no other writer waits for long.
_STORED_TOGETHER: Final = 50


def _keeps_quote(order: Order) -> bool:
    return keeps_quote(order.status, order.quote_expires_at, order.payment_request_id)


def is_quote_over(work: Work, order: Order) -> bool:
    """Whether an order no longer keeps the price that it was quoted."""
    ends = order.quote_expires_at
    return ends is not None and _keeps_quote(order) and ends <= work.now


def renew_quotes(
    work: Work, database: Database, found: Sequence[WholeOrder]
) -> Sequence[WholeOrder]:
    """Return orders that the merchant looks at, at the prices of today if their quotes have ended.

    One that keeps its price is taxed again if it would be charged another total or another tax. They
    are stored in transactions of their own, each unless it has changed since it was read.
    """
    # Always in the same order: two lists of the same orders must not deadlock.
    stale = sorted(_find_stale(work, found), key=lambda one: one.order.id)
    renewed: dict[int, WholeOrder] = {}
    for first in range(0, len(stale), _STORED_TOGETHER):
        with database.writing_beside(work.db) as db:
            writing = msgspec.structs.replace(work, db=db)
            for one in stale[first : first + _STORED_TOGETHER]:
                renewed[one.order.id] = _renew(writing, one)
    return [renewed.get(one.order.id, one) for one in found]


def _find_stale(work: Work, found: Sequence[WholeOrder]) -> list[WholeOrder]:
    """Return the orders that would not be charged what they say."""
    kept = [one for one in found if _keeps_quote(one.order)]
    if not kept:
        return []
    parties = find_tax_parties(work.db, work.merchant.id)
    return [
        one
        for one in kept
        if is_quote_over(work, one.order)
        or total_again(work, one.order, parties, _list_items(one.images)) != _say_total(one.order)
    ]


def _say_total(order: Order) -> TaxedTotal:
    return TaxedTotal(order.total, order.tax)


def _renew(work: Work, one: WholeOrder) -> WholeOrder:
    order = get_order_to_change(work.db, work.merchant.id, one.order.id)
    if order.version != one.order.version:
        # It has changed since: this is what it was when it was read.
        return one
    if not is_quote_over(work, order):
        return one._replace(order=tax_again(work, order))
    quoted = quote_order(work, order, {})
    return one._replace(order=quoted.order, images=quoted.show(one.images))


def refuse_unseen_price(work: Work, whole: WholeOrder) -> str | None:
    """Return why an open order cannot be submitted; None if it costs what was shown, with tax."""
    order = whole.order
    if not _keeps_quote(order):
        return None
    if is_quote_over(work, order):
        _, values = calculate_price(work, order, _sum(whole.images))
        current = msgspec.structs.replace(
            order, **{name: values[name] for name in ("price", "tax", "tax_included")}
        ).total
    else:
        parties = find_tax_parties(work.db, work.merchant.id)
        current = total_again(work, order, parties, _list_items(whole.images)).total
    if current == order.total:
        return None
    currency = order.currency or work.merchant.currency
    return explain_new_price(quoted=order.total, current=current, currency=currency)


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


def _list_items(images: Images) -> Iterator[ItemSum]:
    """Yield what is sold image by image, once somebody asks: where nobody collects tax, nobody does."""
    return (ItemSum(image.sku, image.price, image.copies) for image in images)


def _sum(images: Images) -> list[ItemSum]:
    copies = Counter[tuple[str, int]]()
    for image in images:
        copies[image.sku, image.price] += image.copies
    return [ItemSum(sku, price, number) for (sku, price), number in copies.items()]
