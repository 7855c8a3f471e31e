"""What the merchant may do with an order now, and why not the rest."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from printworks.actions.production.production import permissions_of
from printworks.actions.production.routing import rules_of
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.order_routing import name_lab
from printworks.rules.orders import ENDED, OrderStatus, Payment, Permissions
from printworks.rules.production import DROPPED, LabState
from printworks.store.labs.shipments import Shipments
from printworks.store.orders.orders import Order


class Doing(StrEnum):
    """What can be asked for; the text is the name of the deed, or of the page for it."""

    SUBMIT = "submit-order"
    AWAIT_PAYMENT = "await-payment"
    CHANGE_SHIPPING = "change-shipping"
    HOLD = "hold-order"
    RELEASE = "release-order"
    CANCEL = "cancel-order"


class Action(msgspec.Struct, frozen=True):
    """Something that may be done, or the reason why not."""

    doing: Doing
    text: str
    # Empty if it may be done.
    why_not: str = ""


_TEXTS: Final[Mapping[Doing, str]] = {
    Doing.SUBMIT: "Submit the order",
    Doing.AWAIT_PAYMENT: "Let the recipient pay",
    Doing.CHANGE_SHIPPING: "Change address or shipping",
    Doing.HOLD: "Hold",
    Doing.RELEASE: "Let it go on",
    Doing.CANCEL: "Cancel",
}
# Which permission each needs, in the words of `Permissions` and of a lab's rules.
_NEEDS: Final[Mapping[Doing, str]] = {
    Doing.CHANGE_SHIPPING: "update_shipping",
    Doing.HOLD: "hold",
    Doing.CANCEL: "cancel",
}
_BEING_PAID: Final = "The order is being paid for at this moment."
_WAITS: Final = "The order waits for its payment."


def is_ended(order: Order) -> bool:
    """Say whether nothing more will happen to an order."""
    return order.status in ENDED


def list_actions(
    order: Order, shipments: Shipments, catalogue: Catalogue, *, is_valid: bool
) -> list[Action]:
    """Return what may be done with an order and what may not; nothing once it has ended."""
    if is_ended(order):
        return []
    permissions = permissions_of(order, shipments, catalogue)
    actions = [_find_submission(order, is_valid=is_valid)]
    if order.held_at is not None:
        actions.append(Action(Doing.RELEASE, _TEXTS[Doing.RELEASE]))
    for doing in (Doing.CHANGE_SHIPPING, Doing.HOLD, Doing.CANCEL):
        if doing is Doing.HOLD and order.held_at is not None:
            continue
        why_not = explain_refusal(doing, permissions, order, shipments, catalogue)
        actions.append(Action(doing, _TEXTS[doing], why_not))
    return [action for action in actions if action is not None]


def _find_submission(order: Order, *, is_valid: bool) -> Action | None:
    if order.status is not OrderStatus.NOT_YET_SUBMITTED:
        return None
    is_recipients = order.payment is Payment.INVOICE_RECIPIENT
    doing = Doing.AWAIT_PAYMENT if is_recipients else Doing.SUBMIT
    if order.payment_request_id is not None and not is_recipients:
        # Whoever was asked has not answered. It is paid for once, however often it is asked.
        return Action(doing, "Ask for the payment again")
    why_not = ""
    if order.payment_request_id is not None:
        why_not = _BEING_PAID
    elif not order.image_count:
        why_not = "It needs an image first."
    elif not is_valid and not is_recipients:
        why_not = "Something is still missing."
    return Action(doing, _TEXTS[doing], why_not)


def explain_refusal(
    doing: Doing,
    permissions: Permissions,
    order: Order,
    shipments: Shipments,
    catalogue: Catalogue,
) -> str:
    """Say why something may not be done with an order; empty if it may."""
    if getattr(permissions, _NEEDS[doing]):
        return ""
    if order.status is OrderStatus.AWAITING_PAYMENT:
        return _WAITS
    if order.payment_request_id is not None:
        return _BEING_PAID
    if is_ended(order):
        return f"The order is {order.status.value.lower()}."
    for shipment in shipments:
        if shipment.state is None or shipment.state in DROPPED:
            continue
        allowed = getattr(rules_of(catalogue.find_lab(shipment.lab)), _NEEDS[doing])
        if shipment.state not in allowed:
            return _explain_lab(name_lab(shipment.lab, catalogue), shipment.state, allowed)
    return "The order is held already."


def _explain_lab(lab: str, state: LabState, allowed: frozenset[LabState]) -> str:
    if state is LabState.DISPATCHED:
        return f"{lab} has dispatched it."
    if state is LabState.FAILED:
        return f"{lab} could not make it, and we are looking into that."
    if not allowed:
        return f"{lab} does not offer this once an order is submitted."
    return f"{lab} has begun with it."
