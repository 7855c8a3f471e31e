"""The labels of states and choices on pages."""

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


class Label(NamedTuple):
    """The text of a badge, and its tone."""

    text: str
    tone: Tone = ""


ORDER_LABELS: Final[Mapping[OrderStatus, Label]] = {
    OrderStatus.NOT_YET_SUBMITTED: Label("Not submitted"),
    OrderStatus.AWAITING_PAYMENT: Label("Awaiting payment", "warn"),
    OrderStatus.SUBMITTED: Label("Submitted", "ok"),
    OrderStatus.COMPLETE: Label("Complete", "ok"),
    OrderStatus.CANCELLED: Label("Cancelled"),
}

IMAGE_LABELS: Final[Mapping[ImageStatus, Label]] = {
    ImageStatus.AWAITING_URL_OR_DATA: Label("File missing", "warn"),
    ImageStatus.NOT_YET_DOWNLOADED: Label("On its way", ""),
    ImageStatus.OK: Label("Ready", "ok"),
    ImageStatus.FILE_NOT_FOUND_AT_URL: Label("Not found", "error"),
    ImageStatus.INVALID: Label("Not printable", "error"),
}

# Money that moved, as the merchant sees it.
ENTRY_LABELS: Final[Mapping[EntryKind, str]] = {
    EntryKind.CHARGE: "Charge",
    EntryKind.REFUND: "Charge refunded",
    EntryKind.CREDIT: "Credit",
    EntryKind.PAYMENT: "Payment",
    EntryKind.REPAYMENT: "Payment refunded",
}

# None is a shipment that is only planned.
LAB_LABELS: Final[Mapping[LabState | None, Label]] = {
    None: Label("Planned"),
    LabState.OFFERED: Label("At the lab"),
    LabState.ACCEPTED: Label("Accepted", "ok"),
    LabState.IN_PRODUCTION: Label("In production", "ok"),
    LabState.DISPATCHED: Label("Dispatched", "ok"),
    LabState.REJECTED: Label("Rejected", "warn"),
    LabState.CANCELLED: Label("Cancelled"),
    LabState.FAILED: Label("Failed", "error"),
}

CALLBACK_LABELS: Final[Mapping[CallbackState, Label]] = {
    CallbackState.QUIET: Label("Not sent"),
    CallbackState.PENDING: Label("Waiting", "warn"),
    CallbackState.DELIVERED: Label("Delivered", "ok"),
    CallbackState.FAILED: Label("Failed", "error"),
}

SIZING_LABELS: Final[Mapping[Sizing, str]] = {
    Sizing.CROP: "Fill the paper and crop the rest",
    Sizing.SHRINK_TO_FIT: "Show the whole picture with white borders",
    Sizing.SHRINK_TO_EXACT_FIT: "Stretch it to fit exactly",
}

METHOD_LABELS: Final[Mapping[ShippingMethod, str]] = {
    ShippingMethod.BUDGET: "Budget",
    ShippingMethod.STANDARD: "Standard",
    ShippingMethod.EXPRESS: "Express",
    ShippingMethod.OVERNIGHT: "Overnight",
}


def name_country(code: str) -> str:
    """Return `ISLE OF MAN`, as the list has it, as `Isle of Man`."""
    if code not in COUNTRIES:
        return code
    name = COUNTRIES[code].name
    return re.sub(r"[A-Z']+", lambda word: _SMALL_WORDS.get(word[0]) or word[0].capitalize(), name)


# A code and a name each, in the order of their names.
COUNTRY_CHOICES: Final[Sequence[tuple[str, str]]] = tuple(
    (code, name_country(code)) for code in COUNTRIES
)


def name_attribute(attribute: str) -> str:
    """Return `frameColour` as `Frame colour`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", attribute)
    return words[:1].upper() + words[1:].lower()


def shorten(text: str, longest: int = 60) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def count(number: int, one: str, more: str = "") -> str:
    """Return `1 image`, or `1,200 images`."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def join(words: list[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)
