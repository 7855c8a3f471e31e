"""The result of validation as 3.0 shows it."""

from typing import Self

import msgspec

from printworks.rules.submission import (
    Findings,
    GeneralError,
    ImageError,
    ImageWarning,
)


class FindingsOut(msgspec.Struct, frozen=True):
    """What is wrong or doubtful about one image; `errorMessage` says why it is no longer sold."""

    id: int
    errors: list[ImageError]
    warnings: list[ImageWarning]
    errorMessage: str | None

    @classmethod
    def of(cls, found: Findings) -> Self:
        return cls(found.image_id, found.errors, found.warnings, found.explain(found.sku))


class SubmissionStatusOut(msgspec.Struct, frozen=True):
    """Whether submission will succeed, and what to know before.

    `errorMessage` says why it will not where no code does, such as that it was submitted before.
    """

    id: int
    isValid: bool
    generalErrors: list[GeneralError]
    photos: list[FindingsOut]
    errorMessage: str | None

    @classmethod
    def of(
        cls,
        order_id: int,
        errors: list[GeneralError],
        findings: list[Findings],
        refusal: str | None,
    ) -> Self:
        """Show what was found; images without findings are left out."""
        return cls(
            id=order_id,
            isValid=not errors and refusal is None,
            generalErrors=errors,
            photos=[FindingsOut.of(found) for found in findings if found.is_shown],
            errorMessage=refusal,
        )
