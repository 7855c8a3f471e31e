"""The result of validation as 3.0 shows it."""

from typing import Self

import msgspec

from printworks.rules.submission import Findings, GeneralError, ImageError, ImageWarning


class FindingsOut(msgspec.Struct, frozen=True):
    """What is wrong or doubtful about one image."""

    id: int
    errors: list[ImageError]
    warnings: list[ImageWarning]


class SubmissionStatusOut(msgspec.Struct, frozen=True):
    """Whether submission will succeed, and what to know before."""

    id: int
    isValid: bool
    generalErrors: list[GeneralError]
    photos: list[FindingsOut]

    @classmethod
    def of(
        cls, order_id: int, errors: list[GeneralError], findings: list[Findings], *, is_valid: bool
    ) -> Self:
        """Show what was found; images without findings are left out."""
        return cls(
            id=order_id,
            isValid=is_valid,
            generalErrors=errors,
            photos=[
                FindingsOut(found.image_id, found.errors, found.warnings)
                for found in findings
                if found.errors or found.warnings
            ],
        )
