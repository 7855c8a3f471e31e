"""Which files may be decoded at all, by their first bytes and their structure.

This only reads bytes: no decoder has read the file yet.
"""

import re
from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple, Protocol


class Format(StrEnum):
    """A file format that can be printed."""

    HEIC = "HEIC"
    JPEG = "JPEG"
    PNG = "PNG"
    TIFF = "TIFF"
    WEBP = "WebP"


class Loader(NamedTuple):
    """How the image library reads a format."""

    # The function, and its class, which is the one to leave unblocked.
    operation: str
    unblock: str


# All but HEIC, which `heif.py` reads. By name: by default the library would use another loader for a JPEG with a gain map.
LOADERS: Final[Mapping[Format, Loader]] = {
    Format.JPEG: Loader("jpegload", "VipsForeignLoadJpegFile"),
    Format.PNG: Loader("pngload", "VipsForeignLoadPngFile"),
    Format.TIFF: Loader("tiffload", "VipsForeignLoadTiffFile"),
    Format.WEBP: Loader("webpload", "VipsForeignLoadWebpFile"),
}

EVERY_FORMAT: Final = frozenset(Format)

# Cameras and encoders write about ten; each one decodes the whole picture.
MOST_SCANS: Final = 64

_PNG: Final = b"\x89PNG\r\n\x1a\n"
_PNG_END: Final = b"\0\0\0\0IEND\xaeB`\x82"
# Still pictures in HEVC; `mif1` is what some cameras and converters write first.
_HEIF_BRANDS: Final = frozenset({b"heic", b"heix", b"heim", b"heis", b"mif1"})
_SCAN: Final = b"\xff\xda"
_JPEG_END: Final = b"\xff\xd9"
_AFTER_SCAN: Final = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
# Between a marker's letter and its data; these few have no length.
_ALONE: Final = frozenset({0x01, *range(0xD0, 0xD9)})


class FileContents(Protocol):
    """Bytes, or a file mapped into memory."""

    def __len__(self) -> int: ...

    def __getitem__(self, part: slice, /) -> bytes: ...

    def find(self, what: bytes, start: int = ..., end: int = ..., /) -> int:
        """Return the first position of these bytes, or -1."""

    def rfind(self, what: bytes, start: int = ..., end: int = ..., /) -> int:
        """Return the last position of these bytes, or -1."""


def find_format(head: bytes) -> Format | None:
    """Return the format by the first 12 bytes, or None if it is not accepted."""
    if head.startswith(b"\xff\xd8\xff"):
        return Format.JPEG
    if head.startswith(_PNG):
        return Format.PNG
    if head.startswith((b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")):
        return Format.TIFF
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return Format.WEBP
    if head[4:8] == b"ftyp" and head[8:12] in _HEIF_BRANDS:
        return Format.HEIC
    return None


def find_damage(kind: Format, contents: FileContents) -> str | None:
    """Return what is wrong with the structure of a file, or None if it looks complete.

    Decoders tolerate a missing end if it is close enough to the last row.
    """
    match kind:
        case Format.HEIC:
            return _find_heif_damage(contents)
        case Format.JPEG:
            return _find_jpeg_damage(contents)
        case Format.PNG:
            return None if contents.rfind(_PNG_END) > 0 else "The end of the file is missing."
        case Format.WEBP:
            expected = int.from_bytes(contents[4:8], "little") + 8
            return None if len(contents) >= expected else "The end of the file is missing."
        case Format.TIFF:
            # It has no end marker; a missing strip is noticed when it is read.
            return None


def has_too_many_scans(contents: FileContents) -> bool:
    """Return whether a JPEG has so many scans that it would take forever to decode.

    In picture data 0xff is always followed by zero or a restart marker. Call this only if the
    decoder will read more than one scan: it reads every byte.
    """
    place = _find_first_scan(contents)
    scans = 0
    while place is not None and place >= 0 and scans <= MOST_SCANS:
        scans += 1
        place = contents.find(_SCAN, place + 2)
    return scans > MOST_SCANS


def is_plain_jpeg(contents: bytes) -> bool:
    """Say whether a JPEG has nothing in it but a picture: no metadata, and no data after its end."""
    place = 2
    while len(head := contents[place : place + 4]) >= 2 and head[0] == 0xFF:
        if head[:2] == _JPEG_END:
            return contents.startswith(b"\xff\xd8") and place + 2 == len(contents)
        if head[1] in _ALONE or _is_metadata(head[1]):
            return False
        place += 2 + int.from_bytes(head[2:4], "big")
        if head[1] == _SCAN[1]:
            # Within a scan, a byte 0xFF is followed by zero, or by the number of a restart.
            found = _AFTER_SCAN.search(contents, place)
            place = found.start() if found else len(contents)
    return False


def _is_metadata(marker: int) -> bool:
    # APP0 has the density alone; COM is a comment.
    return 0xE1 <= marker <= 0xEF or marker == 0xFE


def _find_heif_damage(contents: FileContents) -> str | None:
    """Walk along the boxes of a file, each of which says how long it is."""
    place = 0
    while len(head := contents[place : place + 16]) >= 8:
        size = int.from_bytes(head[:4], "big")
        if size == 1:
            size = int.from_bytes(head[8:16], "big")
        elif size == 0:
            # It goes to the end of the file.
            return None
        if size < 8:
            return "The file has no picture in it."
        place += size
    return None if place <= len(contents) else "The end of the file is missing."


def _find_jpeg_damage(contents: FileContents) -> str | None:
    start = _find_first_scan(contents)
    if start is None:
        return "The file has no picture in it."
    # More data after the end is allowed: phones append a second picture or a video.
    if contents.rfind(_JPEG_END, start) < 0:
        return "The end of the file is missing."
    return None


def _find_first_scan(contents: FileContents) -> int | None:
    """Skip the headers, which may contain a thumbnail with scans of its own."""
    place = 2
    while len(head := contents[place : place + 4]) == 4:
        if head[0] != 0xFF:
            # Stray bytes between segments; decoders look for the next marker as well.
            place = contents.find(b"\xff", place)
            if place < 0:
                return None
        elif head[1] == 0xDA:
            return place
        elif head[1] in (0x00, 0xFF):
            place += 1
        elif head[1] in _ALONE:
            place += 2
        else:
            place += 2 + int.from_bytes(head[2:4], "big")
    return None
