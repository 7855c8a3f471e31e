"""HEIC, as telephones write it: read in the jail, upright, in the right colours, or refused."""

import io
from pathlib import Path
from typing import Any

import pillow_heif
import pytest
import pyvips
from PIL import Image

from printworks.imaging.formats import Format, find_format
from printworks.imaging.manifest import plan_print
from printworks.imaging.processor import ImageProcessor, Invalid, PreparedImage, Rendered
from tests.imaging.pictures import (
    CORNERS,
    CROPPED,
    a_picture,
    are_alike,
    corners,
    held,
    read,
    written,
)

# The number of the EXIF tag.
ORIENTATION = 0x112


def as_heic(
    picture: Any, *, orientation: int = 1, mode: str = "RGB", profile: bytes | None = None
) -> bytes:
    """Encode a picture as a telephone does that was held in some way."""
    image = Image.frombytes("RGB", (picture.width, picture.height), picture.write_to_memory())
    noted = Image.Exif()
    noted[ORIENTATION] = orientation
    file = pillow_heif.from_pillow(image.convert(mode))
    file.info["exif"] = noted.tobytes()
    if profile is not None:
        file.info.update(icc_profile=profile, icc_profile_type="prof")
    into = io.BytesIO()
    file.save(into, quality=90, chroma=444)
    return into.getvalue()


@pytest.mark.parametrize("orientation", [1, 3, 5, 6, 8])
def test_a_picture_is_printed_the_way_it_was_taken(
    processor: ImageProcessor, tmp_path: Path, out: Path, orientation: int
) -> None:
    data = as_heic(held(a_picture(), orientation), orientation=orientation)
    source = written(tmp_path, data)
    assert find_format(data[:12]) is Format.HEIC

    prepared = processor.prepare(source, CROPPED, out)

    assert isinstance(prepared, PreparedImage), prepared
    facts = prepared.facts
    assert (facts.format, facts.pixels) == (Format.HEIC, (240, 160))
    assert are_alike(corners(read(prepared.proofs.preview)), CORNERS, 30)
    rendered = processor.render(source, plan_print(prepared.placement), out)
    assert isinstance(rendered, Rendered), rendered
    assert are_alike(corners(read(rendered.file)), CORNERS, 30)


def test_the_colour_profile_is_respected(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    profile = bytes(pyvips.Image.profile_load("p3"))
    wide = a_picture().icc_transform("p3", input_profile="srgb").cast("uchar")
    source = written(tmp_path, as_heic(wide, profile=profile))

    prepared = processor.prepare(source, CROPPED, out)

    assert isinstance(prepared, PreparedImage), prepared
    assert (prepared.facts.has_profile, prepared.facts.colour) == (True, "embedded-profile")
    assert are_alike(corners(read(prepared.proofs.preview)), CORNERS, 30)


@pytest.mark.parametrize("mode", ["RGBA", "L"])
def test_transparency_and_grey_are_read(
    processor: ImageProcessor, tmp_path: Path, out: Path, mode: str
) -> None:
    # A width that no decoder likes, so that rows are padded.
    source = written(tmp_path, as_heic(a_picture(242, 162).crop(0, 0, 241, 161), mode=mode))

    prepared = processor.prepare(source, CROPPED, out)

    assert isinstance(prepared, PreparedImage), prepared
    assert prepared.facts.pixels == (241, 161)
    assert prepared.facts.has_alpha is (mode == "RGBA")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[:-40], "The end of the file is missing."),
        (lambda data: data[:60], "The end of the file is missing."),
        (lambda data: data[:200] + bytes(40) + data[240:], "The header of the picture is damaged."),
        (lambda data: data[:28] + b"\0\0\0\4" * 4, "The file has no picture in it."),
    ],
)
def test_a_damaged_file_is_refused(
    processor: ImageProcessor, tmp_path: Path, out: Path, damage: Any, reason: str
) -> None:
    source = written(tmp_path, damage(as_heic(a_picture())))

    assert processor.prepare(source, CROPPED, out) == Invalid(reason)


def test_pixels_that_cannot_be_decoded_are_refused(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    data = as_heic(a_picture())
    begin = data.index(b"mdat") + 8
    source = written(tmp_path, data[:begin] + bytes(len(data) - begin))

    verdict = processor.prepare(source, CROPPED, out)

    assert verdict == Invalid("The picture is damaged or incomplete.")


def test_a_picture_with_too_many_pixels_is_refused_by_its_header(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    data = as_heic(a_picture())
    begin = data.index(b"ispe") + 8
    huge = (25_000).to_bytes(4, "big")
    source = written(tmp_path, data[:begin] + huge + huge + data[begin + 8 :])

    verdict = processor.prepare(source, CROPPED, out)

    assert isinstance(verdict, Invalid), verdict
