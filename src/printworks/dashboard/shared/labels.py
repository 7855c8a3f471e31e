"""The labels of states and choices on pages."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from types import NoneType
from typing import Any, Final, Literal, NamedTuple, Protocol

from printworks.catalogue.country_names import list_country_choices
from printworks.catalogue.services import CARRIER_NAMES, Carrier
from printworks.rules.events import CallbackState
from printworks.rules.images import ImageStatus
from printworks.rules.invoices import Invoicing
from printworks.rules.issues import IssueAction, IssueKind, IssueState, Resolution
from printworks.rules.keys import KeyAccess
from printworks.rules.ledger import EntryKind
from printworks.rules.mail import recognise_browser
from printworks.rules.orders import OrderStatus
from printworks.rules.payments import Billing, PaymentState
from printworks.rules.production import LabState
from printworks.rules.reminders import ReminderTone
from printworks.rules.sizing import Sizing

Tone = Literal["", "ok", "warn", "error"]


class Label(NamedTuple):
    """The text of a badge, and its tone."""

    text: str
    tone: Tone = ""

    def __str__(self) -> str:
        return self.text


_ORDERS: Final[Mapping[OrderStatus, Label]] = {
    OrderStatus.NOT_YET_SUBMITTED: Label("Not submitted"),
    OrderStatus.AWAITING_PAYMENT: Label("Awaiting payment", "warn"),
    OrderStatus.SUBMITTED: Label("Submitted", "ok"),
    OrderStatus.COMPLETE: Label("Complete", "ok"),
    OrderStatus.CANCELLED: Label("Cancelled"),
}

# Of an order all of whose shipments have arrived, if their carriers say so.
DELIVERED: Final = Label("Delivered", "ok")

_IMAGES: Final[Mapping[ImageStatus, Label]] = {
    ImageStatus.AWAITING_URL_OR_DATA: Label("File missing", "warn"),
    ImageStatus.NOT_YET_DOWNLOADED: Label("On its way", ""),
    ImageStatus.OK: Label("Ready", "ok"),
    ImageStatus.FILE_NOT_FOUND_AT_URL: Label("Not found", "error"),
    ImageStatus.INVALID: Label("Not printable", "error"),
}

# Money that moved, as the merchant sees it.
_ENTRIES: Final[Mapping[EntryKind, Label]] = {
    EntryKind.CHARGE: Label("Charge"),
    EntryKind.REFUND: Label("Charge refunded"),
    EntryKind.CREDIT: Label("Credit"),
    EntryKind.PAYMENT: Label("Payment"),
    EntryKind.REPAYMENT: Label("Payment refunded"),
    EntryKind.DEBIT: Label("Debit"),
    EntryKind.PAYOUT: Label("Paid out"),
    EntryKind.CREDIT_REVERSAL: Label("Credit reversed"),
    EntryKind.PAYMENT_REVERSAL: Label("Payment reversed"),
    EntryKind.DEBIT_REVERSAL: Label("Debit reversed"),
    EntryKind.PAYOUT_REVERSAL: Label("Pay-out reversed"),
    EntryKind.REPAYMENT_REVERSAL: Label("Refund rejected by the bank"),
}

# None is a shipment that is only planned.
_SHIPMENTS: Final[Mapping[LabState | None, Label]] = {
    None: Label("Planned"),
    LabState.OFFERED: Label("At the lab"),
    LabState.ACCEPTED: Label("Accepted by the lab", "ok"),
    LabState.IN_PRODUCTION: Label("Printing", "ok"),
    LabState.DISPATCHED: Label("Dispatched", "ok"),
    LabState.DELIVERED: Label("Delivered", "ok"),
    LabState.REJECTED: Label("Declined by the lab", "warn"),
    LabState.CANCELLED: Label("Cancelled"),
    LabState.FAILED: Label("Failed", "error"),
}

_CALLBACKS: Final[Mapping[CallbackState, Label]] = {
    CallbackState.QUIET: Label("Not sent"),
    CallbackState.SKIPPED: Label("Nothing new"),
    CallbackState.PENDING: Label("Waiting", "warn"),
    CallbackState.DELIVERED: Label("Delivered", "ok"),
    CallbackState.FAILED: Label("Failed", "error"),
}

SIZINGS: Final[Mapping[Sizing, Label]] = {
    Sizing.CROP: Label("Fill the paper and crop the rest"),
    Sizing.SHRINK_TO_FIT: Label("Show the whole picture with white borders"),
    Sizing.SHRINK_TO_EXACT_FIT: Label("Stretch it to fit exactly"),
}

ISSUE_KINDS: Final[Mapping[IssueKind, Label]] = {
    IssueKind.DAMAGED_ORDER: Label("Arrived damaged"),
    IssueKind.WRONG_FRAME_COLOUR: Label("Wrong frame colour"),
    IssueKind.INCOMPLETE_ORDER: Label("Incomplete order"),
    IssueKind.LOST_IN_POST: Label("Lost in transit"),
    IssueKind.INCORRECT_ORIENTATION: Label("Printed the wrong way round"),
    IssueKind.INCORRECT_PRINTS: Label("Not what was ordered"),
    IssueKind.PRINT_DEFECTS: Label("Defects in the print"),
    IssueKind.SLOW_ARRIVAL: Label("Arrived late"),
    IssueKind.SLOW_DISPATCH: Label("Dispatched late"),
    IssueKind.SUBMISSION_ERRORS: Label("Could not be submitted"),
    IssueKind.WRONG_ADDRESS: Label("Sent to the wrong address"),
    IssueKind.UNSPECIFIED: Label("Something else"),
}

ISSUE_ACTIONS: Final[Mapping[IssueAction, Label]] = {
    IssueAction.REPRINT: Label("A reprint"),
    IssueAction.REFUND: Label("Refund"),
    IssueAction.OTHER: Label("Something else"),
    IssueAction.NO_ACTION: Label("Nothing (for your information)"),
}

_ISSUES: Final[Mapping[IssueState, Label]] = {
    IssueState.OPEN: Label("Open", "warn"),
    IssueState.IN_PROGRESS: Label("In progress", "warn"),
    IssueState.CLOSED_RESOLVED: Label("Resolved", "ok"),
    IssueState.CANCELLED: Label("Cancelled"),
}

# An operator sees jobs of labs where a merchant sees shipments.
_JOBS: Final[Mapping[LabState | None, Label]] = {
    None: Label("Planned"),
    LabState.OFFERED: Label("Offered"),
    LabState.ACCEPTED: Label("Accepted"),
    LabState.IN_PRODUCTION: Label("In production", "warn"),
    LabState.DISPATCHED: Label("Dispatched", "ok"),
    LabState.DELIVERED: Label("Delivered", "ok"),
    LabState.REJECTED: Label("Rejected", "error"),
    LabState.CANCELLED: Label("Cancelled"),
    LabState.FAILED: Label("Failed", "error"),
}

_ISSUES_FOR_OPERATORS: Final[Mapping[IssueState, Label]] = {
    IssueState.OPEN: Label("New", "error"),
    IssueState.IN_PROGRESS: Label("In progress", "warn"),
    IssueState.CLOSED_RESOLVED: Label("Resolved", "ok"),
    IssueState.CANCELLED: Label("Cancelled"),
}

_PAYMENTS: Final[Mapping[PaymentState, Label]] = {
    PaymentState.ASKED: Label("Asked", "warn"),
    PaymentState.WAITING: Label("Waiting for the payer", "warn"),
    PaymentState.PAID: Label("Paid", "ok"),
    PaymentState.DECLINED: Label("Declined", "error"),
    PaymentState.CANCELLED: Label("Cancelled"),
    PaymentState.REFUNDING: Label("Refunding", "warn"),
    PaymentState.REFUNDED: Label("Refunded"),
    PaymentState.REFUND_REJECTED: Label("Refund rejected", "error"),
    PaymentState.REPAID: Label("Repaid in another way"),
}

_OUTCOMES: Final[Mapping[Resolution, Label]] = {
    Resolution.REPRINT: Label("Reprinted"),
    Resolution.REFUND: Label("Refund"),
    Resolution.NO_ACTION: Label("No action"),
}

# By the kind of what is labelled: members of different kinds may be equal as texts.
_FOR_MERCHANTS: Final[Mapping[type, Mapping[Any, Label]]] = {
    OrderStatus: _ORDERS,
    ImageStatus: _IMAGES,
    EntryKind: _ENTRIES,
    LabState: _SHIPMENTS,
    NoneType: _SHIPMENTS,
    CallbackState: _CALLBACKS,
    Sizing: SIZINGS,
    IssueKind: ISSUE_KINDS,
    IssueAction: ISSUE_ACTIONS,
    IssueState: _ISSUES,
}
_FOR_OPERATORS: Final[Mapping[type, Mapping[Any, Label]]] = {
    **_FOR_MERCHANTS,
    LabState: _JOBS,
    NoneType: _JOBS,
    IssueState: _ISSUES_FOR_OPERATORS,
    PaymentState: _PAYMENTS,
    Resolution: _OUTCOMES,
}


def label(named: object) -> Label:
    """Return what merchants read for a state or a choice."""
    return _FOR_MERCHANTS[type(named)][named]


class _ShownOrder(Protocol):
    @property
    def status(self) -> OrderStatus: ...
    @property
    def delivered_at(self) -> datetime | None: ...


def label_order(order: _ShownOrder) -> Label:
    """Return how far an order is: to people it is delivered where programs read Complete."""
    return DELIVERED if order.delivered_at is not None else _ORDERS[order.status]


def operator_label(named: object) -> Label:
    """Return what operators read for a state or a choice."""
    return _FOR_OPERATORS[type(named)][named]


# A code and a name each, in the order of their names.
COUNTRY_CHOICES: Final[Sequence[tuple[str, str]]] = list_country_choices()


def name_attribute(attribute: str) -> str:
    """Return `frameColour` as `Frame colour`."""
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", attribute)
    return words[:1].upper() + words[1:].lower()


def name_device(agent: str) -> str:
    """Return `Firefox on Windows` for what a browser says of itself."""
    return " on ".join(recognise_browser(agent)) or "Another program"


def name_carrier(carrier: Carrier) -> str:
    """Return who carries a shipment, as people know them."""
    return CARRIER_NAMES.get(carrier, "") or _OTHER_CARRIERS[carrier]


def name_provider(provider: str) -> str:
    """Return through whom something was paid."""
    return _PROVIDERS.get(provider, provider.capitalize())


def shorten(text: str, longest: int = 60) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def begin_sentence(text: str) -> str:
    """Return a text with a capital at its beginning."""
    return text[:1].upper() + text[1:]


def count(number: int, one: str, more: str = "") -> str:
    """Return `1 image`, or `1,200 images`."""
    return f"{number:,} {one if number == 1 else more or one + 's'}"


def join(words: list[str]) -> str:
    """Return `a`, `a and b`, or `a, b and c`."""
    return " and ".join(part for part in (", ".join(words[:-1]), *words[-1:]) if part)


_PROVIDERS: Final[Mapping[str, str]] = {
    "account": "On account",
    "balance": "From the balance",
    "simulated": "Simulated bank",
}

# Those without a name of their own.
_OTHER_CARRIERS: Final[Mapping[Carrier, str]] = {
    Carrier.EU_POSTAL: "the post of the country",
    Carrier.AIR_MAIL: "air mail",
    Carrier.NOT_KNOWN: "a carrier that is not known yet",
}

# To choose one: with the service, where carriers have several.
CARRIER_CHOICES: Final[Sequence[tuple[str, str]]] = (
    (Carrier.ROYAL_MAIL, "Royal Mail"),
    (Carrier.ROYAL_MAIL_FIRST_CLASS, "Royal Mail, first class"),
    (Carrier.ROYAL_MAIL_SECOND_CLASS, "Royal Mail, second class"),
    (Carrier.FEDEX, "FedEx"),
    (Carrier.FEDEX_UK, "FedEx UK"),
    (Carrier.FEDEX_INTL, "FedEx International"),
    (Carrier.INTERLINK, "Interlink"),
    (Carrier.UPS, "UPS"),
    (Carrier.UPS_TWO_DAY, "UPS, two days"),
    (Carrier.UPS_MI, "UPS Mail Innovations"),
    (Carrier.UK_MAIL, "UK Mail"),
    (Carrier.TNT, "TNT"),
    (Carrier.PARCEL_FORCE, "Parcelforce"),
    (Carrier.DHL, "DHL"),
    (Carrier.DPD_NEXT_DAY, "DPD, next day"),
    (Carrier.EU_POSTAL, "Postal service in Europe"),
    (Carrier.AU_POST, "Australia Post"),
    (Carrier.AIR_MAIL, "Air mail"),
    (Carrier.NOT_KNOWN, "Another carrier"),
)

# How a merchant pays.
BILLINGS: Final[Sequence[tuple[str, str]]] = (
    (Billing.CARD, "By card"),
    (Billing.ACCOUNT, "On account"),
)

# When a merchant is sent invoices.
INVOICINGS: Final[Sequence[tuple[str, str]]] = (
    (Invoicing.EACH_ORDER, "Each order"),
    (Invoicing.MONTHLY, "All orders of a month together"),
)

# What an API key may do.
REMINDER_TONES: Final[Mapping[ReminderTone, str]] = {
    ReminderTone.FRIENDLY: "Friendly reminder",
    ReminderTone.FIRM: "Another reminder",
    ReminderTone.LAST: "Last notice",
}
KEY_ACCESSES: Final[Mapping[KeyAccess, str]] = {
    KeyAccess.FULL: "Do everything",
    KeyAccess.NO_MONEY: "Do everything but spend money",
    KeyAccess.READ_ONLY: "Read only",
}
