"""The statuses of an order, the moves between them, and what each permits."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from printworks.errors import WrongState

ORDER_CHANGED: Final = "The order has just changed. Read it again before you retry."


class OrderStatus(StrEnum):
    """How far an order has come."""

    NOT_YET_SUBMITTED = "NotYetSubmitted"
    AWAITING_PAYMENT = "AwaitingPayment"
    SUBMITTED = "Submitted"
    COMPLETE = "Complete"
    CANCELLED = "Cancelled"


class Payment(StrEnum):
    """Who pays for the order."""

    INVOICE_ME = "InvoiceMe"
    INVOICE_RECIPIENT = "InvoiceRecipient"


class ShippingMethod(StrEnum):
    """How fast the order should travel."""

    BUDGET = "Budget"
    STANDARD = "Standard"
    EXPRESS = "Express"
    OVERNIGHT = "Overnight"


_S = OrderStatus

MOVES: Final[Mapping[OrderStatus, frozenset[OrderStatus]]] = {
    _S.NOT_YET_SUBMITTED: frozenset({_S.SUBMITTED, _S.AWAITING_PAYMENT, _S.CANCELLED}),
    _S.AWAITING_PAYMENT: frozenset({_S.SUBMITTED, _S.NOT_YET_SUBMITTED, _S.CANCELLED}),
    _S.SUBMITTED: frozenset({_S.COMPLETE, _S.CANCELLED}),
    _S.COMPLETE: frozenset(),
    _S.CANCELLED: frozenset(),
}
# In these, labs have not been asked yet: its shipments are only planned.
PLANNED: Final = frozenset({_S.NOT_YET_SUBMITTED, _S.AWAITING_PAYMENT})
# The final statuses.
ENDED: Final = frozenset(status for status, onward in MOVES.items() if not onward)


class Permissions(NamedTuple):
    """What the merchant may still do with an order."""

    cancel: bool
    hold: bool
    update_shipping: bool
    remove_images: bool


_NOTHING: Final = Permissions(cancel=False, hold=False, update_shipping=False, remove_images=False)

PERMISSIONS: Final[Mapping[OrderStatus, Permissions]] = {
    _S.NOT_YET_SUBMITTED: Permissions(
        cancel=True, hold=True, update_shipping=True, remove_images=True
    ),
    _S.AWAITING_PAYMENT: Permissions(
        cancel=True, hold=False, update_shipping=False, remove_images=False
    ),
    _S.SUBMITTED: Permissions(cancel=True, hold=False, update_shipping=True, remove_images=False),
    _S.COMPLETE: _NOTHING,
    _S.CANCELLED: _NOTHING,
}


def check_move(now_at: OrderStatus, wanted: OrderStatus) -> None:
    """Refuse a move that the table does not have."""
    if wanted not in MOVES[now_at]:
        raise WrongState(f"An order that is {now_at} cannot become {wanted}.")


def check_not_being_paid(payment_request_id: int | None) -> None:
    """Refuse changes to an order that is being paid for."""
    if payment_request_id is not None:
        raise WrongState(
            "The order is being paid for; wait until the payment is complete, or cancel the order."
        )


def check_change(now_at: OrderStatus) -> None:
    """Refuse changes to an order that has been submitted, paid for or ended."""
    if now_at is not _S.NOT_YET_SUBMITTED:
        message = f"An order that is {now_at} cannot be changed; only NotYetSubmitted ones can."
        raise WrongState(message)
