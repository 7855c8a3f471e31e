"""Whole pictures of every kind are accepted, and their proofs show what will be printed."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import pyvips

from printworks.imaging.formats import Format
from printworks.imaging.processor import ImageProcessor, Invalid, PreparedImage, Proofs
from printworks.rules.sizing import Layout, Pixels, PrintArea, Sizing, Units
from tests.imaging.pictures import (
    AREA,
    BLUE,
    CORNERS,
    CROPPED,
    RED,
    TALL_AREA,
    WHITE,
    a_noisy_picture,
    a_picture,
    are_alike,
    as_jpeg,
    corners,
    held,
    read,
    written,
)

Encode = Callable[[Any], Any]

IN_GREY = ((112,) * 3, (156,) * 3, (79,) * 3, (218,) * 3)


def _grey(picture: Any) -> Any:
    return picture.colourspace("b-w")


def _tagged(profile: str) -> Encode:
    return lambda picture: picture.icc_transform(profile, input_profile="srgb").jpegsave_buffer(
        Q=95, subsample_mode="off", profile=profile
    )


def _untagged_cmyk(picture: Any) -> Any:
    cmyk = picture.icc_transform("cmyk", input_profile="srgb").copy()
    cmyk.remove("icc-profile-data")
    return cmyk


def _half_transparent(picture: Any) -> Any:
    """Opaque on the left, transparent on the right."""
    width, height = picture.width // 2, picture.height
    opaque = pyvips.Image.black(width, height) + 255
    alpha = opaque.join(pyvips.Image.black(width, height), "horizontal").cast("uchar")
    return picture.bandjoin(alpha)


# Read a line as: made like this ... it has these colours in its corners, more or less.
KINDS: dict[str, tuple[Encode, Any, int]] = {
    "baseline JPEG": (lambda p: as_jpeg(p), CORNERS, 14),
    "progressive JPEG": (lambda p: as_jpeg(p, interlace=True), CORNERS, 14),
    "JPEG with restarts": (lambda p: as_jpeg(p, restart_interval=4), CORNERS, 14),
    "4:2:0 JPEG": (lambda p: as_jpeg(p, subsample_mode="on"), CORNERS, 14),
    "grey JPEG": (lambda p: as_jpeg(_grey(p)), IN_GREY, 20),
    "CMYK JPEG with profile": (_tagged("cmyk"), CORNERS, 60),
    "CMYK JPEG without": (lambda p: as_jpeg(_untagged_cmyk(p)), CORNERS, 60),
    "P3 JPEG": (_tagged("p3"), CORNERS, 14),
    "PNG": (lambda p: p.pngsave_buffer(), CORNERS, 14),
    "interlaced PNG": (lambda p: p.pngsave_buffer(interlace=True), CORNERS, 14),
    "palette PNG": (lambda p: p.pngsave_buffer(palette=True), CORNERS, 20),
    "16 bit PNG": (lambda p: p.colourspace("rgb16").pngsave_buffer(), CORNERS, 14),
    "16 bit grey PNG": (lambda p: p.colourspace("grey16").pngsave_buffer(), IN_GREY, 20),
    "1 bit PNG": (lambda p: (_grey(p) > 100).pngsave_buffer(bitdepth=1), None, 0),
    "transparent PNG": (
        lambda p: _half_transparent(p).pngsave_buffer(),
        (RED, WHITE, BLUE, WHITE),
        14,
    ),
    "transparent 16 bit PNG": (
        lambda p: _half_transparent(p).colourspace("rgb16").pngsave_buffer(),
        (RED, WHITE, BLUE, WHITE),
        14,
    ),
    "transparent WebP": (
        lambda p: _half_transparent(p).webpsave_buffer(lossless=True),
        (RED, WHITE, BLUE, WHITE),
        14,
    ),
    "WebP": (lambda p: p.webpsave_buffer(Q=95), CORNERS, 20),
    "raw TIFF": (lambda p: p.tiffsave_buffer(), CORNERS, 14),
    "LZW TIFF": (
        lambda p: p.tiffsave_buffer(compression="lzw", predictor="horizontal"),
        CORNERS,
        14,
    ),
    "tiled TIFF": (lambda p: p.tiffsave_buffer(compression="deflate", tile=True), CORNERS, 14),
    "JPEG in TIFF": (lambda p: p.tiffsave_buffer(compression="jpeg", Q=95), CORNERS, 20),
    "big TIFF": (lambda p: p.tiffsave_buffer(bigtiff=True), CORNERS, 14),
    "16 bit TIFF": (lambda p: p.colourspace("rgb16").tiffsave_buffer(), CORNERS, 14),
    "CMYK TIFF": (lambda p: _untagged_cmyk(p).tiffsave_buffer(), CORNERS, 60),
    "Lab TIFF": (lambda p: p.colourspace("lab").tiffsave_buffer(), CORNERS, 20),
    "fax TIFF": (
        lambda p: (_grey(p) > 100).tiffsave_buffer(compression="ccittfax4", bitdepth=1),
        None,
        0,
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_whole_picture_is_accepted_and_its_colours_are_right(
    kind: str, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    encode, expected, tolerance = KINDS[kind]
    source = written(tmp_path, bytes(encode(a_picture())))

    prepared = processor.prepare(source, CROPPED, out, with_proxy=True)

    assert isinstance(prepared, PreparedImage), prepared
    assert prepared.proxy is not None
    assert prepared.facts.pixels == (240, 160)
    if expected is not None:
        for path in (prepared.proxy, prepared.proofs.preview, prepared.proofs.thumbnail):
            assert are_alike(corners(read(path)), expected, tolerance), path.name


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp"])
def test_a_picture_is_shown_the_way_it_was_taken(
    orientation: int, suffix: str, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    stored = held(a_picture(), orientation)
    source = written(tmp_path, stored.write_to_buffer(suffix))

    prepared = processor.prepare(source, CROPPED, out)

    assert isinstance(prepared, PreparedImage), prepared
    assert prepared.facts.orientation == orientation
    assert prepared.facts.pixels == (240, 160)
    assert are_alike(corners(read(prepared.proofs.preview)), CORNERS, 30)


def test_a_picture_that_is_turned_on_the_paper_is_proofed_upright(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_picture()))

    prepared = processor.prepare(source, Layout(TALL_AREA, Sizing.CROP), out)

    assert isinstance(prepared, PreparedImage), prepared
    assert prepared.placement.is_turned
    preview = read(prepared.proofs.preview)
    assert (preview.width, preview.height) == (240, 160)
    assert are_alike(corners(preview), CORNERS)


def test_where_it_may_not_be_turned_a_picture_is_cropped_instead(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_picture()))

    unturned = TALL_AREA._replace(may_turn=False)
    prepared = processor.prepare(source, Layout(unturned, Sizing.CROP), out)

    assert isinstance(prepared, PreparedImage), prepared
    assert not prepared.placement.is_turned
    preview = read(prepared.proofs.preview)
    assert preview.width < preview.height
    assert are_alike(corners(preview), CORNERS)


def test_what_does_not_fit_is_framed_in_white(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_picture(160, 160)))

    prepared = processor.prepare(source, Layout(AREA, Sizing.SHRINK_TO_FIT), out)

    assert isinstance(prepared, PreparedImage), prepared
    preview = read(prepared.proofs.preview)
    assert (preview.width, preview.height) == (240, 160)
    assert are_alike(corners(preview, inset=0.05), (WHITE,) * 4)
    assert are_alike(corners(preview, inset=0.25), CORNERS)


@pytest.mark.parametrize("sizing", Sizing)
def test_preview_and_thumbnail_have_the_shape_of_the_product(
    sizing: Sizing, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture(2600, 1400)))

    prepared = processor.prepare(source, Layout(AREA, sizing), out)

    assert isinstance(prepared, PreparedImage), prepared
    preview, thumbnail = read(prepared.proofs.preview), read(prepared.proofs.thumbnail)
    assert (preview.width, preview.height) == (1200, 800)
    assert (thumbnail.width, thumbnail.height) == (240, 160)


def test_a_strip_of_a_panorama_is_previewed_in_full_sharpness(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_picture(6000, 1200)))

    prepared = processor.prepare(source, Layout(PrintArea.of(9, 9, Units.INCHES), Sizing.CROP), out)

    assert isinstance(prepared, PreparedImage), prepared
    assert read(prepared.proofs.preview).width >= 1190


@pytest.mark.slow
def test_a_proof_for_another_rule_comes_from_the_proxy_alone(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture(2600, 2600)))
    prepared = processor.prepare(source, CROPPED, out, with_proxy=True)
    assert isinstance(prepared, PreparedImage), prepared
    assert prepared.proxy is not None
    again = tmp_path / "again"
    again.mkdir()

    tall = Layout(TALL_AREA, Sizing.SHRINK_TO_FIT)
    proofs = processor.proof(prepared.proxy, prepared.facts.pixels, tall, again)

    assert isinstance(proofs, Proofs), proofs
    preview = read(proofs.preview)
    assert (preview.width, preview.height) == (800, 1200)
    assert are_alike(corners(preview, inset=0.05), (WHITE,) * 4)


def test_the_proofs_are_the_same_bytes_with_and_without_a_proxy(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture(2600, 1400)))
    beside_it = tmp_path / "beside a proxy"
    beside_it.mkdir()

    alone = processor.prepare(source, CROPPED, out)
    accompanied = processor.prepare(source, CROPPED, beside_it, with_proxy=True)

    assert isinstance(alone, PreparedImage), alone
    assert isinstance(accompanied, PreparedImage), accompanied
    assert (alone.proxy, accompanied.proxy) == (None, beside_it / "proxy.jpg")
    assert sorted(path.name for path in out.iterdir()) == ["preview.jpg", "thumbnail.jpg"]
    for path in out.iterdir():
        assert path.read_bytes() == (beside_it / path.name).read_bytes()


@pytest.mark.slow
def test_a_proof_from_the_proxy_looks_like_the_one_from_the_picture(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture(4032, 3024)))
    prepared = processor.prepare(source, CROPPED, out, with_proxy=True)
    assert isinstance(prepared, PreparedImage), prepared
    assert prepared.proxy is not None
    again = tmp_path / "again"
    again.mkdir()

    proofs = processor.proof(prepared.proxy, prepared.facts.pixels, CROPPED, again)

    assert isinstance(proofs, Proofs), proofs
    for one, other in (
        (prepared.proofs.preview, proofs.preview),
        (prepared.proofs.thumbnail, proofs.thumbnail),
    ):
        assert (read(one) - read(other)).abs().avg() < 2


@pytest.mark.parametrize("suffix", [".tif", ".webp"])
def test_only_the_first_of_several_pages_is_printed(
    suffix: str, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    pages = a_picture().join(a_picture().invert(), "vertical").copy()
    pages.set_type(pyvips.GValue.gint_type, "page-height", 160)
    source = written(tmp_path, pages.write_to_buffer(suffix))

    prepared = processor.prepare(source, CROPPED, out)

    assert isinstance(prepared, PreparedImage), prepared
    assert prepared.facts.pixels == (240, 160)
    assert are_alike(corners(read(prepared.proofs.preview)), CORNERS, 30)


def test_facts_tell_what_the_file_claims(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    picture = _half_transparent(a_picture()).copy(xres=150 / 25.4, yres=150 / 25.4)
    source = written(tmp_path, picture.pngsave_buffer())

    prepared = processor.prepare(source, CROPPED, out)

    assert isinstance(prepared, PreparedImage), prepared
    facts = prepared.facts
    assert (facts.format, facts.bands, facts.has_alpha) == (Format.PNG, 4, True)
    assert facts.dpi == pytest.approx(150, abs=0.5)
    assert not facts.has_profile


def test_nothing_that_is_drawn_tells_where_the_picture_was_taken(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    picture = a_picture().copy()
    picture.set_type(pyvips.GValue.gstr_type, "exif-ifd3-GPSLatitude", "51/1 30/1 0/1")
    picture.set_type(pyvips.GValue.gstr_type, "exif-ifd0-Make", "Secret Camera")
    picture.set_type(pyvips.GValue.blob_type, "xmp-data", b"<x:xmpmeta>secret</x:xmpmeta>")
    data = as_jpeg(picture)
    assert b"Secret Camera" in data
    assert b"xmpmeta" in data

    prepared = processor.prepare(written(tmp_path, data), CROPPED, out, with_proxy=True)

    assert isinstance(prepared, PreparedImage), prepared
    assert len(list(out.iterdir())) == 3
    for path in out.iterdir():
        drawn = path.read_bytes().lower()
        assert b"exif" not in drawn
        assert b"secret" not in drawn
        assert not [name for name in read(path).get_fields() if name.startswith(("exif", "xmp"))]


def test_a_proxy_of_another_format_is_refused(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    proxy = written(tmp_path, a_picture().pngsave_buffer())

    verdict = processor.proof(proxy, Pixels(600, 300), CROPPED, out)

    assert verdict == Invalid("The file is not a picture of a format that is accepted: JPEG.")


def test_asking_does_not_load_the_image_library() -> None:
    look = (
        "import sys, printworks.imaging, printworks.imaging.processor, printworks.imaging.manifest;"
        "sys.exit('pyvips' in sys.modules)"
    )

    assert subprocess.run([sys.executable, "-c", look], check=False).returncode == 0
