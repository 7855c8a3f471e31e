"""Files that are cut, damaged or made to hurt: each gets a verdict, soon, and nothing breaks."""

import random
import struct
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from printworks.imaging.messages import MIB
from printworks.imaging.processor import CannotBeProcessed, ImageProcessor, Invalid, PreparedImage
from tests.imaging.pictures import CROPPED, a_noisy_picture, as_jpeg, drawn_apart, written

KINDS: dict[str, Callable[[Any], Any]] = {
    "baseline JPEG": as_jpeg,
    "progressive JPEG": lambda p: as_jpeg(p, interlace=True),
    "CMYK JPEG": lambda p: as_jpeg(p.icc_transform("cmyk", input_profile="srgb")),
    "PNG": lambda p: p.pngsave_buffer(),
    "interlaced 16 bit PNG": lambda p: p.colourspace("rgb16").pngsave_buffer(interlace=True),
    "palette PNG": lambda p: p.pngsave_buffer(palette=True),
    "raw TIFF": lambda p: p.tiffsave_buffer(),
    "LZW TIFF": lambda p: p.tiffsave_buffer(compression="lzw"),
    "tiled TIFF": lambda p: p.tiffsave_buffer(compression="deflate", tile=True),
    "JPEG in TIFF": lambda p: p.tiffsave_buffer(compression="jpeg"),
    "WebP": lambda p: p.webpsave_buffer(),
    "lossless WebP": lambda p: p.webpsave_buffer(lossless=True),
}


def _cut(data: bytes, chance: random.Random) -> bytes:
    return data[: chance.randrange(1, len(data))]


def _flip(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(chance.choice((1, 4, 20))):
        changed[chance.randrange(len(changed))] ^= 1 << chance.randrange(8)
    return bytes(changed)


def _spoil_head(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(8):
        changed[chance.randrange(12, min(400, len(changed)))] = chance.randrange(256)
    return bytes(changed)


def _spoil_tail(data: bytes, chance: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(8):
        changed[-chance.randrange(1, min(400, len(changed)))] = chance.randrange(256)
    return bytes(changed)


def _drop(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(20, len(data) - 20)
    return data[:start] + data[start + chance.randrange(1, 400) :]


DAMAGES = (_cut, _flip, _flip, _spoil_head, _spoil_tail, _drop)
ROUNDS = 4


def test_there_are_enough_of_them() -> None:
    assert len(KINDS) * len(DAMAGES) * ROUNDS >= 200


@pytest.mark.parametrize("kind", KINDS)
def test_damage_of_any_sort_gets_a_verdict(
    kind: str, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    whole = bytes(KINDS[kind](a_noisy_picture()))
    chance = random.Random(kind)

    for _ in range(ROUNDS):
        for damage in DAMAGES:
            data = damage(whole, chance)
            verdict = processor.prepare(written(tmp_path, data), CROPPED, out)

            # A child that had crashed would have come to no verdict; and it had 1 GiB.
            assert isinstance(verdict, PreparedImage | Invalid), (damage, verdict)


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_that_is_cut_anywhere_is_refused(
    kind: str, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    whole = bytes(KINDS[kind](a_noisy_picture()))

    for tenths in (0.02, 1, 3, 5, 7, 9, 9.9):
        data = whole[: round(len(whole) * tenths / 10)]
        verdict = processor.prepare(written(tmp_path, data), CROPPED, out)

        assert isinstance(verdict, Invalid), (tenths, verdict)


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def _png(width: int, height: int, *, depth: int = 8, colour: int = 2, interlaced: int = 0) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + _chunk(
        b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlaced)
    )


def _empty_png(width: int, height: int) -> bytes:
    """A picture of nothing, which takes a thousandth of its size."""
    packer = zlib.compressobj(9)
    row = bytes(1 + width * 3)
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    return _png(width, height) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def _tiff(width: int, height: int, *, strip: int, bands: int = 3) -> bytes:
    entries = [
        (256, 4, 1, width),
        (257, 4, 1, height),
        (258, 3, 1, 8),
        (259, 3, 1, 8),
        (262, 3, 1, 2 if bands == 3 else 1),
        (273, 4, 1, 8),
        (277, 3, 1, bands),
        (278, 4, 1, height),
        (279, 4, 1, strip),
    ]
    body = zlib.compress(bytes(100_000))
    directory = struct.pack("<H", len(entries))
    directory += b"".join(struct.pack("<HHII", *entry) for entry in entries) + bytes(4)
    return b"II*\0" + struct.pack("<I", 8 + len(body)) + body + directory


def _jpeg_that_claims(width: int, height: int) -> bytes:
    data = bytearray(drawn_apart(lambda: as_jpeg(a_noisy_picture())))
    frame = data.index(b"\xff\xc0")
    struct.pack_into(">HH", data, frame + 5, height, width)
    return bytes(data)


def _bombs() -> Iterator[tuple[str, bytes]]:
    end = _chunk(b"IDAT", zlib.compress(bytes(1000))) + _chunk(b"IEND", b"")
    yield "PNG of 60000 x 60000", _png(60_000, 60_000) + end
    yield "PNG of 2 billion", _png(2**31 - 1, 2**31 - 1) + end
    yield "PNG without pixels", _png(0, 0) + end
    yield "interlaced PNG of 14000 x 14000", _png(14_000, 14_000, depth=16, interlaced=1) + end
    # Packed once, and at the quickest level: it is done to list them.
    endless = zlib.compress(bytes(200 * MIB), 1)
    text = _chunk(b"zTXt", b"Comment\0\0" + endless)
    yield "PNG with endless text", _png(100, 100) + text + end
    profile = _chunk(b"iCCP", b"x\0\0" + endless)
    yield "PNG with an endless profile", _png(100, 100) + profile + end
    yield "JPEG of 65500 x 65500", _jpeg_that_claims(65_500, 65_500)
    yield "JPEG of 29000 x 6000", _jpeg_that_claims(29_000, 6_000)
    yield "TIFF of one huge strip", _tiff(29_000, 6_000, strip=110_000)
    yield "TIFF with a strip beyond the end", _tiff(1000, 1000, strip=2**31)
    yield "TIFF of many channels", _tiff(1000, 1000, strip=200, bands=60_000)
    yield "TIFF that leads in circles", b"II*\0\x08\0\0\0\x00\x00\x08\0\0\0"
    yield (
        "WebP of 16383 x 16383",
        (b"RIFF\x16\0\0\0WEBPVP8L\x09\0\0\0\x2f\xff\xff\xff\x0f" + bytes(8)),
    )
    yield "GIF", b"GIF89a\x01\0\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;"
    yield "SVG", b"<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
    yield "PDF", b"%PDF-1.7\n%%EOF"
    yield "CSV", b"1,2,3\n4,5,6\n"
    yield "matrix", b"2 2\n1 2\n3 4\n"
    yield "script", b"#!/bin/sh\nrm -rf /\n"
    yield "page", b"<!doctype html><title>404</title>"
    yield "one byte", b"\xff"
    yield "JPEG's first bytes", b"\xff\xd8\xff"
    yield "end before the beginning", b"\xff\xd8\xff\xd9"
    yield "JPEG of markers", b"\xff\xd8" + b"\xff" * 100_000
    yield "JPEG of scans", b"\xff\xd8" + b"\xff\xda\x00\x02" * 100_000 + b"\xff\xd9"
    yield "JPEG of empty segments", b"\xff\xd8" + b"\xff\xe0\x00\x00" * 50_000


@pytest.mark.parametrize(("name", "data"), [pytest.param(*bomb, id=bomb[0]) for bomb in _bombs()])
def test_bombs_and_strangers_are_refused(
    name: str, data: bytes, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    verdict = processor.prepare(written(tmp_path, data), CROPPED, out)

    assert isinstance(verdict, Invalid | CannotBeProcessed), verdict
    if isinstance(verdict, CannotBeProcessed):
        assert "processor" in verdict.reason


def test_a_picture_that_is_too_large_is_told_so(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, _empty_png(30_001, 2))

    verdict = processor.prepare(source, CROPPED, out)

    assert verdict == Invalid(
        "The picture has 30001 x 2 pixels; at most 30000 on a side and 200 million in all "
        "can be printed."
    )


@pytest.mark.slow
def test_one_of_the_largest_pictures_stays_within_its_limits(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, _empty_png(13_000, 13_000))

    prepared = processor.prepare(source, CROPPED, out)

    assert isinstance(prepared, PreparedImage | CannotBeProcessed), prepared
    if isinstance(prepared, PreparedImage):
        assert prepared.proofs.cost.peak_memory < 256 * MIB


def test_what_follows_the_picture_is_ignored_and_not_passed_on(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture()) + b"<?php evil(); ?>" + b"PK\x03\x04")

    prepared = processor.prepare(source, CROPPED, out)

    assert isinstance(prepared, PreparedImage), prepared
    assert all(b"evil" not in path.read_bytes() for path in out.iterdir())
