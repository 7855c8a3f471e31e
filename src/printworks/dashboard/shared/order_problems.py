"""What prevents an order from being submitted, and which images need attention."""

from collections.abc import Mapping
from typing import Final, NamedTuple

import msgspec

from printworks.actions.submission.check import SubmissionStatus
from printworks.dashboard.shared.labels import count
from printworks.dashboard.site.rendering import Link
from printworks.rules.orders import Payment
from printworks.rules.submission import Findings, GeneralError, ImageError, ImageWarning, Obstacle

# So many images that cannot be printed are named before the rest is only counted.
_MOST_WRONG: Final = 10


class Missing(NamedTuple):
    """A reason that prevents submission, and a link to fix it."""

    sentence: str
    link: Link | None = None


_GENERAL: Final[Mapping[GeneralError, str]] = {
    GeneralError.ACCOUNT_BALANCE_INSUFFICIENT: (
        "Pay your outstanding balance first, or ask us for a higher credit limit."
    ),
    GeneralError.NO_ITEMS_IN_ORDER: "The order has no images.",
    GeneralError.POSTAL_ADDRESS_NOT_SET: "The address is incomplete.",
}
_IMAGE: Final[Mapping[ImageError, str]] = {
    ImageError.FILE_COULD_NOT_BE_DOWNLOADED: "its file could not be downloaded",
    ImageError.NO_IMAGE_FILE: "its file is missing",
    ImageError.INVALID_IMAGE_FILE: "its file cannot be printed",
    ImageError.ZERO_COPIES: "it has no copies",
}

_DOUBTFUL: Final = frozenset(
    {ImageWarning.CROPPING_WILL_OCCUR, ImageWarning.PICTURE_SIZE_TOO_SMALL}
)


def list_missing(status: SubmissionStatus) -> list[Missing]:
    """Return what prevents an order from being submitted or paid for."""
    errors, findings = status.errors, status.findings
    if status.order.payment is Payment.INVOICE_RECIPIENT:
        errors, findings = _leave_out_pending(status)
    missing = [
        Missing(_GENERAL[error], _link(error, status.order.id))
        for error in errors
        if error in _GENERAL
    ]
    if status.refusal:
        missing.append(Missing(status.refusal))
    wrong = [found for found in findings if found.is_wrong]
    images = {image.id: image for image in status.images}
    for found in wrong[:_MOST_WRONG]:
        reasons = [_IMAGE[error] for error in found.errors]
        if obstacle := found.explain("it"):
            reasons.append(obstacle.rstrip("."))
        link = Link("Replace it", f"/orders/{status.order.id}/images")
        if found.obstacle is Obstacle.NO_LAB:
            link = Link("Change address or shipping", f"/orders/{status.order.id}/address")
        image = images[found.image_id]
        sentence = f"{image.title}: {', and '.join(reasons)}. {image.error_message or ''}"
        missing.append(Missing(sentence.strip(), link))
    if len(wrong) > _MOST_WRONG:
        missing.append(
            Missing(f"{count(len(wrong) - _MOST_WRONG, 'more image')} cannot be printed.")
        )
    return missing


def _leave_out_pending(status: SubmissionStatus) -> tuple[list[GeneralError], list[Findings]]:
    """Leave out what may come later: the recipient can enter an address, and files may follow."""
    forgiven = set()
    if status.order.destination_country:
        forgiven.add(GeneralError.POSTAL_ADDRESS_NOT_SET)
    findings = [
        msgspec.structs.replace(
            found, errors=[one for one in found.errors if one is not ImageError.NO_IMAGE_FILE]
        )
        for found in status.findings
    ]
    return [error for error in status.errors if error not in forgiven], findings


def count_doubtful(status: SubmissionStatus) -> int:
    """Return how many images can be printed, but have a warning."""
    return sum(bool(_DOUBTFUL & {*found.warnings}) for found in status.findings)


def count_unseen(status: SubmissionStatus) -> int:
    """Return how many images were not validated yet, since they are still being downloaded."""
    return sum(
        ImageWarning.COULD_NOT_VALIDATE_IMAGE_SIZE in one.warnings for one in status.findings
    )


def _link(error: GeneralError, order_id: int) -> Link | None:
    match error:
        case GeneralError.ACCOUNT_BALANCE_INSUFFICIENT:
            return Link("View your account", "/account")
        case GeneralError.POSTAL_ADDRESS_NOT_SET:
            return Link("Change address or shipping", f"/orders/{order_id}/address")
        case GeneralError.NO_ITEMS_IN_ORDER:
            return Link("Add images", f"/orders/{order_id}/images")
        case GeneralError.ITEMS_CONTAINING_ERRORS:
            return None
