"""What is erased of the recipient of an order, what is kept, and when that is possible."""

from collections.abc import Collection, Mapping
from enum import StrEnum
from typing import Any, Final

import msgspec

from printworks.errors import BadInput
from printworks.rules.events import (
    ImageRendered,
    OrderEvent,
    OrderHeld,
    OrderMoved,
    ShipmentFact,
    ShipmentsChanged,
)
from printworks.rules.orders import ENDED, OrderStatus

LONGEST_ASKED_BY: Final = 200
# What stands in the place of a text that must not be empty.
ERASED_TEXT: Final = "(erased)"


class ErasureState(StrEnum):
    """How far an erasure has come."""

    # The order has not ended.
    WAITING = "waiting"
    # The database has forgotten; files and the copies of labs are being deleted.
    ERASING = "erasing"
    DONE = "done"


class Subject(StrEnum):
    """What the service knows of the recipient of an order."""

    RECIPIENT = "recipient"
    TRACKING = "tracking"
    PACKING_SLIP = "packing-slip"
    PICTURES = "pictures"
    PROOFS = "proofs"
    ISSUES = "issues"
    PHOTOS = "photos"
    CALLBACKS = "callbacks"
    ANSWERS = "answers"
    JOBS = "jobs"
    PAYMENTS = "payments"
    MAILS = "mails"
    FILE_ROWS = "file-rows"
    REQUESTS = "requests"
    # What is deleted after the transaction.
    FILES = "files"
    LAB_COPIES = "lab-copies"


# What a receipt calls them.
DESCRIPTIONS: Final[Mapping[Subject, str]] = {
    Subject.RECIPIENT: "Fields with the name, the address, contact details or a link to pay",
    Subject.TRACKING: "Tracking numbers, reasons and notes of shipments and events",
    Subject.PACKING_SLIP: "Packing slips",
    Subject.PICTURES: "Images, with their pictures, addresses and checksums",
    Subject.PROOFS: "Previews, thumbnails and mockups",
    Subject.ISSUES: "Texts of issues",
    Subject.PHOTOS: "Photos of issues",
    Subject.CALLBACKS: "Answers to callbacks",
    Subject.ANSWERS: "Stored answers to requests with an Idempotency-Key",
    Subject.JOBS: "Finished jobs",
    Subject.MAILS: "Emails to the recipient, and what emails to others tell of parcels and pictures",
    Subject.FILE_ROWS: "Rows of uploaded files with the same reference that became no order",
    Subject.REQUESTS: "Refused requests about the order in the request log",
    Subject.PAYMENTS: "Pages and reasons of payments, and customers at the provider",
    Subject.FILES: "Files",
    Subject.LAB_COPIES: "Job folders at labs",
}

# The fields of an order that tell of a person, or lead to a page that does.
ORDER_FIELDS: Final = (
    *("recipient_name", "address1", "address2", "town_or_city", "state_or_county", "postal_code"),
    *("mobile_telephone", "telephone", "email", "payment_token", "packing_slip_url"),
)

# What the sweep of old addresses removes: not what was printed, which has times of its own.
ADDRESS_SUBJECTS: Final = (
    Subject.RECIPIENT,
    Subject.TRACKING,
    Subject.PACKING_SLIP,
    Subject.ISSUES,
    Subject.CALLBACKS,
    Subject.ANSWERS,
    Subject.JOBS,
    Subject.PAYMENTS,
    Subject.MAILS,
    Subject.FILE_ROWS,
    Subject.REQUESTS,
)

# What every receipt says about the rest.
KEPT: Final = (
    "Ledger entries, amounts, currencies and dates: bookkeeping and tax law asks for them.",
    "The country of destination: tax depends on it.",
    "The number of the order, the merchant's own reference, products and numbers of copies: "
    "the entries of the ledger are about them.",
    "References of payments at the payment provider: a refund needs them.",
    "The audit log and the request log, which have numbers of orders and no personal data.",
    "This receipt, which names no recipient.",
)


def find_obstacle(
    status: OrderStatus, *, open_issues: Collection[int], is_being_paid: bool
) -> str | None:
    """Say why the recipient of an order is still needed; None if it can be erased."""
    if status not in ENDED:
        return (
            f"The order is {status}: its recipient is needed until it is Complete or Cancelled. "
            "Cancel it first, or let it be erased when it has ended."
        )
    if open_issues:
        named = ", ".join(map(str, sorted(open_issues)))
        return (
            f"Issue {named} of the order is not settled, and a reprint needs the recipient. "
            "Settle it first, or let the recipient be erased afterwards."
        )
    if is_being_paid:
        return "A payment of the order has no outcome yet. Try again when it has."
    return None


def read_asked_by(text: str) -> str:
    """Return who wants an erasure, as it is written on the receipt."""
    asked_by = " ".join(text.split())
    if not asked_by:
        message = "Say who asked for it, such as “the recipient, by email on 3 May”."
        raise BadInput(message, field="asked_by")
    if len(asked_by) > LONGEST_ASKED_BY or not asked_by.isprintable():
        message = f"Say who asked for it in at most {LONGEST_ASKED_BY} printable characters."
        raise BadInput(message, field="asked_by")
    return asked_by


def blank_event(event: OrderEvent) -> OrderEvent:
    """Return an event without what leads to a person: tracking, checksums and notes."""
    match event:
        case OrderMoved() | ShipmentsChanged():
            shipments = [_blank_shipment(fact) for fact in event.shipments]
            return msgspec.structs.replace(event, shipments=shipments)
        case OrderHeld(reason=str()):
            return msgspec.structs.replace(event, reason=ERASED_TEXT)
        case ImageRendered():
            return msgspec.structs.replace(event, sha256="")
        case _:
            return event


# What a mail tells of an order that may lead to a person: reasons, names of files and parcels.
_TOLD: Final = frozenset({"text", "tracking_number", "tracking_url"})


def blank_told(fact: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a mail to somebody else tells of an order, without what leads to a person."""
    return {name: said for name, said in fact.items() if name not in _TOLD}


def _blank_shipment(fact: ShipmentFact) -> ShipmentFact:
    return msgspec.structs.replace(fact, tracking_number=None, tracking_url=None)
