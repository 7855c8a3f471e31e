"""Payments that somebody is asked for. Whoever changes one holds the row of its order."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Final

import msgspec
from sqlalchemy import Connection, insert, select, update

from printworks.catalogue.products import Currency
from printworks.errors import NotFound
from printworks.rules.ledger import PaymentMoney
from printworks.rules.payments import Payer, PaymentState
from printworks.store.tables import merchants, payment_requests

# Rows that are read at once, however many there are.
PAGE: Final = 1000


class PaymentRequest(msgspec.Struct, frozen=True, kw_only=True):
    """Money that somebody is asked for."""

    id: int
    merchant_id: int
    order_id: int
    key: str
    payer: Payer
    provider: str
    state: PaymentState
    amount: int
    currency: Currency
    customer: str
    payment_method: str
    reference: str
    url: str | None
    reason: str | None
    expires_at: datetime
    created_at: datetime
    updated_at: datetime


class SavedCard(msgspec.Struct, frozen=True):
    """Who a merchant is to the payment provider, and with which card it pays."""

    customer: str
    payment_method: str


_COLUMNS: Final = [payment_requests.c[name] for name in PaymentRequest.__struct_fields__]


def insert_request(
    db: Connection,
    *,
    merchant_id: int,
    order_id: int,
    key: str,
    payer: Payer,
    provider: str,
    amount: int,
    currency: Currency,
    card: SavedCard,
    expires_at: datetime,
    now: datetime,
) -> PaymentRequest:
    """Write down that somebody will be asked for money."""
    values = {
        "merchant_id": merchant_id,
        "order_id": order_id,
        "key": key,
        "payer": payer,
        "provider": provider,
        "state": PaymentState.ASKED,
        "amount": amount,
        "currency": currency,
        "customer": card.customer,
        "payment_method": card.payment_method,
        "expires_at": expires_at,
        "created_at": now,
        "updated_at": now,
    }
    statement = insert(payment_requests).values(**values).returning(*_COLUMNS)
    return PaymentRequest(**db.execute(statement).one()._mapping)


def get_request(db: Connection, request_id: int) -> PaymentRequest:
    """Return a payment by its number."""
    query = select(*_COLUMNS).where(payment_requests.c.id == request_id)
    row = db.execute(query).one_or_none()
    if row is None:
        raise NotFound(f"There is no payment {request_id}.")
    return PaymentRequest(**row._mapping)


def find_request_by_key(db: Connection, key: str) -> PaymentRequest | None:
    """Return a payment by the key that its provider and its payer know."""
    # Some text, a zero byte for one, is an error to PostgreSQL and not merely unknown.
    if not key.isascii() or not key.isprintable():
        return None
    row = db.execute(select(*_COLUMNS).where(payment_requests.c.key == key)).one_or_none()
    return None if row is None else PaymentRequest(**row._mapping)


def find_paid_request(db: Connection, order_id: int) -> PaymentRequest | None:
    """Return the payment with which an order was paid, of which there is one at most."""
    query = select(*_COLUMNS).where(
        payment_requests.c.order_id == order_id, payment_requests.c.state == PaymentState.PAID
    )
    row = db.execute(query).one_or_none()
    return None if row is None else PaymentRequest(**row._mapping)


def find_last_request(db: Connection, order_id: int) -> PaymentRequest | None:
    """Return the newest payment that was asked for an order."""
    return next(iter(list_requests_of_order(db, order_id, limit=1)), None)


def list_requests_of_order(db: Connection, order_id: int, *, limit: int) -> list[PaymentRequest]:
    """Return the payments that were asked for an order, newest first."""
    query = (
        select(*_COLUMNS)
        .where(payment_requests.c.order_id == order_id)
        .order_by(payment_requests.c.id.desc())
        .limit(limit)
    )
    return [PaymentRequest(**row._mapping) for row in db.execute(query)]


def update_request(
    db: Connection, request: PaymentRequest, values: Mapping[str, object]
) -> PaymentRequest:
    """Change a payment; whoever does holds its order, so that nobody else has changed it."""
    db.execute(update(payment_requests).where(payment_requests.c.id == request.id).values(**values))
    return msgspec.structs.replace(request, **values)


def get_card(db: Connection, merchant_id: int) -> SavedCard:
    """Return the card of a merchant; its words are empty while it has none."""
    query = select(merchants.c.customer, merchants.c.payment_method)
    return SavedCard(*db.execute(query.where(merchants.c.id == merchant_id)).one())


def save_card(db: Connection, merchant_id: int, card: SavedCard) -> None:
    """Remember with which card a merchant pays from now on."""
    db.execute(
        update(merchants)
        .where(merchants.c.id == merchant_id)
        .values(customer=card.customer, payment_method=card.payment_method)
    )


def list_payment_money(db: Connection, merchant_id: int) -> Iterator[PaymentMoney]:
    """Return what the ledger must say of each of a merchant's payments, a page at a time."""
    names = PaymentMoney.__struct_fields__
    last = 0
    while True:
        rows = db.execute(
            select(payment_requests.c.id, *(payment_requests.c[name] for name in names))
            .where(payment_requests.c.merchant_id == merchant_id, payment_requests.c.id > last)
            .order_by(payment_requests.c.id)
            .limit(PAGE)
        ).all()
        for number, *money in rows:
            last = number
            yield PaymentMoney(*money)
        if len(rows) < PAGE:
            return
