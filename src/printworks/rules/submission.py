"""Validation before submission: errors that prevent it, and warnings that do not."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, TypedDict, Unpack

import msgspec

from printworks.rules.images import ImageStatus
from printworks.rules.orders import OrderStatus
from printworks.rules.sharpness import count_dpi
from printworks.rules.sizing import Pixels, Placement


class GeneralError(StrEnum):
    """What is wrong with an order as a whole."""

    ACCOUNT_BALANCE_INSUFFICIENT = "AccountBalanceInsufficient"
    ITEMS_CONTAINING_ERRORS = "ItemsContainingErrors"
    NO_ITEMS_IN_ORDER = "NoItemsInOrder"
    POSTAL_ADDRESS_NOT_SET = "PostalAddressNotSet"


class ImageError(StrEnum):
    """Why an image cannot be printed."""

    FILE_COULD_NOT_BE_DOWNLOADED = "FileCouldNotBeDownloaded"
    NO_IMAGE_FILE = "NoImageFile"
    INVALID_IMAGE_FILE = "InvalidImageFile"
    ZERO_COPIES = "ZeroCopies"


class ImageWarning(StrEnum):
    """What the merchant may want to think about before it is printed."""

    CROPPING_WILL_OCCUR = "CroppingWillOccur"
    PICTURE_SIZE_TOO_SMALL = "PictureSizeTooSmall"
    COULD_NOT_VALIDATE_IMAGE_SIZE = "CouldNotValidateImageSize"
    COULD_NOT_VALIDATE_ASPECT_RATIO = "CouldNotValidateAspectRatio"
    ATTRIBUTE_NOT_VALID = "AttributeNotValid"


ERROR_OF_STATUS: Final[Mapping[ImageStatus, ImageError]] = {
    ImageStatus.AWAITING_URL_OR_DATA: ImageError.NO_IMAGE_FILE,
    ImageStatus.FILE_NOT_FOUND_AT_URL: ImageError.FILE_COULD_NOT_BE_DOWNLOADED,
    ImageStatus.INVALID: ImageError.INVALID_IMAGE_FILE,
}


class Obstacle(StrEnum):
    """Why an item can no longer be ordered, in a sentence about it."""

    GONE = "{item} is no longer sold."
    NOT_SOLD_THERE = "{item} is no longer sold to {detail}."
    WRONG_ATTRIBUTES = "{item} is no longer sold with these attributes. {detail}"
    NO_LAB = (
        "{item} cannot be made and sent to {detail} by any lab now; try another shipping method."
    )


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """The errors and warnings of one image of an order."""

    image_id: int
    sku: str
    errors: list[ImageError]
    warnings: list[ImageWarning]
    obstacle: Obstacle | None = None
    # The country, or what is wrong with the attributes.
    detail: str = ""
    # Pixels on an inch of paper; None while its size is unknown.
    dpi: int | None = None

    @property
    def is_wrong(self) -> bool:
        """Whether the order cannot be submitted with this image."""
        return bool(self.errors) or self.obstacle is not None

    @property
    def is_shown(self) -> bool:
        """Whether there is anything to know about this image."""
        return self.is_wrong or bool(self.warnings)

    def explain(self, item: str) -> str | None:
        """Say what stands in the way of an item, which every version calls otherwise."""
        return self.obstacle and self.obstacle.format(item=item, detail=self.detail)


def find_image_errors(status: ImageStatus, copies: int) -> list[ImageError]:
    """List the errors that prevent an image from being printed."""
    errors = [ERROR_OF_STATUS[status]] if status in ERROR_OF_STATUS else []
    return [*errors, ImageError.ZERO_COPIES] if copies == 0 else errors


class ProductFit(msgspec.Struct, frozen=True, kw_only=True):
    """How an image suits the product on which it will be printed."""

    # None while its size is unknown.
    placement: Placement | None
    recommended: Pixels
    obstacle: Obstacle | None = None
    detail: str = ""


GONE: Final = ProductFit(placement=None, recommended=Pixels(1, 1), obstacle=Obstacle.GONE)


class ImageFacts(msgspec.Struct, frozen=True):
    """What is known of an image before submission."""

    id: int
    sku: str
    status: ImageStatus
    copies: int
    fit: ProductFit


def examine_image(image: ImageFacts) -> Findings:
    """Find the errors and warnings of one image."""
    fit, warnings = image.fit, []
    if fit.obstacle is not Obstacle.GONE:
        warnings = find_size_warnings(image.status, fit.placement, fit.recommended)
    if fit.obstacle is Obstacle.WRONG_ATTRIBUTES:
        warnings.append(ImageWarning.ATTRIBUTE_NOT_VALID)
    return Findings(
        image_id=image.id,
        sku=image.sku,
        errors=find_image_errors(image.status, image.copies),
        warnings=warnings,
        obstacle=fit.obstacle,
        detail=fit.detail,
        dpi=None if fit.placement is None else count_dpi(fit.placement.effective_dpi),
    )


def find_size_warnings(
    status: ImageStatus, placement: Placement | None, recommended: Pixels
) -> list[ImageWarning]:
    """List the warnings about an image's size and shape, as far as they are known."""
    if status is ImageStatus.NOT_YET_DOWNLOADED:
        return [
            ImageWarning.COULD_NOT_VALIDATE_IMAGE_SIZE,
            ImageWarning.COULD_NOT_VALIDATE_ASPECT_RATIO,
        ]
    warnings = []
    if placement is not None and placement.will_be_cropped:
        warnings.append(ImageWarning.CROPPING_WILL_OCCUR)
    if placement is not None and placement.is_too_small(recommended):
        warnings.append(ImageWarning.PICTURE_SIZE_TOO_SMALL)
    return warnings


class PostalAddress(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of an address without which nothing can be sent."""

    recipient_name: str | None
    address1: str | None
    town_or_city: str | None
    postal_code: str | None
    destination_country: str | None

    def is_complete(self, *, needs_recipient: bool) -> bool:
        """Whether a shipment can be sent there, without a name on it if none is needed."""
        place = (self.address1, self.town_or_city, self.postal_code, self.destination_country)
        return all(place) and bool(self.recipient_name or not needs_recipient)


class SubmissionTerms(TypedDict, total=False):
    """What else decides about a submission; everything is in order if it is left out."""

    # Whether a shipment needs the recipient's name.
    needs_recipient: bool
    is_balance_sufficient: bool


def find_general_errors(
    address: PostalAddress, images: Sequence[Findings], **terms: Unpack[SubmissionTerms]
) -> list[GeneralError]:
    """List the errors that prevent submission."""
    errors = []
    if not terms.get("is_balance_sufficient", True):
        errors.append(GeneralError.ACCOUNT_BALANCE_INSUFFICIENT)
    if any(image.is_wrong for image in images):
        errors.append(GeneralError.ITEMS_CONTAINING_ERRORS)
    if not images:
        errors.append(GeneralError.NO_ITEMS_IN_ORDER)
    if not address.is_complete(needs_recipient=terms.get("needs_recipient", True)):
        errors.append(GeneralError.POSTAL_ADDRESS_NOT_SET)
    return errors


def explain_state(status: OrderStatus) -> str | None:
    """Say why an order cannot be submitted any more, whatever is in it; None if it is open."""
    if status is OrderStatus.NOT_YET_SUBMITTED:
        return None
    open_status = OrderStatus.NOT_YET_SUBMITTED
    return f"The order is {status}; only one that is {open_status} can be submitted."
