"""Decodes HEIC and HEIF, for which the image library has no decoder, into images of that library.

Only for use in a jailed child.
"""

from pathlib import Path
from typing import Any, Final

import pillow_heif
import pyvips

# The child has one core. What else such a file may hold is not printed, so it is not read.
pillow_heif.options.DECODE_THREADS = 1
pillow_heif.options.THUMBNAILS = False
pillow_heif.options.DEPTH_IMAGES = False
pillow_heif.options.AUX_IMAGES = False

_BANDS: Final = {"L": 1, "LA": 2, "RGB": 3, "RGBA": 4, "RGBa": 4}
_PROFILE: Final = "icc-profile-data"
# The number of the colours of Apple's displays, if a file names them without a profile.
_DISPLAY_P3: Final = 12


def open_header(path: Path) -> Any:
    """Return an image with the size and the profile of a file, and no pixels of it.

    The size is that of the upright picture: the decoder turns it as the file says.
    """
    picture = _open(path)
    width, height = picture.size
    header = pyvips.Image.black(width, height, bands=_BANDS[picture.mode])
    return _describe(header, picture)


def load(path: Path) -> Any:
    """Decode a file to 8 bits for each channel; all of it is in memory then."""
    picture = _open(path)
    try:
        pixels, stride = picture.data, picture.stride
    except (ValueError, RuntimeError, EOFError, SyntaxError) as error:
        raise pyvips.Error(str(error)) from error
    bands = _BANDS[picture.mode]
    width, height = picture.size
    # Rows may be longer than the picture is wide.
    padded = pyvips.Image.new_from_memory(pixels, stride // bands, height, bands, "uchar")
    image = _describe(padded.crop(0, 0, width, height), picture)
    if picture.mode == "RGBa":
        image = image.unpremultiply().cast("uchar")
    return image


def _open(path: Path) -> Any:
    try:
        file = pillow_heif.open_heif(path, convert_hdr_to_8bit=True)
        picture = file[file.primary_index]
    except (ValueError, RuntimeError, EOFError, SyntaxError, IndexError) as error:
        raise pyvips.Error(str(error)) from error
    if picture.mode not in _BANDS:
        raise pyvips.Error(f"pixels of the mode {picture.mode} are not known")
    return picture


def _describe(image: Any, picture: Any) -> Any:
    grey = picture.mode in {"L", "LA"}
    described = image.copy(interpretation="b-w" if grey else "srgb")
    profile = _find_profile(picture.info)
    if profile is not None:
        described.set_type(pyvips.GValue.blob_type, _PROFILE, profile)
    return described


def _find_profile(info: Any) -> bytes | None:
    profile = info.get("icc_profile")
    if profile:
        return bytes(profile)
    named = (info.get("nclx_profile") or {}).get("color_primaries")
    return bytes(pyvips.Image.profile_load("p3")) if named == _DISPLAY_P3 else None
