"""How things are called before people, and in which colour."""

import re
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from printworks.catalogue.countries import COUNTRIES
from printworks.dashboard.site.rendering import Tone
from printworks.rules.events import CallbackState
from printworks.rules.images import ImageStatus
from printworks.rules.ledger import EntryKind
from printworks.rules.orders import OrderStatus, ShippingMethod
from printworks.rules.production import LabState
from printworks.rules.sizing import Sizing

_SMALL_WORDS: Final = {"AND": "and", "OF": "of", "THE": "the"}


class Words(NamedTuple):
    """A few words for a badge, and how urgent they are."""

    text: str
    tone: Tone = ""


ORDER_WORDS: Final[Mapping[OrderStatus, Words]] = {
    OrderStatus.NOT_YET_SUBMITTED: Words("Not submitted"),
    OrderStatus.AWAITING_PAYMENT: Words("Awaiting payment", "warn"),
    OrderStatus.SUBMITTED: Words("Submitted", "ok"),
    OrderStatus.COMPLETE: Words("Complete", "ok"),
    OrderStatus.CANCELLED: Words("Cancelled"),
}

IMAGE_WORDS: Final[Mapping[ImageStatus, Words]] = {
    ImageStatus.AWAITING_URL_OR_DATA: Words("File missing", "warn"),
    ImageStatus.NOT_YET_DOWNLOADED: Words("On its way", ""),
    ImageStatus.OK: Words("Ready", "ok"),
    ImageStatus.FILE_NOT_FOUND_AT_URL: Words("Not found", "error"),
    ImageStatus.INVALID: Words("Not printable", "error"),
}

# Money that moved, as the merchant sees it.
ENTRY_WORDS: Final[Mapping[EntryKind, str]] = {
    EntryKind.CHARGE: "Charge",
    EntryKind.REFUND: "Charge taken back",
    EntryKind.CREDIT: "Credit",
    EntryKind.PAYMENT: "Payment",
    EntryKind.REPAYMENT: "Payment given back",
}

# None is a shipment that is only planned.
LAB_WORDS: Final[Mapping[LabState | None, Words]] = {
    None: Words("Planned"),
    LabState.OFFERED: Words("At the lab"),
    LabState.ACCEPTED: Words("Accepted", "ok"),
    LabState.IN_PRODUCTION: Words("In production", "ok"),
    LabState.DISPATCHED: Words("Dispatched", "ok"),
    LabState.REJECTED: Words("Rejected", "warn"),
    LabState.CANCELLED: Words("Called off"),
    LabState.FAILED: Words("Failed", "error"),
}

CALLBACK_WORDS: Final[Mapping[CallbackState, Words]] = {
    CallbackState.QUIET: Words("Not sent"),
    CallbackState.PENDING: Words("Waiting", "warn"),
    CallbackState.DELIVERED: Words("Delivered", "ok"),
    CallbackState.FAILED: Words("Given up", "error"),
}

SIZING_WORDS: Final[Mapping[Sizing, str]] = {
    Sizing.CROP: "Fill the paper, cut what is over",
    Sizing.SHRINK_TO_FIT: "Show all of it, with white borders",
    Sizing.SHRINK_TO_EXACT_FIT: "Stretch it to fit exactly",
}

METHOD_WORDS: Final[Mapping[ShippingMethod, str]] = {
    ShippingMethod.BUDGET: "Budget",
    ShippingMethod.STANDARD: "Standard",
    ShippingMethod.EXPRESS: "Express",
    ShippingMethod.OVERNIGHT: "Overnight",
}


def name_country(code: str) -> str:
    """Return `ISLE OF MAN`, as the list has it, as `Isle of Man`."""
    name = COUNTRIES[code].name if code in COUNTRIES else code
    if not name.isupper():
        return name
    return re.sub(r"[A-Z']+", lambda word: _SMALL_WORDS.get(word[0]) or word[0].capitalize(), name)


# A code and a name each, in the order of their names; without the one that programs test with.
COUNTRY_CHOICES: Final[Sequence[tuple[str, str]]] = tuple(
    (code, name_country(code)) for code in COUNTRIES if code != "XX"
)


def name_attribute(attribute: str) -> str:
    """Return `frameColour` as `Frame colour`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", attribute)
    return words[:1].upper() + words[1:].lower()


def shorten(text: str, longest: int = 60) -> str:
    """Return the beginning of a long text that somebody else has written."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def count(number: int, one: str, more: str = "") -> str:
    """Return `1 image`, or `1,200 images`."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def join(words: list[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
