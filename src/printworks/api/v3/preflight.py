"""Validating a picture before anything is ordered, through 3.0."""

import shutil
import tempfile
from pathlib import Path

from printworks.actions.images.preflight import Passed, PreflightRefused, check_picture
from printworks.api.bodies import UploadedFile, list_files
from printworks.api.endpoints import Call
from printworks.catalogue.products import Product
from printworks.errors import BadInput
from printworks.rules.sizing import CropPosition, Sizing
from printworks.wire.reading import read
from printworks.wire.v3.envelope import Envelope
from printworks.wire.v3.preflight import CheckImage, ImageCheckOut


def check_image(call: Call) -> Envelope[ImageCheckOut]:
    """Check an image for a product; nothing is ordered or stored."""
    upload = _find_upload(call.body)
    wanted = read(CheckImage, call.body)
    product = call.work.catalogue.get_product(wanted.sku)
    with tempfile.TemporaryDirectory(prefix="printworks-") as name:
        source = Path(name) / "picture"
        with source.open("wb") as file:
            shutil.copyfileobj(upload.content, file)
        placement = wanted.placement
        position = None if placement is None else CropPosition.of(placement)
        result = check_picture(
            call.services.processor, source, product, wanted.sizing, position=position
        )
        return Envelope(show_result(product, wanted.sizing, result))


def show_result(
    product: Product, sizing: Sizing, result: Passed | PreflightRefused
) -> ImageCheckOut:
    """Show the result of a check; the file of the preview is still there."""
    if isinstance(result, PreflightRefused):
        return ImageCheckOut.refused(product, sizing, result.reason)
    preview = result.preview.read_bytes()
    return ImageCheckOut.passed(
        product, result.facts.format, result.placement, result.warnings, preview
    )


def _find_upload(body: object) -> UploadedFile:
    for upload in list_files(body):
        return upload
    raise BadInput("Send the picture as a file in a multipart/form-data body.")
