"""What still stands between an order and its submission, and what is merely doubtful."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final

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


# Read a line as: an image that is here ... has this error.
ERROR_OF_STATUS: Final[Mapping[ImageStatus, ImageError]] = {
    ImageStatus.AWAITING_URL_OR_DATA: ImageError.NO_IMAGE_FILE,
    ImageStatus.FILE_NOT_FOUND_AT_URL: ImageError.FILE_COULD_NOT_BE_DOWNLOADED,
    ImageStatus.INVALID: ImageError.INVALID_IMAGE_FILE,
}


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What was found out about one image of an order."""

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
    """List what keeps an image from being printed."""
    errors = [ERROR_OF_STATUS[status]] if status in ERROR_OF_STATUS else []
    return [*errors, ImageError.ZERO_COPIES] if copies == 0 else errors


def find_size_warnings(
    status: ImageStatus, placement: Placement | None, recommended: Pixels
) -> list[ImageWarning]:
    """List what is doubtful about an image's size and shape, as far as they are known."""
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


def find_general_errors(
    *,
    recipient_name: str | None,
    address1: str | None,
    town_or_city: str | None,
    postal_code: str | None,
    destination_country: str | None,
    images: Sequence[Findings],
    needs_recipient: bool = True,
    is_routable: bool = True,
    is_balance_sufficient: bool = True,
) -> list[GeneralError]:
    """List what keeps the order from being submitted; empty when nothing does."""
    errors = []
    if not is_balance_sufficient:
        errors.append(GeneralError.ACCOUNT_BALANCE_INSUFFICIENT)
    if any(image.is_wrong for image in images) or not is_routable:
        errors.append(GeneralError.ITEMS_CONTAINING_ERRORS)
    if not images:
        errors.append(GeneralError.NO_ITEMS_IN_ORDER)
    address = (address1, town_or_city, postal_code, destination_country)
    if not all(address) or (needs_recipient and not recipient_name):
        errors.append(GeneralError.POSTAL_ADDRESS_NOT_SET)
    return errors
