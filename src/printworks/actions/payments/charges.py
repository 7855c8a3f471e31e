"""Charges, refunds and payments of orders, as events and ledger entries."""

from collections.abc import Mapping
from typing import Final

from sqlalchemy import Connection

from printworks.actions.invoices.causes import note_charge, note_credit
from printworks.actions.payments.sales import divide_charge, mirror_charge, record_sale
from printworks.actions.work import Work
from printworks.rules.events import OrderCharged, OrderRefunded
from printworks.rules.ledger import EntryKind, LedgerEntry, entry_key
from printworks.rules.payments import name_refund
from printworks.store.images.images import Images
from printworks.store.money.ledger import NewLedgerEntry, post_entry
from printworks.store.money.payments import PaymentRequest, find_last_request
from printworks.store.orders.events import count_charges, list_events
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipments

ON_ACCOUNT = "account"
FROM_BALANCE = "balance"
# How something is paid, for people who read the ledger.
_PROVIDERS: Final[Mapping[str, str]] = {
    ON_ACCOUNT: "on account",
    FROM_BALANCE: "from the balance",
    "simulated": "by the simulated bank",
    "stripe": "by card through Stripe",
}


def charge_order(
    work: Work, order: Order, images: Images, shipments: Shipments, *, provider: str = ON_ACCOUNT
) -> None:
    """Charge the merchant what was quoted; `provider` says how that is paid.

    Reports show it by the labs that have the shipments.
    """
    # A refunded order may be charged again, which is another charge.
    number = count_charges(work.db, order.id) + 1
    event = OrderCharged(
        amount=order.total,
        tax=order.tax or 0,
        currency=order.currency or work.merchant.currency,
        provider=provider,
        reference=f"order-{order.id}-{number}",
    )
    work.record(order.id, event)
    entry = _post_event(work, order, EntryKind.CHARGE, event)
    parts = divide_charge(work, order, images, shipments, is_new=number == 1)
    record_sale(work, order, entry, parts)
    note_charge(work, order, entry, paid=_find_paid(work.db, order, provider))


def _find_paid(db: Connection, order: Order, provider: str) -> int:
    """Return what was paid for an order when it is charged, by card and from the balance."""
    if provider == FROM_BALANCE:
        return order.total
    payment = None if provider == ON_ACCOUNT else find_last_request(db, order.id)
    return 0 if payment is None else payment.amount + payment.from_balance


def refund_charge(work: Work, order: Order) -> None:
    """Refund the last charge of an order to the merchant's balance."""
    for last in _list_charges(work.db, order)[-1:]:
        refunded = OrderRefunded(
            amount=last.amount,
            tax=last.tax,
            currency=last.currency,
            provider=last.provider,
            reference=last.reference,
        )
        work.record(order.id, refunded)
        entry = _post_event(work, order, EntryKind.REFUND, refunded)
        charge = entry_key(EntryKind.CHARGE, last.reference)
        record_sale(work, order, entry, mirror_charge(work, charge))
        note_credit(work, order, entry)


def _list_charges(db: Connection, order: Order) -> list[OrderCharged]:
    return [event for event in list_events(db, order.id) if isinstance(event, OrderCharged)]


def _post_event(
    work: Work, order: Order, kind: EntryKind, event: OrderCharged | OrderRefunded
) -> LedgerEntry:
    entry = NewLedgerEntry(
        key=entry_key(kind, event.reference),
        kind=kind,
        amount=event.amount,
        tax=event.tax,
        currency=event.currency,
        order_id=order.id,
        memo=_PROVIDERS.get(event.provider, event.provider),
    )
    posted = post_entry(work.db, work.merchant.id, entry, now=work.now)
    # An order is charged under a new number each time, and each charge is refunded once.
    assert posted is not None  # noqa: S101
    return posted


def record_payment(
    work: Work, payment: PaymentRequest, kind: EntryKind, *, memo: str | None = None
) -> None:
    """Record in the ledger that an order was paid, or that its payment was repaid, or was not.

    `memo` says how, unless its provider did it.
    """
    is_paid = kind is EntryKind.PAYMENT
    name = payment.key if is_paid else name_refund(payment.key, payment.rejected_refunds)
    usual = f"By the {payment.payer}, {_PROVIDERS.get(payment.provider, payment.provider)}"
    entry = NewLedgerEntry(
        key=entry_key(kind, name),
        kind=kind,
        amount=payment.amount,
        currency=payment.currency,
        order_id=payment.order_id,
        memo=usual if memo is None else memo,
    )
    post_entry(work.db, payment.merchant_id, entry, now=work.now)
