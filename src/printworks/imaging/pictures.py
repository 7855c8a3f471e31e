"""Decodes pictures: opens a file with the right loader, within limits, and converts it to sRGB.

Only for use in a jailed child: this is where untrusted bytes reach a decoder.
"""

import mmap
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeVar

import pyvips

from printworks.imaging import heif
from printworks.imaging.formats import (
    LOADERS,
    MOST_SCANS,
    Format,
    find_damage,
    find_format,
    has_too_many_scans,
)
from printworks.imaging.messages import MIB, Colour, Facts
from printworks.rules.sizing import Pixels

T = TypeVar("T")

LONGEST_SIDE: Final = 30_000
MOST_PIXELS: Final = 200_000_000
MOST_BANDS: Final = 5
# The memory that a decoder may use if it cannot work line by line; the rest of the child's
# memory is for the library itself and its buffers.
MOST_HELD: Final = 640 * MIB

# Warnings about pictures in which nothing is missing; any other one rejects the picture.
HARMLESS: Final = re.compile(
    r"extraneous bytes before marker|unknown JFIF revision|"
    r"Invalid SOS parameters|Unknown Adobe color transform"
)

_BYTES: Final = {"uchar": 1, "char": 1, "ushort": 2, "short": 2, "uint": 4, "int": 4, "float": 4}
_WHITE: Final = {"uchar": 255.0, "ushort": 65535.0}


class PictureRefusal(Exception):
    """The picture cannot be printed; the message is a sentence for the merchant."""


@dataclass(frozen=True)
class DecodedPicture:
    """A file whose header is valid; no pixel is decoded yet."""

    path: Path
    format: Format
    header: Any

    @property
    def stored(self) -> Pixels:
        """The size in the file."""
        return Pixels(self.header.width, self.header.height)

    @property
    def orientation(self) -> int:
        noted = self.header.get("orientation") if self.header.get_typeof("orientation") else 1
        return noted if 1 <= noted <= 8 else 1

    @property
    def pixels(self) -> Pixels:
        """The size as a person sees it."""
        return self.stored.turned() if self.orientation >= 5 else self.stored

    def load(self, *, fail_on: str, shrink: int = 1) -> Any:
        """Open it for one pass from top to bottom, on white where it is transparent.

        Only a JPEG can be shrunk by its decoder. `fail_on` belongs here: the library's
        own functions for thumbnails ignore it.
        """
        options = {"shrink": shrink} if shrink > 1 else {}
        if self.format is Format.HEIC:
            image = heif.load(self.path)
        else:
            image = _open(self.path, self.format, fail_on=fail_on, **options)
        if not image.hasalpha():
            return image
        white = 0.0 if image.interpretation == "cmyk" else _WHITE.get(image.format, 1.0)
        return image.flatten(background=[white])

    def facts(self, colour: Colour) -> Facts:
        header = self.header
        return Facts(
            format=self.format,
            width=self.pixels.width,
            height=self.pixels.height,
            orientation=self.orientation,
            dpi=round(header.xres * 25.4, 2),
            colour_space=header.interpretation,
            bands=header.bands,
            has_alpha=bool(header.hasalpha()),
            has_profile=_has_profile(header),
            colour=colour,
        )


def open_picture(path: Path, formats: frozenset[Format]) -> DecodedPicture:
    """Read the header of a file; refuse other formats, truncated files and too large pictures."""
    kind = _find_format(path, formats)
    try:
        picture = DecodedPicture(path, kind, _open(path, kind, fail_on="none"))
    except pyvips.Error as error:
        raise PictureRefusal("The header of the picture is damaged.") from error
    _check_size(picture)
    _check_scans(picture)
    return picture


def decode(work: Callable[[str], T]) -> T:
    """Run `work` with strict decoding; tolerate only warnings that are known to be harmless.

    The library's level `error` would accept half a picture that only has its end marker.
    """
    try:
        try:
            return work("warning")
        except pyvips.Error as error:
            if not _is_harmless(error):
                raise
            return work("error")
    except pyvips.Error as error:
        if "out of memory" in str(error) or "allocate" in str(error):
            raise PictureRefusal("The picture needs too much memory.") from error
        raise PictureRefusal("The picture is damaged or incomplete.") from error


def _is_harmless(error: Exception) -> bool:
    # The first line names the operation, each of the others is a warning of the decoder.
    warnings = [line for line in str(error).splitlines()[1:] if line.strip()]
    return bool(warnings) and all(HARMLESS.search(line) for line in warnings)


def to_srgb(image: Any) -> tuple[Any, Colour]:
    """Convert a picture to 8 bits of sRGB, and return by which step.

    The colour management is used only with a profile: for an untagged picture it would cost
    three times as much and change nothing.
    """
    is_cmyk = image.interpretation == "cmyk"
    if _has_profile(image):
        try:
            return image.icc_transform("srgb", embedded=True), "embedded-profile"
        except pyvips.Error:
            # Ignore a profile that is broken or of another colour space.
            image = image.copy()
            image.remove("icc-profile-data")
    if is_cmyk:
        return image.icc_transform("srgb", input_profile="cmyk"), "default-cmyk-profile"
    if image.interpretation == "srgb" and image.format == "uchar":
        return image, "none"
    return image.colourspace("srgb").cast("uchar"), "to-srgb"


def _find_format(path: Path, formats: frozenset[Format]) -> Format:
    with path.open("rb") as file:
        kind = find_format(file.read(12))
        if kind is None or kind not in formats:
            names = ", ".join(sorted(formats))
            raise PictureRefusal(
                f"The file is not a picture of a format that is accepted: {names}."
            )
    with _mapped(path) as contents:
        damage = find_damage(kind, contents)
    if damage is not None:
        raise PictureRefusal(damage)
    return kind


def _mapped(path: Path) -> mmap.mmap:
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _open(path: Path, kind: Format, **options: Any) -> Any:
    if kind is Format.HEIC:
        return heif.open_header(path)
    load = getattr(pyvips.Image, LOADERS[kind].operation)
    return load(str(path), access="sequential", **options)


def _check_size(picture: DecodedPicture) -> None:
    header, size = picture.header, picture.stored
    if max(size) > LONGEST_SIDE or size.width * size.height > MOST_PIXELS:
        raise PictureRefusal(
            f"The picture has {size.width} x {size.height} pixels; at most {LONGEST_SIDE} on a "
            f"side and {MOST_PIXELS // 1_000_000} million in all can be printed."
        )
    if header.bands > MOST_BANDS:
        raise PictureRefusal(
            f"The picture has {header.bands} channels; at most {MOST_BANDS} are known."
        )
    if size.width * size.height * _held_for_pixel(picture) > MOST_HELD:
        raise PictureRefusal("The picture needs too much memory for the way in which it is stored.")


def _check_scans(picture: DecodedPicture) -> None:
    """Refuse a small file with thousands of scans, each of which decodes the whole picture.

    The decoder tells whether there is more than one; most pictures have one, and are not
    searched.
    """
    if not _has_several_scans(picture):
        return
    with _mapped(picture.path) as contents:
        if has_too_many_scans(contents):
            raise PictureRefusal(f"The picture is made of more than {MOST_SCANS} scans.")


def _has_several_scans(picture: DecodedPicture) -> bool:
    # The field is in the header of every JPEG: its value counts.
    return picture.format is Format.JPEG and picture.header.get("jpeg-multiscan") != 0


def _held_for_pixel(picture: DecodedPicture) -> int:
    """Return the bytes that the decoder needs for each pixel; 0 if it works line by line."""
    header = picture.header
    match picture.format:
        case Format.JPEG:
            return 2 * header.bands if _has_several_scans(picture) else 0
        case Format.PNG:
            is_interlaced = header.get_typeof("interlaced")
            return header.bands * _BYTES.get(header.format, 8) if is_interlaced else 0
        case Format.WEBP:
            return 8
        case Format.HEIC:
            # The planes of its colours, the pixels made of them, and a copy.
            return 10
        case Format.TIFF:
            # Its strips may have any size; the limit of the process decides.
            return 0


def _has_profile(image: Any) -> bool:
    return bool(image.get_typeof("icc-profile-data"))
