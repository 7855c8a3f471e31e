"""Validates a picture for a product before anything is ordered."""

from pathlib import Path

import msgspec

from printworks.catalogue.products import Product
from printworks.errors import ServiceUnavailable
from printworks.imaging.messages import Facts
from printworks.imaging.processor import CannotBeProcessed, ImageProcessor, Invalid
from printworks.rules.images import ImageStatus
from printworks.rules.sizing import CropPosition, Layout, Placement, Sizing, check_position
from printworks.rules.submission import ImageWarning, find_size_warnings


class Passed(msgspec.Struct, frozen=True):
    """A picture that can be printed: its placement on the product, and warnings."""

    facts: Facts
    placement: Placement
    warnings: list[ImageWarning]
    # The picture as it would be printed.
    preview: Path


class PreflightRefused(msgspec.Struct, frozen=True):
    """A file that cannot be printed, and why."""

    reason: str


def check_picture(
    processor: ImageProcessor,
    file: Path,
    product: Product,
    sizing: Sizing,
    *,
    position: CropPosition | None = None,
) -> Passed | PreflightRefused:
    """Validate a file for a product; what is rendered is put beside it."""
    if position is not None:
        check_position(position)
    layout = Layout(product.print_area, sizing, position)
    result = processor.prepare(file, layout, file.parent)
    if isinstance(result, Invalid):
        return PreflightRefused(result.reason)
    if isinstance(result, CannotBeProcessed) and result.is_infrastructure_error:
        raise ServiceUnavailable("Image checks are temporarily unavailable; try again later.")
    if isinstance(result, CannotBeProcessed):
        return PreflightRefused(f"The file cannot be processed. {result.reason}")
    placement = result.placement
    warnings = find_size_warnings(ImageStatus.OK, placement, product.recommended_pixels)
    return Passed(result.facts, placement, warnings, result.proofs.preview)
