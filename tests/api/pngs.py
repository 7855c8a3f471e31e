"""Pictures written by hand: the image library belongs in another process than these tests."""

import struct
import zlib
from typing import NamedTuple

RED, GREEN, BLUE, YELLOW = b"\xdc\x1e\x1e", b"\x1e\xb4\x3c", b"\x28\x3c\xc8", b"\xf0\xdc\x28"


class Size(NamedTuple):
    """Pixels across and down."""

    width: int
    height: int


def a_png(width: int = 1200, height: int = 1800) -> bytes:
    """Draw four fields of colour."""
    left, right = width // 2, width - width // 2
    top = b"\x00" + RED * left + GREEN * right
    bottom = b"\x00" + BLUE * left + YELLOW * right
    rows = top * (height // 2) + bottom * (height - height // 2)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 1)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def _chunk(kind: bytes, data: bytes) -> bytes:
    check = zlib.crc32(kind + data)
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)


def measure_jpeg(data: bytes) -> Size:
    """Read the size of a JPEG from its frame header, past the segments before it."""
    assert data.startswith(b"\xff\xd8")
    assert data.endswith(b"\xff\xd9")
    place = 2
    while data[place + 1] not in (0xC0, 0xC1, 0xC2):
        place += 2 + struct.unpack_from(">H", data, place + 2)[0]
    height, width = struct.unpack_from(">HH", data, place + 5)
    return Size(width, height)
