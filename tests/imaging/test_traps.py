"""What the image library does behind one's back, trap by trap.

Each was measured before anything was built. Run these after every upgrade of the library.
"""

from pathlib import Path

import pytest
import pyvips

from printworks.imaging.formats import MOST_SCANS
from printworks.imaging.manifest import plan_print
from printworks.imaging.processor import ImageProcessor, Invalid, PreparedImage, Rejected, Rendered
from printworks.rules.sizing import Layout, Pixels, PrintArea, Sizing, Units, place
from tests.imaging.pictures import (
    AREA,
    CORNERS,
    a_noisy_picture,
    a_picture,
    are_alike,
    as_jpeg,
    corners,
    held,
    read,
    written,
)

pytestmark = pytest.mark.slow

DAMAGED = Invalid("The picture is damaged or incomplete.")
CUT_OFF = Invalid("The end of the file is missing.")


class Preparer:
    """Prepares bytes instead of files."""

    def __init__(self, processor: ImageProcessor, folder: Path) -> None:
        self._processor = processor
        self._folder = folder
        self.out = folder / "out"
        self.out.mkdir()

    def __call__(self, data: bytes, area: PrintArea = AREA) -> PreparedImage | Rejected:
        source = written(self._folder, data)
        return self._processor.prepare(source, Layout(area, Sizing.CROP), self.out)


@pytest.fixture
def prepare(processor: ImageProcessor, tmp_path: Path) -> Preparer:
    return Preparer(processor, tmp_path)


def test_a_cut_picture_is_refused_though_the_library_would_make_a_thumbnail(
    prepare: Preparer,
) -> None:
    whole = as_jpeg(a_noisy_picture())
    # With its end marker, so that nothing but the decoder can notice.
    cut = whole[: len(whole) * 6 // 10] + whole[-2:]

    assert pyvips.Image.thumbnail_buffer(cut, 100, fail_on="warning").avg() > 0
    assert prepare(cut) == DAMAGED


@pytest.mark.parametrize(("width", "height"), [(240, 160), (242, 162), (250, 174)])
def test_a_cut_in_the_last_partial_row_is_refused(
    width: int, height: int, prepare: Preparer
) -> None:
    whole = as_jpeg(a_noisy_picture(width, height), subsample_mode="on")

    verdicts = {prepare(whole[:-missing]) for missing in (1, 2, 3, 5, 9, 17, 40, 90)}

    assert verdicts == {CUT_OFF}


def test_missing_data_is_refused_even_when_the_end_is_there(prepare: Preparer) -> None:
    for interlace in (False, True):
        whole = as_jpeg(a_noisy_picture(), interlace=interlace)

        assert prepare(whole[: len(whole) // 2] + whole[-2:]) == DAMAGED


def test_damaged_tiles_are_refused(prepare: Preparer) -> None:
    whole = a_noisy_picture(400, 400).tiffsave_buffer(
        compression="deflate", tile=True, tile_width=128, tile_height=128
    )
    middle = len(whole) // 2

    assert prepare(whole[:middle] + b"\xff" * 4000 + whole[middle + 4000 :]) == DAMAGED


def test_warnings_that_mean_nothing_are_forgiven(prepare: Preparer) -> None:
    whole = as_jpeg(a_noisy_picture(), restart_interval=4)
    restart = whole.index(b"\xff\xd0", whole.index(b"\xff\xda"))
    odd_revision = b"\xff\xe0\x00\x10JFIF\x00\x03\x00\x01\x00\x48\x00\x48\x00\x00"
    headless = whole[20:] if whole[2:4] == b"\xff\xe0" else whole[2:]

    padded = prepare(whole[:restart] + b"\0\0" + whole[restart:])
    revised = prepare(whole[:2] + odd_revision + headless)

    assert isinstance(padded, PreparedImage), padded
    assert isinstance(revised, PreparedImage), revised


def test_profiles_are_asked_only_when_there_is_one_or_the_picture_is_cmyk(
    prepare: Preparer,
) -> None:
    srgb = a_picture()
    cmyk = srgb.icc_transform("cmyk", input_profile="srgb").copy()
    cmyk.remove("icc-profile-data")
    files = {
        "none": as_jpeg(srgb),
        "to-srgb": as_jpeg(srgb.colourspace("b-w")),
        "embedded-profile": as_jpeg(srgb, profile="p3"),
        "default-cmyk-profile": as_jpeg(cmyk),
    }

    for step, data in files.items():
        prepared = prepare(data)

        assert isinstance(prepared, PreparedImage), prepared
        assert prepared.facts.colour == step


def test_a_profile_that_does_not_belong_is_ignored(prepare: Preparer) -> None:
    picture = a_picture().copy()
    for profile in (b"nonsense" * 40, pyvips.Image.profile_load("cmyk")):
        picture.set_type(pyvips.GValue.blob_type, "icc-profile-data", profile)

        prepared = prepare(as_jpeg(picture))

        assert isinstance(prepared, PreparedImage), prepared
        assert are_alike(corners(read(prepared.proofs.preview)), CORNERS)


def test_the_density_survives_the_loss_of_all_other_metadata(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    picture = held(a_noisy_picture(1500, 1000), 6).copy(xres=72 / 25.4, yres=72 / 25.4)
    plan = plan_print(place(Pixels(1500, 1000), AREA, Sizing.CROP))

    rendered = processor.render(written(tmp_path, as_jpeg(picture)), plan, out)

    assert isinstance(rendered, Rendered), rendered
    drawn = read(rendered.file)
    assert (drawn.xres * 25.4, drawn.yres * 25.4) == pytest.approx((250, 250))
    assert not [name for name in drawn.get_fields() if name.startswith("exif")]


def test_a_jpeg_with_a_gain_map_is_read_as_a_jpeg(prepare: Preparer) -> None:
    bright = a_picture().colourspace("scrgb") * 2.0
    data = bright.copy(interpretation="scrgb").uhdrsave_buffer()
    assert pyvips.Image.new_from_buffer(data, "").get("vips-loader").startswith("uhdr")

    prepared = prepare(data)

    assert isinstance(prepared, PreparedImage), prepared
    assert prepared.facts.colour_space == "srgb"
    for path in prepare.out.iterdir():
        assert b"hdrgm" not in path.read_bytes()


def test_a_small_picture_is_not_enlarged(
    processor: ImageProcessor, tmp_path: Path, out: Path
) -> None:
    source = written(tmp_path, as_jpeg(a_noisy_picture(300, 200)))
    wall = PrintArea.of(30, 20, Units.INCHES)
    prepared = processor.prepare(source, Layout(wall, Sizing.CROP), out)
    assert isinstance(prepared, PreparedImage), prepared

    rendered = processor.render(source, plan_print(prepared.placement), out)

    assert isinstance(rendered, Rendered), rendered
    drawn = read(rendered.file)
    assert (drawn.width, drawn.height) == (300, 200)
    assert drawn.xres * 25.4 == pytest.approx(10)
    preview = read(prepared.proofs.preview)
    assert (preview.width, preview.height) == (300, 200)


def test_a_picture_of_endless_scans_is_refused_before_it_is_read(prepare: Preparer) -> None:
    whole = as_jpeg(a_noisy_picture(), interlace=True)
    last = whole.rindex(b"\xff\xda")
    scan = whole[last:-2]
    bomb = whole[:-2] + scan * (MOST_SCANS * 40) + whole[-2:]

    verdict = prepare(bomb)

    assert verdict == Invalid(f"The picture is made of more than {MOST_SCANS} scans.")


def test_a_picture_of_few_scans_is_fine(prepare: Preparer) -> None:
    prepared = prepare(as_jpeg(a_noisy_picture(), interlace=True))

    assert isinstance(prepared, PreparedImage), prepared


def test_scans_that_the_decoder_will_not_read_cost_nothing(prepare: Preparer) -> None:
    # All of a baseline picture is in its first scan; what follows is not looked at.
    whole = as_jpeg(a_noisy_picture())
    scan = whole[whole.rindex(b"\xff\xda") : -2]

    prepared = prepare(whole[:-2] + scan * (MOST_SCANS * 40) + whole[-2:])

    assert isinstance(prepared, PreparedImage), prepared


@pytest.mark.parametrize("is_interlaced", [False, True])
def test_only_a_picture_of_several_scans_is_held_in_memory(
    is_interlaced: bool, prepare: Preparer
) -> None:
    flat = pyvips.Image.black(12_000, 10_000, bands=3).copy(interpretation="srgb")

    verdict = prepare(as_jpeg(flat, interlace=is_interlaced))

    too_much = "The picture needs too much memory for the way in which it is stored."
    assert verdict == Invalid(too_much) if is_interlaced else isinstance(verdict, PreparedImage)


def test_a_thumbnail_inside_the_header_is_not_taken_for_the_picture(prepare: Preparer) -> None:
    whole = as_jpeg(a_noisy_picture())
    inner = as_jpeg(a_picture(64, 64)) * 2
    note = b"\xff\xe5" + (len(inner) + 2).to_bytes(2, "big") + inner

    prepared = prepare(whole[:2] + note + whole[2:])
    beheaded = prepare(whole[:2] + note)

    assert isinstance(prepared, PreparedImage), prepared
    assert beheaded == Invalid("The file has no picture in it.")


@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif"])
@pytest.mark.parametrize("orientation", [3, 6])
def test_a_picture_that_was_held_upside_down_can_be_read_from_top_to_bottom(
    suffix: str, orientation: int, prepare: Preparer
) -> None:
    # Large enough that a wrong order of reading is noticed.
    picture = held(a_picture(2400, 1600), orientation)

    prepared = prepare(picture.write_to_buffer(suffix))

    assert isinstance(prepared, PreparedImage), prepared
    assert are_alike(corners(read(prepared.proofs.preview)), CORNERS, 30)
