"""What became of money, in words: nobody has to know what a minus sign means to whom."""

from collections.abc import Mapping
from typing import Final

from printworks.dashboard.shared.money import format_money
from printworks.rules.ledger import EntryKind

# With an order, and without one.
_ENTRIES: Final[Mapping[EntryKind, tuple[str, str]]] = {
    EntryKind.CHARGE: ("Charged for order {}", "Charged"),
    EntryKind.REFUND: ("Refunded for order {}", "Refunded"),
    EntryKind.CREDIT: ("Credited for order {}", "Credited"),
    EntryKind.PAYMENT: ("Payment received for order {}", "Payment received"),
    EntryKind.REPAYMENT: ("Payment for order {} returned", "Payment returned"),
    EntryKind.DEBIT: ("Debited for order {}", "Debited"),
    EntryKind.PAYOUT: ("Paid out for order {}", "Paid out"),
    EntryKind.CREDIT_REVERSAL: ("Credit for order {} reversed", "Credit reversed"),
    EntryKind.PAYMENT_REVERSAL: ("Payment for order {} reversed", "Payment reversed"),
    EntryKind.DEBIT_REVERSAL: ("Debit for order {} reversed", "Debit reversed"),
    EntryKind.PAYOUT_REVERSAL: ("Pay-out for order {} reversed", "Pay-out reversed"),
    EntryKind.REPAYMENT_REVERSAL: (
        "Payment for order {} came back: the bank rejected it",
        "Payment came back: the bank rejected it",
    ),
}


def describe_entry(kind: EntryKind, amount: int, order_id: int | None = None) -> str:
    """Say why money moved; which way is said by the words, so amounts need no sign."""
    if kind is EntryKind.CHARGE and amount == 0:
        return f"Order {order_id}, free of charge" if order_id else "Free of charge"
    of_order, alone = _ENTRIES[kind]
    return of_order.format(order_id) if order_id else alone


def describe_balance(owed: int, currency: str) -> str:
    """Say to a merchant who owes whom."""
    if owed > 0:
        return f"You owe {format_money(owed, currency)}"
    return f"{format_money(-owed, currency)} in your favour" if owed else "You owe nothing"


def describe_their_balance(owed: int, currency: str) -> str:
    """Say to an operator who owes whom."""
    if owed > 0:
        return f"Owes {format_money(owed, currency)}"
    return f"{format_money(-owed, currency)} in their favour" if owed else "Owes nothing"
