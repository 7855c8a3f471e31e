"""A look at a picture before anything is ordered, through 3.0."""

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path

from printworks.actions.images.preflight import PreflightRefused, check_picture
from printworks.api.bodies import UploadedFile
from printworks.api.endpoints import Call
from printworks.errors import BadInput
from printworks.wire.reading import read
from printworks.wire.v3.envelope import Envelope
from printworks.wire.v3.preflight import CheckImage, ImageCheckOut


def check_image(call: Call) -> Envelope[ImageCheckOut]:
    """Judge a picture for a product."""
    upload = _find_upload(call.body)
    wanted = read(CheckImage, call.body)
    product = call.catalogue.get_product(wanted.sku)
    with tempfile.TemporaryDirectory(prefix="printworks-") as name:
        folder = Path(name)
        source = folder / "picture"
        with source.open("wb") as file:
            shutil.copyfileobj(upload.content, file)
        verdict = check_picture(call.processor, source, product, wanted.sizing, folder)
        if isinstance(verdict, PreflightRefused):
            shown = ImageCheckOut.refused(product, wanted.sizing, verdict.reason)
        else:
            preview = verdict.preview.read_bytes()
            shown = ImageCheckOut.passed(
                product, verdict.facts.format, verdict.placement, verdict.warnings, preview
            )
    return Envelope(shown)


def _find_upload(body: object) -> UploadedFile:
    parts = body.values() if isinstance(body, Mapping) else ()
    upload = next((part for part in parts if isinstance(part, UploadedFile)), None)
    if upload is None:
        message = "Send the picture as a file in a multipart/form-data body."
        raise BadInput(message)
    return upload
