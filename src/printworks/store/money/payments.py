"""Payments. A transaction that changes one has locked its order."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, case, func, insert, select, text, update

from printworks.catalogue.products import Currency
from printworks.rules.ledger_audit import PaymentMoney
from printworks.rules.payments import Payer, PaymentState
from printworks.store.engine.rows import (
    columns_of,
    find_struct,
    get_struct,
    list_structs,
    possible_id,
    read_all,
)
from printworks.store.tables import merchants, payment_requests


class PaymentRequest(msgspec.Struct, frozen=True):
    """A payment that a provider is asked for."""

    id: int
    merchant_id: int
    order_id: int
    key: str
    payer: Payer
    provider: str
    state: PaymentState
    amount: int
    # What the merchant's balance pays beside it.
    from_balance: int
    currency: Currency
    customer: str
    payment_method: str
    reference: str
    url: str | None
    reason: str | None
    # How many refunds of it a bank has rejected.
    rejected_refunds: int
    expires_at: datetime
    created_at: datetime
    updated_at: datetime


class SavedCard(msgspec.Struct, frozen=True):
    """A merchant's customer id and payment method at the payment provider."""

    customer: str
    payment_method: str


class NewPayment(msgspec.Struct, frozen=True, kw_only=True):
    """A payment that a provider is about to be asked for."""

    merchant_id: int
    order_id: int
    key: str
    payer: Payer
    provider: str
    amount: int
    currency: Currency
    card: SavedCard
    from_balance: int = 0
    expires_at: datetime


_COLUMNS: Final = columns_of(payment_requests, PaymentRequest)
_GOING_BACK: Final = (PaymentState.REFUNDING, PaymentState.REFUND_REJECTED)


def insert_request(db: Connection, new: NewPayment, *, now: datetime) -> PaymentRequest:
    """Add a payment, before its provider is asked for it."""
    values: dict[str, Any] = msgspec.structs.asdict(new)
    values |= msgspec.structs.asdict(values.pop("card"))
    values |= {"state": PaymentState.ASKED, "created_at": now, "updated_at": now}
    statement = insert(payment_requests).values(**values).returning(*_COLUMNS)
    return PaymentRequest(*db.execute(statement).one())


def get_request(db: Connection, payment_id: int) -> PaymentRequest:
    query = select(*_COLUMNS).where(payment_requests.c.id == possible_id(payment_id))
    return get_struct(db, PaymentRequest, query, missing=f"There is no payment {payment_id}.")


def find_request_by_key(db: Connection, key: str) -> PaymentRequest | None:
    """Return a payment by the key that its provider and its payer know."""
    # PostgreSQL raises an error for some text, such as a zero byte.
    if not key.isascii() or not key.isprintable():
        return None
    query = select(*_COLUMNS).where(payment_requests.c.key == key)
    return find_struct(db, PaymentRequest, query)


def find_paid_request(db: Connection, order_id: int) -> PaymentRequest | None:
    query = select(*_COLUMNS).where(
        payment_requests.c.order_id == order_id, payment_requests.c.state == PaymentState.PAID
    )
    return find_struct(db, PaymentRequest, query)


def find_last_request(db: Connection, order_id: int) -> PaymentRequest | None:
    """Return the newest payment of an order."""
    return next(iter(list_requests_of_order(db, order_id, limit=1)), None)


def list_requests_of_order(db: Connection, order_id: int, *, limit: int) -> list[PaymentRequest]:
    """Return the payments of an order, newest first."""
    query = (
        select(*_COLUMNS)
        .where(payment_requests.c.order_id == order_id)
        .order_by(payment_requests.c.id.desc())
        .limit(limit)
    )
    return list_structs(db, PaymentRequest, query)


def update_request(
    db: Connection, payment: PaymentRequest, values: Mapping[str, object]
) -> PaymentRequest:
    """Change a payment; the caller has locked its order, so that it is as it was read."""
    db.execute(update(payment_requests).where(payment_requests.c.id == payment.id).values(**values))
    return msgspec.structs.replace(payment, **values)


def get_card(db: Connection, merchant_id: int) -> SavedCard:
    """Return the card of a merchant; its fields are empty if it has none."""
    query = select(merchants.c.customer, merchants.c.payment_method)
    return SavedCard(*db.execute(query.where(merchants.c.id == merchant_id)).one())


def save_card(db: Connection, merchant_id: int, card: SavedCard) -> None:
    """Store the card with which a merchant pays from now on."""
    db.execute(
        update(merchants)
        .where(merchants.c.id == merchant_id)
        .values(customer=card.customer, payment_method=card.payment_method)
    )


def sum_claimed(db: Connection, merchant_id: int) -> int:
    """Return how much of a merchant's balance goes back to payers, or is reserved for orders."""
    claims = case(
        (payment_requests.c.state.in_(_GOING_BACK), payment_requests.c.amount),
        else_=payment_requests.c.from_balance,
    )
    query = select(func.coalesce(func.sum(claims), 0)).where(
        payment_requests.c.merchant_id == merchant_id,
        # Spelled as in the index.
        text("payment_requests.state IN ('asked', 'waiting', 'refunding', 'refund-rejected')"),
    )
    return int(db.execute(query).scalar_one())


def list_payment_money(db: Connection, merchant_id: int) -> Iterator[PaymentMoney]:
    """Yield the amounts of a merchant's payments, which the ledger must agree with."""
    query = select(*columns_of(payment_requests, PaymentMoney), payment_requests.c.id)
    query = query.where(payment_requests.c.merchant_id == merchant_id)
    for row in read_all(db, query, payment_requests.c.id):
        yield PaymentMoney(*row[:-1])
