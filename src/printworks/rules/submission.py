"""Validation before submission: errors that prevent it, and warnings that do not."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, TypedDict, Unpack

import msgspec

from printworks.rules.images import ImageStatus
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


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """The errors and warnings of one image of an order."""

    image_id: int
    errors: list[ImageError]
    warnings: list[ImageWarning]
    # Whether it can still be ordered: it is in the catalogue, and sold to the destination.
    is_sold: bool = True

    @property
    def is_wrong(self) -> bool:
        """Whether the order cannot be submitted with this image."""
        return bool(self.errors) or not self.is_sold


def find_image_errors(status: ImageStatus, copies: int) -> list[ImageError]:
    """List the errors that prevent an image from being printed."""
    errors = [ERROR_OF_STATUS[status]] if status in ERROR_OF_STATUS else []
    return [*errors, ImageError.ZERO_COPIES] if copies == 0 else errors


class ProductFit(msgspec.Struct, frozen=True, kw_only=True):
    """How an image suits the product on which it will be printed."""

    # None while its size is unknown.
    placement: Placement | None
    recommended: Pixels
    # Whether it is sold to the destination.
    is_sold: bool
    has_valid_attributes: bool


class ImageFacts(msgspec.Struct, frozen=True):
    """What is known of an image before submission."""

    id: int
    status: ImageStatus
    copies: int
    # None if its product is no longer in the catalogue.
    fit: ProductFit | None


def examine_image(image: ImageFacts) -> Findings:
    """Find the errors and warnings of one image."""
    fit = image.fit
    if fit is None:
        warnings = []
    else:
        warnings = find_size_warnings(image.status, fit.placement, fit.recommended)
    if fit is None or not fit.is_sold or not fit.has_valid_attributes:
        warnings.append(ImageWarning.ATTRIBUTE_NOT_VALID)
    return Findings(
        image_id=image.id,
        errors=find_image_errors(image.status, image.copies),
        warnings=warnings,
        is_sold=fit is not None and fit.is_sold,
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
    is_routable: bool
    is_balance_sufficient: bool


def find_general_errors(
    address: PostalAddress, images: Sequence[Findings], **terms: Unpack[SubmissionTerms]
) -> list[GeneralError]:
    """List the errors that prevent submission."""
    errors = []
    if not terms.get("is_balance_sufficient", True):
        errors.append(GeneralError.ACCOUNT_BALANCE_INSUFFICIENT)
    if any(image.is_wrong for image in images) or not terms.get("is_routable", True):
        errors.append(GeneralError.ITEMS_CONTAINING_ERRORS)
    if not images:
        errors.append(GeneralError.NO_ITEMS_IN_ORDER)
    if not address.is_complete(needs_recipient=terms.get("needs_recipient", True)):
        errors.append(GeneralError.POSTAL_ADDRESS_NOT_SET)
    return errors


def examine_order(
    address: PostalAddress, images: Sequence[ImageFacts], **terms: Unpack[SubmissionTerms]
) -> tuple[list[GeneralError], list[Findings]]:
    """List the errors that prevent submission, and the findings on each image."""
    findings = [examine_image(image) for image in images]
    return find_general_errors(address, findings, **terms), findings
