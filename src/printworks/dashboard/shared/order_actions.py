"""What can be done with an order now, and why not the rest."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

import msgspec

from printworks.actions.production.release import permissions_of
from printworks.actions.production.routing import lab_rules_of
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.labels import begin_sentence
from printworks.dashboard.shared.order_routing import LabNaming, show_lab
from printworks.rules.orders import ENDED, OrderStatus, Payment, Permissions
from printworks.rules.production import DROPPED, SENT, LabState
from printworks.store.orders.orders import Order
from printworks.store.orders.shipments import Shipments


class OrderAction(StrEnum):
    """What can be done with an order; the value is the name of the form action."""

    SUBMIT = "submit-order"
    AWAIT_PAYMENT = "await-payment"
    CHANGE_SHIPPING = "change-shipping"
    HOLD = "hold-order"
    RELEASE = "release-order"
    CANCEL = "cancel-order"


class Action(msgspec.Struct, frozen=True):
    """Something that may be done, or the reason why not."""

    doing: OrderAction
    text: str
    # Empty if it may be done.
    why_not: str = ""


_TEXTS: Final[Mapping[OrderAction, str]] = {
    OrderAction.SUBMIT: "Submit the order",
    OrderAction.AWAIT_PAYMENT: "Ask the recipient to pay",
    OrderAction.CHANGE_SHIPPING: "Change address or shipping",
    OrderAction.HOLD: "Hold",
    OrderAction.RELEASE: "Release",
    OrderAction.CANCEL: "Cancel",
}
# Which permission each needs, in the words of `Permissions` and of a lab's rules.
_NEEDS: Final[Mapping[OrderAction, str]] = {
    OrderAction.CHANGE_SHIPPING: "update_shipping",
    OrderAction.HOLD: "hold",
    OrderAction.CANCEL: "cancel",
}
_BEING_PAID: Final = "The order is being paid for."
_WAITS: Final = "The order is awaiting payment."


def is_ended(order: Order) -> bool:
    """Say whether nothing more will happen to an order."""
    return order.status in ENDED


def list_actions(
    order: Order, shipments: Shipments, catalogue: Catalogue, *, is_valid: bool
) -> list[Action]:
    """Return the actions of an order, allowed or not; none once it has ended."""
    if is_ended(order):
        return []
    permissions = permissions_of(order, shipments, catalogue)
    actions = [_find_submission(order, is_valid=is_valid)]
    if order.held_at is not None:
        actions.append(Action(OrderAction.RELEASE, _TEXTS[OrderAction.RELEASE]))
    for doing in (OrderAction.CHANGE_SHIPPING, OrderAction.HOLD, OrderAction.CANCEL):
        if doing is OrderAction.HOLD and order.held_at is not None:
            continue
        why_not = explain_refusal(doing, permissions, order, shipments, catalogue)
        actions.append(Action(doing, _TEXTS[doing], why_not))
    return [action for action in actions if action is not None]


def _find_submission(order: Order, *, is_valid: bool) -> Action | None:
    if order.status is not OrderStatus.NOT_YET_SUBMITTED:
        return None
    is_recipients = order.payment is Payment.INVOICE_RECIPIENT
    doing = OrderAction.AWAIT_PAYMENT if is_recipients else OrderAction.SUBMIT
    if order.payment_request_id is not None and not is_recipients:
        # The provider has not answered. Retrying never charges twice.
        return Action(doing, "Retry the payment")
    why_not = ""
    if order.payment_request_id is not None:
        why_not = _BEING_PAID
    elif not order.image_count:
        why_not = "Add an image first."
    elif not is_valid and not is_recipients:
        why_not = "The order is incomplete."
    return Action(doing, _TEXTS[doing], why_not)


def explain_refusal(
    doing: OrderAction,
    permissions: Permissions,
    order: Order,
    shipments: Shipments,
    catalogue: Catalogue,
    naming: LabNaming = show_lab,
) -> str:
    """Say why an order does not allow an action; empty if it does."""
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
        allowed = getattr(lab_rules_of(catalogue.find_lab(shipment.lab)), _NEEDS[doing])
        if shipment.state not in allowed:
            lab = begin_sentence(naming(shipment.lab, catalogue))
            return _explain_lab(lab, shipment.state, allowed)
    return "The order is already on hold."


def _explain_lab(lab: str, state: LabState, allowed: frozenset[LabState]) -> str:
    if state in SENT:
        return f"{lab} has dispatched it."
    if state is LabState.FAILED:
        return f"{lab} could not make it. We are looking into it."
    if not allowed:
        return f"{lab} does not offer this once an order is submitted."
    return f"{lab} has started making it."
