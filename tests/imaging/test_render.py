"""The print file: what the proof promised, at the exact size, and the same every time."""

from fractions import Fraction
from pathlib import Path

import msgspec
import pytest
import pyvips
from hypothesis import given
from hypothesis import strategies as st

from printworks.imaging.manifest import Manifest, find_sha256, plan_print
from printworks.imaging.processor import ImageProcessor, Invalid, PreparedImage, Proofs, Rendered
from printworks.rules.sizing import CropPosition, Layout, Pixels, PrintArea, Sizing, Units, place
from tests.imaging.pictures import (
    AREA,
    BLUE,
    GREEN,
    RED,
    TALL_AREA,
    YELLOW,
    a_noisy_picture,
    a_picture,
    are_alike,
    as_jpeg,
    corners,
    held,
    read,
    written,
)

SQUARE_AREA = PrintArea.of(5, 5, Units.INCHES)


@pytest.mark.parametrize("sizing", Sizing)
@pytest.mark.parametrize("area", [AREA, TALL_AREA, SQUARE_AREA])
@pytest.mark.parametrize("orientation", [1, 2, 3, 4, 5, 6, 7, 8])
def test_the_print_is_what_the_proof_showed(
    sizing: Sizing,
    area: PrintArea,
    orientation: int,
    processor: ImageProcessor,
    tmp_path: Path,
    out: Path,
) -> None:
    source = written(tmp_path, as_jpeg(held(a_picture(600, 300), orientation)))
    prepared = processor.prepare(source, Layout(area, sizing), out)
    assert isinstance(prepared, PreparedImage), prepared

    rendered = processor.render(source, plan_print(prepared.placement), out)

    assert isinstance(rendered, Rendered), rendered
    drawn, proof = read(rendered.file), read(prepared.proofs.preview)
    assert (drawn.width, drawn.height) == rendered.manifest.plan.canvas
    if prepared.placement.is_turned:
        # It is turned clockwise on the paper, and shown upright to people.
        drawn = drawn.rot270().copy_memory()
    for inset in (0.03, 0.2, 0.4):
        assert are_alike(corners(drawn, inset), corners(proof, inset), 25)
    same_size = drawn.resize(proof.width / drawn.width, vscale=proof.height / drawn.height)
    assert (same_size - proof).abs().avg() < 4


@pytest.mark.parametrize(
    ("position", "colours"),
    [
        # Of a picture of 600 x 300, the left and the right half of the square that is printed.
        (CropPosition(0, 0.5, 1), (RED, RED, BLUE, BLUE)),
        (CropPosition(1, 0.5, 1), (GREEN, GREEN, YELLOW, YELLOW)),
        (CropPosition(0.5, 0.5, 1), (RED, GREEN, BLUE, YELLOW)),
        # Enlarged, one field of colour fills all of it.
        (CropPosition(0, 0, 2), (RED,) * 4),
        (CropPosition(1, 0, 2), (GREEN,) * 4),
        (CropPosition(0, 1, 2), (BLUE,) * 4),
        (CropPosition(1, 1, 4), (YELLOW,) * 4),
    ],
)
@pytest.mark.parametrize("orientation", [1, 6])
def test_a_position_crops_the_proof_and_the_print_alike(
    position: CropPosition,
    colours: tuple[tuple[int, int, int], ...],
    orientation: int,
    processor: ImageProcessor,
    tmp_path: Path,
    out: Path,
) -> None:
    source = written(tmp_path, as_jpeg(held(a_picture(600, 300), orientation)))
    prepared = processor.prepare(source, Layout(SQUARE_AREA, Sizing.CROP, position), out)
    assert isinstance(prepared, PreparedImage), prepared

    rendered = processor.render(source, plan_print(prepared.placement), out)

    assert isinstance(rendered, Rendered), rendered
    assert rendered.manifest.plan.position == position
    for file in (rendered.file, prepared.proofs.preview, prepared.proofs.thumbnail):
        assert are_alike(corners(read(file), 0.2), colours, 30)


def test_a_proof_from_the_proxy_is_cropped_as_the_picture_is(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_picture(600, 300)))
    prepared = processor.prepare(source, Layout(SQUARE_AREA, Sizing.CROP), out, with_proxy=True)
    assert isinstance(prepared, PreparedImage), prepared
    assert prepared.proxy is not None

    enlarged = Layout(SQUARE_AREA, Sizing.CROP, CropPosition(1, 0, 2))
    proofs = processor.proof(prepared.proxy, Pixels(600, 300), enlarged, tmp_path)

    assert isinstance(proofs, Proofs), proofs
    assert are_alike(corners(read(proofs.preview), 0.2), (GREEN,) * 4, 30)


@pytest.mark.parametrize(
    ("dpi", "canvas"), [(300, Pixels(1800, 1200)), (240, Pixels(1440, 960)), (72, Pixels(432, 288))]
)
def test_the_density_gives_the_exact_size_of_the_product(
    dpi: int, canvas: Pixels, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture(2000, 1400)))
    plan = plan_print(place(Pixels(2000, 1400), AREA, Sizing.CROP), most_dpi=dpi)

    rendered = processor.render(source, plan, out)

    assert isinstance(rendered, Rendered), rendered
    drawn = read(rendered.file)
    assert (drawn.width, drawn.height) == canvas
    assert drawn.width / (drawn.xres * 25.4) == pytest.approx(6)
    assert drawn.height / (drawn.yres * 25.4) == pytest.approx(4)


def test_the_print_keeps_full_colour_resolution_and_says_that_it_is_srgb(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_picture(), profile="p3"))

    rendered = processor.render(source, plan_print(place(Pixels(240, 160), AREA, Sizing.CROP)), out)

    assert isinstance(rendered, Rendered), rendered
    drawn = read(rendered.file)
    assert drawn.get("jpeg-chroma-subsample") == "4:4:4"
    assert drawn.interpretation == "srgb"
    assert drawn.get("icc-profile-data") == pyvips.Image.profile_load("srgb")
    assert rendered.manifest.colour == "embedded-profile"


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp"])
def test_the_manifest_draws_the_same_file_again(
    suffix: str, processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, held(a_noisy_picture(900, 500), 8).write_to_buffer(suffix))
    plan = plan_print(place(Pixels(900, 500), TALL_AREA, Sizing.SHRINK_TO_FIT))
    first = processor.render(source, plan, out)
    assert isinstance(first, Rendered), first
    stored = msgspec.json.encode(first.manifest)
    again = tmp_path / "again"
    again.mkdir()

    manifest = msgspec.json.decode(stored, type=Manifest)
    second = processor.render(source, manifest.plan, again)

    assert isinstance(second, Rendered), second
    assert second.manifest == manifest
    assert manifest.source_sha256 == find_sha256(source)
    assert manifest.output_sha256 == find_sha256(second.file)
    assert manifest.library == ".".join(str(pyvips.version(part)) for part in range(3))


def test_another_picture_than_the_planned_one_is_refused(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_picture(300, 200)))

    verdict = processor.render(source, plan_print(place(Pixels(240, 160), AREA, Sizing.CROP)), out)

    assert verdict == Invalid("The picture is not the one that the print was planned for.")


def test_a_damaged_picture_is_refused_here_too(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    whole = as_jpeg(a_noisy_picture())
    source = written(tmp_path, whole[: len(whole) // 2] + whole[-2:])

    verdict = processor.render(source, plan_print(place(Pixels(240, 160), AREA, Sizing.CROP)), out)

    assert verdict == Invalid("The picture is damaged or incomplete.")


sides = st.integers(100, 30_000).map(lambda tenths: Fraction(tenths, 254))


@given(
    st.builds(Pixels, st.integers(1, 30_000), st.integers(1, 30_000)),
    st.builds(PrintArea, sides, sides),
    st.sampled_from(Sizing),
    st.integers(1, 600),
)
def test_a_plan_never_enlarges_and_is_never_denser_than_wanted(
    picture: Pixels, area: PrintArea, sizing: Sizing, most_dpi: int
) -> None:
    placement = place(picture, area, sizing)

    plan = plan_print(placement, most_dpi=most_dpi)

    assert 1 <= plan.dpi <= most_dpi
    if placement.effective_dpi >= 1:
        # To the pixel that rounding may add.
        assert plan.on_canvas.width <= placement.printed.width + 1
        assert plan.on_canvas.height <= placement.printed.height + 1
