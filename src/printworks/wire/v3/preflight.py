"""What a picture would look like on a product, as 3.0 shows it."""

import base64
from fractions import Fraction
from typing import Annotated, Self

import msgspec
from msgspec import Meta

from printworks.catalogue.products import Product
from printworks.rules.images import ImageStatus
from printworks.rules.sizing import Placement, Sizing
from printworks.rules.submission import ImageError, ImageWarning
from printworks.wire.reading import CropPlacement, text


class CheckImage(msgspec.Struct, frozen=True, kw_only=True):
    """On what a picture would be printed; the picture is the part with a file name."""

    sku: Annotated[str, Meta(max_length=100), text(100)]
    sizing: Sizing = Sizing.CROP
    placement: CropPlacement | None = None


class BoxOut(msgspec.Struct, frozen=True):
    """A part of the picture, in its own pixels."""

    left: int
    top: int
    width: int
    height: int


class ImageCheckOut(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict on a file: `Ok` with all the rest, or `Invalid` with `errorMessage`."""

    sku: str
    sizing: Sizing
    status: ImageStatus
    format: str | None = None
    width: int | None = None
    height: int | None = None
    recommendedWidth: int
    recommendedHeight: int
    # Pixels on an inch of the product.
    effectiveDpi: float | None = None
    # How much of the picture is cut off.
    percentCropped: float | None = None
    # The part that would be printed, and whether it is turned by a quarter.
    crop: BoxOut | None = None
    isTurned: bool | None = None
    errors: list[ImageError] = []
    warnings: list[ImageWarning] = []
    # The picture as it would be printed, as a `data:` address.
    preview: str | None = None
    errorMessage: str | None = None

    @classmethod
    def refused(cls, product: Product, sizing: Sizing, reason: str) -> Self:
        """Show a file that cannot be printed."""
        return cls(
            sku=product.sku,
            sizing=sizing,
            status=ImageStatus.INVALID,
            recommendedWidth=product.recommended_pixels.width,
            recommendedHeight=product.recommended_pixels.height,
            errors=[ImageError.INVALID_IMAGE_FILE],
            errorMessage=reason,
        )

    @classmethod
    def passed(
        cls,
        product: Product,
        kind: str,
        placement: Placement,
        warnings: list[ImageWarning],
        preview: bytes,
    ) -> Self:
        """Show how a picture would be printed."""
        return cls(
            sku=product.sku,
            sizing=placement.sizing,
            status=ImageStatus.OK,
            format=kind,
            width=placement.picture.width,
            height=placement.picture.height,
            recommendedWidth=product.recommended_pixels.width,
            recommendedHeight=product.recommended_pixels.height,
            effectiveDpi=_rounded(placement.effective_dpi),
            percentCropped=_rounded(placement.percent_lost),
            crop=BoxOut(*placement.box),
            isTurned=placement.is_turned,
            warnings=warnings,
            preview=f"data:image/jpeg;base64,{base64.b64encode(preview).decode()}",
        )


def _rounded(number: Fraction) -> float:
    return float(round(number, 1))
