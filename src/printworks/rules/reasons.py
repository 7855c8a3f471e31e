"""Why an order does not go ahead: codes that are stored, and the sentences made of them."""

from collections.abc import Collection, Mapping, Sequence
from enum import StrEnum
from typing import Any, Final, TypeAlias

import msgspec

from printworks.conversion import reader_of


class ReasonCode(StrEnum):
    """What stands in the way."""

    PAYMENT_REFUSED = "payment-refused"
    NOT_PAID_IN_TIME = "not-paid-in-time"
    PAYMENT_UNANSWERED = "payment-unanswered"
    IMAGE_FAILED = "image-failed"
    PACKING_SLIP_FAILED = "packing-slip-failed"
    SHIPMENT_FAILED = "shipment-failed"
    SHIPMENT_HELD = "shipment-held"
    NEVER_SUBMITTED = "never-submitted"


class Reason(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that stands in the way of an order."""

    code: ReasonCode
    # The image or the shipment that it is about.
    subject: int | None = None
    # What the bank, or the validation of a file, had to say; or until when a bank is asked.
    detail: str = ""


# As an order stores them: null if there are none, and no two of the same code and subject.
StoredReasons: TypeAlias = Sequence[Mapping[str, Any]] | None

# What holds until a shipment is dispatched, offered again or cancelled.
AT_LABS: Final = frozenset({ReasonCode.SHIPMENT_FAILED, ReasonCode.SHIPMENT_HELD})
# What payers can mend by paying.
UNPAID: Final = frozenset(
    {ReasonCode.PAYMENT_REFUSED, ReasonCode.NOT_PAID_IN_TIME, ReasonCode.PAYMENT_UNANSWERED}
)

_SENTENCES: Final[Mapping[ReasonCode, str]] = {
    ReasonCode.PAYMENT_REFUSED: "The order was not paid for. {detail}",
    ReasonCode.NOT_PAID_IN_TIME: ("The order was not paid for. The recipient did not pay in time."),
    ReasonCode.PAYMENT_UNANSWERED: (
        "The payment provider does not answer. We keep asking until {detail}; if it has not "
        "answered by then, the payment ends and whatever was charged is refunded."
    ),
    ReasonCode.IMAGE_FAILED: "Image {subject} cannot be printed. {detail}",
    ReasonCode.PACKING_SLIP_FAILED: "The packing slip cannot be used. {detail}",
    ReasonCode.SHIPMENT_FAILED: (
        "A lab could not make shipment {subject}; we are looking into it."
    ),
    ReasonCode.NEVER_SUBMITTED: (
        "The order was cancelled because it was not submitted for a long time; create it again."
    ),
    ReasonCode.SHIPMENT_HELD: "Shipment {subject} is held; we are looking into it.",
}

# What images are called, where nobody has looked.
NO_NAMES: Final[Mapping[int, str]] = {}

_read: Final = reader_of(list[Reason])


def read_reasons(stored: StoredReasons) -> list[Reason]:
    """Return the reasons of an order, the oldest first."""
    return _read(stored) if stored else []


def write_reason(reason: Reason, names: Mapping[int, str] = NO_NAMES) -> str:
    """Return a sentence for the merchant, with the name of an image if that is known."""
    name = names.get(reason.subject or 0)
    if reason.code is ReasonCode.IMAGE_FAILED and name is not None:
        return f"{name} cannot be printed. {reason.detail}".strip()
    text = _SENTENCES[reason.code].format(subject=reason.subject, detail=reason.detail)
    return text.strip()


def write_reasons(stored: StoredReasons, names: Mapping[int, str] = NO_NAMES) -> str | None:
    """Return what the merchant reads on an order; None if nothing stands in its way."""
    return " ".join(write_reason(reason, names) for reason in read_reasons(stored)) or None


def has_reason(stored: StoredReasons, code: ReasonCode) -> bool:
    """Say whether this stands in the way of an order."""
    return any(reason.code is code for reason in read_reasons(stored))


def add_reason(stored: StoredReasons, new: Reason) -> StoredReasons:
    """Add a reason; it replaces an older one of the same code about the same subject."""
    kept = drop_reasons(stored, {new.code}, subject=new.subject) or []
    return [*kept, msgspec.to_builtins(new)]


def drop_reasons(
    stored: StoredReasons, codes: Collection[ReasonCode], *, subject: int | None = None
) -> StoredReasons:
    """Leave out reasons that no longer hold: all of these codes, or those about one subject."""
    kept = [
        reason
        for reason in read_reasons(stored)
        if reason.code not in codes or (subject is not None and reason.subject != subject)
    ]
    return msgspec.to_builtins(kept) if kept else None


def blank_reasons(stored: StoredReasons) -> StoredReasons:
    """Leave out what a bank or the validation of a file had to say."""
    blank = [Reason(reason.code, reason.subject) for reason in read_reasons(stored)]
    return msgspec.to_builtins(blank) if blank else None
