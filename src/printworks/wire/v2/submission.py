"""The result of validation as the 2.x family shows it, with the codes that it has."""

from enum import StrEnum
from typing import Final, Self

import msgspec

from printworks.catalogue.snapshot import Catalogue
from printworks.rules.submission import (
    Findings,
    GeneralError,
    ImageError,
    ImageWarning,
)
from printworks.wire.v2.photos import name_type


class PhotoError(StrEnum):
    """Why a photo cannot be printed."""

    FILE_COULD_NOT_BE_DOWNLOADED = ImageError.FILE_COULD_NOT_BE_DOWNLOADED.value
    NO_IMAGE_FILE = ImageError.NO_IMAGE_FILE.value
    INVALID_IMAGE_FILE = ImageError.INVALID_IMAGE_FILE.value


class PhotoWarning(StrEnum):
    """What the merchant may want to think about before it is printed."""

    CROPPING_WILL_OCCUR = ImageWarning.CROPPING_WILL_OCCUR.value
    PICTURE_SIZE_TOO_SMALL = ImageWarning.PICTURE_SIZE_TOO_SMALL.value
    COULD_NOT_VALIDATE_IMAGE_SIZE = ImageWarning.COULD_NOT_VALIDATE_IMAGE_SIZE.value
    COULD_NOT_VALIDATE_ASPECT_RATIO = ImageWarning.COULD_NOT_VALIDATE_ASPECT_RATIO.value


NO_COPIES: Final = "The photo has no copies."
_ERRORS: Final = frozenset(error.value for error in PhotoError)
_WARNINGS: Final = frozenset(warning.value for warning in PhotoWarning)


class FindingsOut(msgspec.Struct, frozen=True):
    """What is wrong or doubtful about one photo; `errorMessage` says why it is no longer sold."""

    id: int
    errors: list[PhotoError]
    warnings: list[PhotoWarning]
    errorMessage: str | None

    @classmethod
    def of(cls, found: Findings, catalogue: Catalogue) -> Self:
        """Show what was found; what this family has no code for is said in words."""
        unsaid = [NO_COPIES] if ImageError.ZERO_COPIES in found.errors else []
        obstacle = found.explain(name_type(found.sku, catalogue))
        return cls(
            found.image_id,
            [PhotoError(error) for error in found.errors if error.value in _ERRORS],
            [PhotoWarning(each) for each in found.warnings if each.value in _WARNINGS],
            " ".join([*unsaid, obstacle] if obstacle else unsaid) or None,
        )


class SubmissionStatusOut(msgspec.Struct, frozen=True):
    """Whether submission will succeed, and what to know before.

    `errorMessage` says why it will not where no code does, such as that it was submitted before.
    """

    id: int
    isValid: bool
    generalErrors: list[GeneralError]
    photos: list[FindingsOut]
    errorMessage: str | None = None

    @classmethod
    def of(
        cls,
        order_id: int,
        errors: list[GeneralError],
        findings: list[Findings],
        refusal: str | None,
        catalogue: Catalogue,
    ) -> Self:
        """Show what was found; photos without findings are left out."""
        return cls(
            id=order_id,
            isValid=not errors and refusal is None,
            generalErrors=errors,
            photos=[FindingsOut.of(found, catalogue) for found in findings if found.is_shown],
            errorMessage=refusal,
        )
