"""Rows as the service would have left them, for tests of what is only read."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, insert, update

from printworks.catalogue.products import Currency
from printworks.catalogue.services import Carrier
from printworks.rules.events import CallbackState
from printworks.rules.issues import IssueAction, IssueKind, IssueState
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import OrderStatus, Payment, ShippingMethod
from printworks.rules.payments import Payer, PaymentState
from printworks.rules.production import LabState
from printworks.rules.search import make_recipient_key, make_town_key
from printworks.store.accounts.merchants import Merchant
from printworks.store.money.ledger import NewLedgerEntry, post_entry
from printworks.store.tables import (
    callback_attempts,
    callbacks,
    issues,
    merchants,
    orders,
    payment_requests,
    shipments,
)
from tests.factories import NOON, an_order

EARLIER = NOON - timedelta(days=3)


def add_orders(db: Connection, merchant: Merchant, rows: Sequence[dict[str, Any]]) -> None:
    """Add a merchant's first orders, the oldest first."""
    usual = {
        "merchant_id": merchant.id,
        "status": OrderStatus.NOT_YET_SUBMITTED,
        "merchant_order_id": None,
        "recipient_name": "Mary Fox",
        "shipping_method": ShippingMethod.STANDARD,
        "payment": Payment.INVOICE_ME,
        "invoice_amount_net": 0,
        "invoice_tax": 0,
        "reasons": None,
        "held_at": None,
        "created_at": NOON,
        "updated_at": NOON,
    }
    made = [{**usual, "ordinal": place, **row} for place, row in enumerate(rows, start=1)]
    for row in made:
        row["recipient_key"] = make_recipient_key(row["recipient_name"])
        row["town_key"] = make_town_key(row.get("town_or_city"))
    db.execute(insert(orders), made)
    db.execute(update(merchants).where(merchants.c.id == merchant.id).values(order_count=len(rows)))


def add_order(db: Connection, merchant: Merchant, **values: Any) -> int:
    """Add one more order, and return its id."""
    order_id = an_order(db, merchant).id
    if values:
        db.execute(update(orders).where(orders.c.id == order_id).values(**values))
    return order_id


def add_shipment(db: Connection, merchant: Merchant, **values: Any) -> int:
    """Add a shipment, of an order of its own unless one is given, and return its id."""
    order_id = values.pop("order_id", None) or add_order(db, merchant, status=OrderStatus.SUBMITTED)
    usual: dict[str, Any] = {
        "order_id": order_id,
        "state": LabState.OFFERED,
        "lab": "london",
        "band": "prints",
        "service": "post",
        "carrier": Carrier.ROYAL_MAIL,
        "is_tracked": False,
        "items_cost": 400,
        "shipping_cost": 350,
        "image_ids": [],
        "copies": 1,
        "earliest_arrival": "2026-11-23",
        "latest_arrival": "2026-11-25",
        "lab_token": "k3v7x2mq7c",
        "created_at": EARLIER,
        "updated_at": EARLIER,
    }
    added = insert(shipments).values(**{**usual, **values}).returning(shipments.c.id)
    return int(db.execute(added).scalar_one())


def add_charge(
    db: Connection,
    merchant: Merchant,
    amount: int,
    *,
    at: datetime,
    order_id: int | None = None,
    kind: EntryKind = EntryKind.CHARGE,
    currency: str = "GBP",
) -> None:
    """Write down that money moved because of an order, of its own unless one is given."""
    order_id = order_id or add_order(db, merchant)
    key = f"{kind}-{order_id}-{at}"
    posted = {"kind": kind, "amount": amount, "currency": currency, "order_id": order_id}
    assert post_entry(db, merchant.id, NewLedgerEntry(key=key, **posted), now=at)  # type: ignore[arg-type]


def add_callback(db: Connection, merchant: Merchant, state: CallbackState, **values: Any) -> int:
    """Add a callback, and return its id."""
    place = db.execute(
        update(merchants)
        .where(merchants.c.id == merchant.id)
        .values(event_count=merchants.c.event_count + 1)
        .returning(merchants.c.event_count)
    )
    usual = {
        "merchant_id": merchant.id,
        "number": place.scalar_one(),
        "state": state,
        "created_at": NOON,
    }
    added = insert(callbacks).values(**{**usual, **values}).returning(callbacks.c.id)
    return int(db.execute(added).scalar_one())


def add_attempt(
    db: Connection, callback_id: int, number: int, *, at: datetime, status: int | None
) -> None:
    """Write down how a try of a callback went."""
    values = {"url": "https://shop.example/", "milliseconds": 12, "answer": ""}
    db.execute(
        insert(callback_attempts).values(
            callback_id=callback_id, number=number, at=at, status=status, **values
        )
    )


def add_payment(db: Connection, merchant: Merchant, **values: Any) -> int:
    """Add a payment for an order of its own, and return its id."""
    order_id = add_order(db, merchant)
    usual = {
        "merchant_id": merchant.id,
        "order_id": order_id,
        "key": f"key-{order_id}",
        "payer": Payer.MERCHANT,
        "provider": "simulated",
        "state": PaymentState.ASKED,
        "amount": 1250,
        "currency": Currency.GBP,
        "customer": "",
        "payment_method": "",
        "expires_at": NOON,
        "created_at": EARLIER,
        "updated_at": EARLIER,
    }
    added = insert(payment_requests).values(**{**usual, **values})
    return int(db.execute(added.returning(payment_requests.c.id)).scalar_one())


def add_issue(db: Connection, merchant: Merchant, **values: Any) -> int:
    """Add an issue of an order of its own, and return its id."""
    usual = {
        "merchant_id": merchant.id,
        "order_id": add_order(db, merchant),
        "kind": next(iter(IssueKind)),
        "action": next(iter(IssueAction)),
        "image_ids": [],
        "state": IssueState.OPEN,
        "created_at": NOON,
        "updated_at": NOON,
    }
    added = insert(issues).values(**{**usual, **values}).returning(issues.c.id)
    return int(db.execute(added).scalar_one())
