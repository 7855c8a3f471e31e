"""News for the people of a merchant: what rings the bell, and for whom."""

from typing import Final

from printworks.rules.callbacks import CallbackEvent
from printworks.rules.events import OrderMoved, ShipmentsChanged
from printworks.rules.mail import NOTICES, MailKind
from printworks.rules.orders import OrderStatus
from printworks.rules.people import MAY, Role

# What goes wrong, or is answered: each is told by itself. What orders do all day is told in groups.
NEWS: Final = frozenset(
    {
        MailKind.IMAGES_FAILED,
        MailKind.PAYMENTS_REFUSED,
        MailKind.ISSUES_ANSWERED,
        MailKind.CALLBACKS_FAILED,
        MailKind.LOW_CREDIT,
        MailKind.OVERDUE,
    }
)


def may_hear(kind: MailKind, role: Role) -> bool:
    """Return whether news of a kind is for people in a role."""
    return NOTICES[kind].duty in MAY[role]


def count_sent(event: CallbackEvent) -> int:
    """Return how many shipments an event says were sent."""
    if not isinstance(event, ShipmentsChanged):
        return 0
    return sum(one.is_shipped for one in event.shipments if one.id in event.changed)


def is_completed(event: CallbackEvent) -> bool:
    """Return whether an event says that an order is complete."""
    return isinstance(event, OrderMoved) and event.status is OrderStatus.COMPLETE
