"""What each shipment cost, what labs are owed for it, and what they were paid."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, Final

import msgspec
from sqlalchemy import Connection, case, func, insert, select, text, update

from printworks.catalogue.products import Currency
from printworks.conversion import reader_of
from printworks.rules.sales import CostPart, LabCost, PaidToLab, SentShipment, figures_of_cost
from printworks.store.engine.rows import columns_of, list_structs, newest_first, read_all
from printworks.store.money.ledger import lock_books
from printworks.store.money.sales import add_to_days
from printworks.store.tables import lab_costs, lab_payments, orders, shipments

read_cost_parts: Final = reader_of(tuple[CostPart, ...])
# Spelled as in the index.
_IS_UNPAID: Final = text("payment_id IS NULL")


class LabDebt(msgspec.Struct, frozen=True):
    """What a lab is owed in a currency, for shipments and corrections since the first day."""

    lab: str
    currency: Currency
    costs: int
    items_cost: int
    shipping_cost: int
    # In ISO 8601.
    since: str

    @property
    def total(self) -> int:
        return self.items_cost + self.shipping_cost


class LabPayment(msgspec.Struct, frozen=True):
    """A payment to a lab, for everything up to a day."""

    id: int
    lab: str
    currency: Currency
    until: str
    amount: int
    memo: str
    created_at: datetime


_COST: Final = columns_of(lab_costs, LabCost)
_PAYMENT: Final = columns_of(lab_payments, LabPayment)


def insert_cost(db: Connection, cost: LabCost, *, now: datetime) -> None:
    """Add what a shipment cost, or a correction; its number is new, or it is an error."""
    # Whoever adds to the sums of a merchant's days has locked its books.
    lock_books(db, cost.merchant_id)
    values: dict[str, Any] = msgspec.structs.asdict(cost)
    values |= {"parts": msgspec.to_builtins(cost.parts), "created_at": now}
    db.execute(insert(lab_costs).values(**values))
    add_to_days(db, cost.merchant_id, figures_of_cost(cost))


def list_costs(db: Connection, shipment_id: int) -> list[LabCost]:
    """Return what a shipment cost, and its corrections in their order."""
    query = select(*_COST).where(lab_costs.c.shipment_id == shipment_id)
    return [read_cost(row._mapping) for row in db.execute(query.order_by(lab_costs.c.number))]


def read_cost(values: Any) -> LabCost:
    """Convert the columns of a row to a cost."""
    return LabCost(**{**values, "parts": read_cost_parts(values["parts"])})


def list_all_costs(db: Connection, merchant_id: int) -> Iterator[LabCost]:
    """Yield what all shipments of a merchant cost."""
    query = select(*_COST, lab_costs.c.id).where(lab_costs.c.merchant_id == merchant_id)
    for row in read_all(db, query, lab_costs.c.id):
        values = dict(row._mapping)
        del values["id"]
        yield read_cost(values)


def list_sent(db: Connection, merchant_id: int) -> Iterator[SentShipment]:
    """Yield the shipments of a merchant that have left their labs."""
    planned = (shipments.c.id, shipments.c.items_cost, shipments.c.shipping_cost)
    query = (
        select(*planned)
        .join_from(shipments, orders, shipments.c.order_id == orders.c.id)
        .where(orders.c.merchant_id == merchant_id, shipments.c.shipped_at.is_not(None))
    )
    for row in read_all(db, query, shipments.c.id):
        yield SentShipment(*row)


def list_debts(db: Connection) -> list[LabDebt]:
    """Return what every lab is owed, by currency."""
    cost = lab_costs.c
    query = (
        select(
            cost.lab,
            cost.currency,
            func.count(),
            func.sum(cost.items_cost),
            func.sum(cost.shipping_cost),
            func.min(cost.day),
        )
        .where(_IS_UNPAID)
        .group_by(cost.lab, cost.currency)
        .order_by(cost.lab, cost.currency)
    )
    return [
        LabDebt(lab, Currency(currency), int(costs), int(items), int(shipping), since)
        for lab, currency, costs, items, shipping, since in db.execute(query)
    ]


def insert_payment(
    db: Connection, lab: str, currency: Currency, *, until: str, memo: str, now: datetime
) -> LabPayment | None:
    """Add a payment of all that a lab is owed up to a day; None if that is nothing.

    Costs are marked by one statement, so that two who pay at once do not pay the same.
    """
    values = {"lab": lab, "currency": currency, "until": until, "memo": memo, "created_at": now}
    added = insert(lab_payments).values(**values, amount=0).returning(lab_payments.c.id)
    payment_id = db.execute(added).scalar_one()
    cost = lab_costs.c
    due = (_IS_UNPAID, cost.lab == lab, cost.currency == currency, cost.day <= until)
    db.execute(update(lab_costs).where(*due).values(payment_id=payment_id))
    paid = select(func.coalesce(func.sum(cost.items_cost + cost.shipping_cost), 0))
    amount = int(db.execute(paid.where(cost.payment_id == payment_id)).scalar_one())
    if amount <= 0:
        return None
    wanted = update(lab_payments).where(lab_payments.c.id == payment_id).values(amount=amount)
    return LabPayment(*db.execute(wanted.returning(*_PAYMENT)).one())


def list_wrong_payments(db: Connection) -> list[PaidToLab]:
    """Return the payments to labs that are not what their costs add up to, or pay for others."""
    paid, cost = lab_payments.c, lab_costs.c
    is_strange = (cost.lab != paid.lab) | (cost.currency != paid.currency) | (cost.day > paid.until)
    costs = func.coalesce(func.sum(cost.items_cost + cost.shipping_cost), 0)
    strange = func.coalesce(func.sum(case((is_strange, 1), else_=0)), 0)
    query = (
        select(paid.id, paid.lab, paid.amount, costs, strange)
        .join_from(lab_payments, lab_costs, cost.payment_id == paid.id, isouter=True)
        .group_by(paid.id, paid.lab, paid.amount)
        .having((costs != paid.amount) | (strange > 0))
        .order_by(paid.id)
    )
    return [
        PaidToLab(number, lab, amount, int(total), int(others))
        for number, lab, amount, total, others in db.execute(query)
    ]


def list_lab_payments(db: Connection, *, before: int | None = None, limit: int) -> list[LabPayment]:
    """Return what labs were paid, newest first."""
    page = newest_first(select(*_PAYMENT), lab_payments.c.id, before=before, limit=limit)
    return list_structs(db, LabPayment, page)
