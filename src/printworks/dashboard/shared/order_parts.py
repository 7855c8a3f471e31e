"""What else is shown of an order: what is missing, its parcels, its money, and who was told."""

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from typing import Final, NamedTuple

import msgspec

from printworks.actions.submission.submission import SubmissionStatus
from printworks.catalogue.snapshot import Catalogue
from printworks.dashboard.shared.callbacks import (
    AttemptView,
    CallbackView,
    view_attempt,
    view_callback,
)
from printworks.dashboard.shared.order_routing import name_lab, write_day
from printworks.dashboard.shared.words import ENTRY_WORDS, LAB_WORDS, Words, count
from printworks.dashboard.site.rendering import Link
from printworks.rules.ledger import LedgerEntry
from printworks.rules.orders import Payment
from printworks.rules.submission import Findings, GeneralError, ImageError, ImageWarning
from printworks.store.callbacks.callbacks import Attempt, Callback
from printworks.store.labs.shipments import Shipment

# So many images that cannot be printed are named before the rest is only counted.
_MOST_WRONG: Final = 10


class Missing(NamedTuple):
    """What keeps an order from being submitted, and where to do something about it."""

    sentence: str
    link: Link | None = None


_GENERAL: Final[Mapping[GeneralError, str]] = {
    GeneralError.ACCOUNT_BALANCE_INSUFFICIENT: "Your account has no room left for this order.",
    GeneralError.NO_ITEMS_IN_ORDER: "There is no image in the order.",
    GeneralError.POSTAL_ADDRESS_NOT_SET: "The address is not complete.",
}
_IMAGE: Final[Mapping[ImageError, str]] = {
    ImageError.FILE_COULD_NOT_BE_DOWNLOADED: "its file could not be downloaded",
    ImageError.NO_IMAGE_FILE: "its file is missing",
    ImageError.INVALID_IMAGE_FILE: "its file is not a picture that can be printed",
    ImageError.ZERO_COPIES: "it has no copies",
}

_DOUBTFUL: Final = frozenset(
    {ImageWarning.CROPPING_WILL_OCCUR, ImageWarning.PICTURE_SIZE_TOO_SMALL}
)


def list_missing(status: SubmissionStatus) -> list[Missing]:
    """Say what keeps an order from being submitted, or its recipient from paying."""
    errors, findings = status.errors, status.findings
    if status.order.payment is Payment.INVOICE_RECIPIENT:
        errors, findings = _forgive(status)
    missing = [
        Missing(_GENERAL[error], _link(error, status.order.id))
        for error in errors
        if error in _GENERAL
    ]
    wrong = [found for found in findings if found.is_wrong]
    for found in wrong[:_MOST_WRONG]:
        reasons = [_IMAGE[error] for error in found.errors]
        if not found.is_sold:
            reasons.append("its product is not sold to this country")
        link = Link("Replace it", f"/orders/{status.order.id}/images")
        missing.append(Missing(f"Image {found.image_id}: {', and '.join(reasons)}.", link))
    if len(wrong) > _MOST_WRONG:
        missing.append(
            Missing(f"{count(len(wrong) - _MOST_WRONG, 'more image')} cannot be printed.")
        )
    if GeneralError.ITEMS_CONTAINING_ERRORS in errors and not wrong:
        sentence = "No lab can make and send this at the moment. Try another shipping method."
        missing.append(
            Missing(sentence, _link(GeneralError.POSTAL_ADDRESS_NOT_SET, status.order.id))
        )
    return missing


def _forgive(status: SubmissionStatus) -> tuple[list[GeneralError], list[Findings]]:
    """Leave out what may come later: the recipient can give an address, and files may follow."""
    forgiven = set()
    if status.order.destination_country:
        forgiven.add(GeneralError.POSTAL_ADDRESS_NOT_SET)
    if any(ImageError.NO_IMAGE_FILE in found.errors for found in status.findings):
        # Whether labs can make it is found out when the recipient is asked.
        forgiven.add(GeneralError.ITEMS_CONTAINING_ERRORS)
    findings = [
        msgspec.structs.replace(
            found, errors=[one for one in found.errors if one is not ImageError.NO_IMAGE_FILE]
        )
        for found in status.findings
    ]
    return [error for error in status.errors if error not in forgiven], findings


def count_doubtful(status: SubmissionStatus) -> int:
    """Return how many images can be printed, but deserve a look before."""
    return sum(bool(_DOUBTFUL & {*found.warnings}) for found in status.findings)


def count_unseen(status: SubmissionStatus) -> int:
    """Return how many images nobody could look at yet, since they are still on the way."""
    return sum(
        ImageWarning.COULD_NOT_VALIDATE_IMAGE_SIZE in one.warnings for one in status.findings
    )


def _link(error: GeneralError, order_id: int) -> Link | None:
    match error:
        case GeneralError.ACCOUNT_BALANCE_INSUFFICIENT:
            return Link("See your account", "/account")
        case GeneralError.POSTAL_ADDRESS_NOT_SET:
            return Link("Change address or shipping", f"/orders/{order_id}/address")
        case GeneralError.NO_ITEMS_IN_ORDER:
            return Link("Add images", f"/orders/{order_id}/images")
        case GeneralError.ITEMS_CONTAINING_ERRORS:
            return None


class ShipmentView(msgspec.Struct, frozen=True, kw_only=True):
    """A parcel, planned or on its way."""

    id: int
    words: Words
    lab: str
    what: str
    how: str
    arrives: str
    tracking_number: str
    tracking_url: str
    shipped_at: datetime | None
    # Why it waits or was not made.
    trouble: str


def describe_shipment(shipment: Shipment, catalogue: Catalogue) -> ShipmentView:
    """Return what people see of a parcel."""
    url = shipment.tracking_url or ""
    first, last = (
        date.fromisoformat(day) for day in (shipment.earliest_arrival, shipment.latest_arrival)
    )
    service = next((one.name for one in catalogue.services if one.code == shipment.service), "")
    tracked = "tracked" if shipment.is_tracked else "without tracking"
    images = count(len(shipment.image_ids), "image")
    return ShipmentView(
        id=shipment.id,
        words=LAB_WORDS[shipment.state],
        lab=name_lab(shipment.lab, catalogue),
        what=f"{images}, {count(shipment.copies, 'copy', 'copies')}",
        how=f"{service or shipment.service}, {tracked}",
        arrives=write_day(first) if first == last else f"{write_day(first)} to {write_day(last)}",
        tracking_number=shipment.tracking_number or "",
        # Labs write these: nothing but an address of the web may become a link.
        tracking_url=url if url.lower().startswith(("https://", "http://")) else "",
        shipped_at=shipment.shipped_at,
        trouble=shipment.held_because or shipment.reason or "",
    )


class EntryView(NamedTuple):
    """Money that moved."""

    what: str
    at: datetime
    # Above zero is what the merchant owes more.
    amount: int
    currency: str


def describe_entry(entry: LedgerEntry) -> EntryView:
    """Return what people see of an entry of the ledger."""
    return EntryView(ENTRY_WORDS[entry.kind], entry.created_at, entry.owed, entry.currency)


class ToldView(NamedTuple):
    """An event that the merchant's program is told of, and how the latest tries went."""

    callback: CallbackView
    attempts: tuple[AttemptView, ...]
    # How many tries there were that are not listed.
    older: int


def describe_callbacks(
    callbacks: Sequence[Callback], attempts: Mapping[int, Sequence[Attempt]]
) -> list[ToldView]:
    """Return what people see of an order's callbacks, with the latest tries."""
    return [
        ToldView(
            view_callback(callback),
            tuple(view_attempt(attempt) for attempt in attempts.get(callback.id, ())),
            max(0, callback.attempts - len(attempts.get(callback.id, ()))),
        )
        for callback in callbacks
    ]
