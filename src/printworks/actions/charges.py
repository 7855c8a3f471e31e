"""Taking the money for an order, and giving it back."""

from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from printworks.payments.account import AccountProvider
from printworks.payments.provider import Charge, Paid
from printworks.rules.events import OrderCharged, OrderRefunded
from printworks.rules.ledger import EntryKind
from printworks.store.events import list_events, record_event
from printworks.store.ledger import post_entry
from printworks.store.merchants import Merchant
from printworks.store.orders import Order

# It only writes down, so it may be asked in a transaction; one that asks somebody else may not.
PROVIDER: Final = AccountProvider()


def charge_order(db: Connection, merchant: Merchant, order: Order, *, now: datetime) -> None:
    """Charge the merchant what was quoted."""
    # An order that was given back may be charged again, and that is another charge.
    earlier = [event for event in list_events(db, order.id) if isinstance(event, OrderCharged)]
    charge = _charge(merchant, order, number=len(earlier) + 1)
    paid = PROVIDER.charge(charge)
    event = OrderCharged(
        amount=charge.amount,
        currency=charge.currency,
        provider=paid.provider,
        reference=paid.reference,
    )
    record_event(db, order.id, event, now=now)
    _post(db, merchant, order, EntryKind.CHARGE, event, now=now)


def refund_order(db: Connection, merchant: Merchant, order: Order, *, now: datetime) -> None:
    """Give back what was last charged for an order."""
    charged = [event for event in list_events(db, order.id) if isinstance(event, OrderCharged)]
    for last in charged[-1:]:
        paid = Paid(provider=last.provider, reference=last.reference)
        PROVIDER.refund(_charge(merchant, order, number=len(charged)), paid)
        refunded = OrderRefunded(
            amount=last.amount,
            currency=last.currency,
            provider=last.provider,
            reference=last.reference,
        )
        record_event(db, order.id, refunded, now=now)
        _post(db, merchant, order, EntryKind.REFUND, refunded, now=now)


def _post(
    db: Connection,
    merchant: Merchant,
    order: Order,
    kind: EntryKind,
    event: OrderCharged | OrderRefunded,
    *,
    now: datetime,
) -> None:
    post_entry(
        db,
        merchant.id,
        key=f"{kind}-{event.reference}",
        kind=kind,
        amount=event.amount,
        currency=event.currency,
        order_id=order.id,
        memo=f"by {event.provider}",
        now=now,
    )


def _charge(merchant: Merchant, order: Order, *, number: int) -> Charge:
    return Charge(
        key=f"order-{order.id}-{number}",
        merchant=merchant.code,
        order=order.id,
        amount=order.price,
        currency=order.currency or merchant.currency,
    )
