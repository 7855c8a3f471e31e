"""The money of an order: what its recipient pays, what it costs the merchant, what is left."""

from collections.abc import Iterable, Sequence

import msgspec

from printworks.actions.payments.totals import total_for_recipient
from printworks.rules.ledger import EntryKind, LedgerEntry
from printworks.rules.orders import OrderStatus, Payment
from printworks.rules.payments import Payer, PaymentState
from printworks.store.images.images import Image
from printworks.store.money.payments import PaymentRequest
from printworks.store.orders.orders import Order


class MoneyRow(msgspec.Struct, frozen=True):
    """An amount, and what it is."""

    label: str
    amount: int


class OrderMoney(msgspec.Struct, frozen=True, kw_only=True):
    """What an order brings in and costs, each under its own name."""

    currency: str
    # None unless the recipient pays.
    recipient: MoneyRow | None
    parts: tuple[MoneyRow, ...]
    cost: MoneyRow
    # What the merchant got back for it; None if nothing.
    returned: MoneyRow | None
    # None unless the recipient pays.
    left: MoneyRow | None


def describe_money(
    order: Order,
    images: Sequence[Image],
    paid: PaymentRequest | None,
    entries: Iterable[LedgerEntry],
) -> OrderMoney | None:
    """Return the money of an order; None if it has no price, or is cancelled."""
    if order.currency is None or order.status is OrderStatus.CANCELLED:
        return None
    is_charged = order.status in {OrderStatus.SUBMITTED, OrderStatus.COMPLETE}
    recipient = _find_recipients_part(order, images, paid)
    credited = sum(one.amount for one in entries if one.kind is EntryKind.CREDIT)
    left = None
    if recipient is not None:
        rest = recipient.amount - order.total + credited
        left = MoneyRow("Left for you" if rest >= 0 else "You pay the rest", abs(rest))
    return OrderMoney(
        currency=order.currency,
        recipient=recipient,
        parts=(
            MoneyRow("Prints", order.price - order.shipping_price),
            MoneyRow("Shipping", order.shipping_price),
            *_list_tax(order),
        ),
        cost=MoneyRow("It cost you" if is_charged else "It costs you", order.total),
        returned=MoneyRow("Credited to you", credited) if credited else None,
        left=left,
    )


def _list_tax(order: Order) -> list[MoneyRow]:
    if not order.tax:
        return []
    return [MoneyRow("Tax included" if order.tax_included else "Tax", order.tax)]


def _find_recipients_part(
    order: Order, images: Sequence[Image], paid: PaymentRequest | None
) -> MoneyRow | None:
    if order.payment is not Payment.INVOICE_RECIPIENT:
        return None
    if paid is None or paid.payer is not Payer.RECIPIENT or paid.state is not PaymentState.PAID:
        return MoneyRow("The recipient pays", total_for_recipient(order, images).total)
    return MoneyRow("The recipient paid", paid.amount)
