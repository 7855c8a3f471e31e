"""`printworks image`."""

import base64
import json
import os
import struct
import subprocess
from pathlib import Path
from typing import Any, Final

import pytest

from tests.catalogue.folders import a_folder, a_product
from tests.cli.program import run, started
from tests.commands import Ended
from tests.imaging.pictures import (
    CORNERS,
    a_noisy_picture,
    a_picture,
    are_alike,
    as_jpeg,
    corners,
    drawn_apart,
    held,
    read,
    written,
)
from tests.programs import PROGRAM

pytestmark = pytest.mark.slow

# 4 x 6 inches, for which 600 x 900 pixels are recommended.
SKU: Final = "GLOBAL-PHO-4X6-PRO"
A_JPEG: Final = drawn_apart(lambda: as_jpeg(a_noisy_picture()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place for pictures."""
    made = tmp_path / "pictures"
    made.mkdir()
    return made


def check(*words: str | Path, data: Path, **settings: str) -> Ended:
    """Ask for a print of 4 x 6 inches."""
    return run("image", "check", *words, "--sku", SKU, "--data", data, **settings)


def a_file(folder: Path, width: int, height: int, name: str = "picture.jpg") -> Path:
    """Put a picture of this size there."""
    return written(folder, as_jpeg(a_picture(width, height)), name)


def find_drawing(said: str) -> list[str]:
    """Return the inside of the little drawing."""
    return [line.strip()[1:-1] for line in said.splitlines() if line.startswith("  |")]


def test_it_has_help() -> None:
    ended = run("image", "check", "--help")

    assert ended.code == 0
    assert "--data" in ended.said


def test_a_good_picture_can_be_printed(folder: Path, tmp_path: Path) -> None:
    file = a_file(folder, 1200, 1800)

    ended = check(file, data=tmp_path)

    assert (ended.code, ended.complained) == (0, "")
    assert ended.said.splitlines()[:12] == [
        f"{file} can be printed.",
        "",
        "  product      GLOBAL-PHO-4X6-PRO, 4x6 inch print",
        "  format       JPEG",
        "  pixels       1200x1800",
        "  recommended  600x900 or more",
        "  print area   4x6 inches",
        "  sizing       Crop",
        "  density      300 pixels to the inch",
        "  cut off      0 per cent",
        "  turned       no",
        "  crop box     1200x1800, 0 from the left and 0 from the top",
    ]
    assert find_drawing(ended.said) == ["#" * 16] * 12


def test_a_small_picture_is_told_how_large_it_should_be(folder: Path, tmp_path: Path) -> None:
    ended = check(a_file(folder, 384, 576), data=tmp_path)

    assert ended.code == 0
    assert "can be printed, with 1 warning." in ended.said
    assert (
        "  PictureSizeTooSmall\n"
        "  The print would have 96 pixels to the inch; 150 are recommended: "
        "send at least 600x900.\n"
    ) in ended.said


def test_a_picture_that_is_hardly_too_small_does_not_have_what_is_recommended(
    folder: Path, tmp_path: Path
) -> None:
    file = written(folder, as_jpeg(a_picture(1688, 1988).crop(0, 0, 1687, 1987)))

    ended = run("image", "check", file, "--sku", "EU-CAN-8X10", "--data", tmp_path)

    assert "would have a little less than 150 pixels to the inch; 150 are" in ended.said


def test_a_cropped_picture_is_told_what_it_loses(folder: Path, tmp_path: Path) -> None:
    ended = check(a_file(folder, 2000, 2000), data=tmp_path)

    assert ended.code == 0
    assert (
        "  CroppingWillOccur\n"
        "  33.4 per cent of the picture would be cut off, 333 pixels at the left and 334 at the "
        "right: cut it to 1333x2000 yourself, or choose ShrinkToFit to keep all of it.\n"
    ) in ended.said
    assert find_drawing(ended.said) == ["....################...."] * 12


def test_a_tall_picture_loses_its_top_and_bottom(folder: Path, tmp_path: Path) -> None:
    ended = check(a_file(folder, 1000, 2000), data=tmp_path)

    assert "250 pixels at the top and 250 at the bottom: cut it to 1000x1500" in ended.said
    drawing = find_drawing(ended.said)
    assert drawing == ["." * 12] * 2 + ["#" * 12] * 8 + ["." * 12] * 2


def test_a_picture_on_its_side_is_turned_and_judged_as_it_stands(
    folder: Path, tmp_path: Path
) -> None:
    ended = check(a_file(folder, 576, 384), data=tmp_path)

    assert "  turned       by a quarter, clockwise\n" in ended.said
    assert "  recommended  900x600 or more\n" in ended.said
    assert "send at least 900x600." in ended.said


def test_what_the_camera_noted_counts(folder: Path, tmp_path: Path) -> None:
    file = written(folder, as_jpeg(held(a_picture(1200, 1800), 6)))

    ended = check(file, data=tmp_path)

    assert "  pixels       1200x1800\n" in ended.said
    assert "  turned       no\n" in ended.said


def test_a_shrunk_picture_is_told_of_its_white_edges(folder: Path, tmp_path: Path) -> None:
    ended = check(a_file(folder, 1800, 800), "--sizing", "shrinktofit", data=tmp_path)

    assert (
        "  0.67 inches of the print would stay white along two of its edges: "
        "cut it to 1200x800 yourself, or choose Crop to fill it.\n"
    ) in ended.said
    # The paper, as the picture stands.
    blank, filled = " " * 36, "#" * 36
    assert find_drawing(ended.said) == [blank] * 2 + [filled] * 8 + [blank] * 2


@pytest.mark.parametrize(
    ("width", "height", "sentence"),
    [
        (1800, 800, "stretched by 50 per cent in height: cut it to 1200x800 yourself"),
        (1800, 1600, "stretched by 33.3 per cent in width: cut it to 1800x1200 yourself"),
        (800, 1800, "stretched by 50 per cent in width: cut it to 800x1200 yourself"),
    ],
)
def test_a_stretched_picture_is_told_in_which_direction(
    width: int, height: int, sentence: str, folder: Path, tmp_path: Path
) -> None:
    ended = check(a_file(folder, width, height), "--sizing", "ShrinkToExactFit", data=tmp_path)

    assert sentence in ended.said


def test_a_handful_of_pixels_is_not_told_to_cut_some_off(folder: Path, tmp_path: Path) -> None:
    file = written(folder, as_jpeg(a_picture(2, 2).crop(0, 0, 1, 1)))

    ended = check(file, data=tmp_path)

    assert ended.code == 0
    assert (
        "  The picture has another shape than the print: send one of the shape of 600x900.\n"
    ) in ended.said


def _that_claims(width: int, height: int) -> bytes:
    data = bytearray(A_JPEG)
    struct.pack_into(">HH", data, data.index(b"\xff\xc0") + 5, height, width)
    return bytes(data)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param(b"", "The file is empty.", id="empty"),
        pytest.param(
            b"1,2,3\n",
            "The file is not a picture of a format that is accepted: HEIC, JPEG, PNG, TIFF, WebP.",
            id="not a picture",
        ),
        pytest.param(A_JPEG[:-500], "The end of the file is missing.", id="truncated"),
        pytest.param(
            _that_claims(65_500, 65_500),
            "The picture has 65500 x 65500 pixels; at most 30000 on a side and 200 million in "
            "all can be printed.",
            id="bomb",
        ),
    ],
)
def test_what_cannot_be_printed_says_why(
    data: bytes, reason: str, folder: Path, tmp_path: Path
) -> None:
    file, proof = written(folder, data), tmp_path / "proof.jpg"

    ended = check(file, "--picture", proof, data=tmp_path)

    assert (ended.code, ended.complained) == (1, "")
    assert ended.said == f"{file} cannot be printed.\n{reason}\nNo picture was written.\n"
    assert not proof.exists()


def test_a_file_that_would_not_be_fetched_cannot_be_printed(folder: Path, tmp_path: Path) -> None:
    file = written(folder, as_jpeg(a_picture()) + bytes(100_000))

    ended = check(file, data=tmp_path, image_limit="100000")

    assert ended.code == 1
    assert f"has {file.stat().st_size} bytes; at most 100000 are taken" in ended.said


def test_the_picture_that_is_written_is_what_would_be_printed(folder: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.jpg"

    ended = check(a_file(folder, 1800, 900), "--picture", proof, data=tmp_path)

    assert ended.code == 0
    assert ended.said.endswith(f"As it would be printed: {proof}\n")
    assert proof.read_bytes().startswith(b"\xff\xd8\xff")
    drawn = read(proof)
    # Upright, although the print is turned.
    assert drawn.width * 2 == drawn.height * 3
    assert are_alike(corners(drawn), CORNERS)


def test_an_older_picture_is_replaced(folder: Path, tmp_path: Path) -> None:
    proof = written(tmp_path, b"older", "proof.jpg")

    check(a_file(folder, 600, 900), "--picture", proof, data=tmp_path)

    assert read(proof).width == 600


@pytest.mark.parametrize("is_link", [False, True])
def test_the_picture_itself_is_never_overwritten(
    is_link: bool, folder: Path, tmp_path: Path
) -> None:
    file = a_file(folder, 600, 900)
    before = file.read_bytes()
    proof = file
    if is_link:
        proof = tmp_path / "link.jpg"
        proof.symlink_to(file)

    ended = check(file, "--picture", proof, data=tmp_path)

    assert (ended.code, ended.said) == (2, "")
    assert ended.complained == (
        "printworks: --picture would overwrite the picture itself; choose another name.\n"
    )
    assert file.read_bytes() == before


def test_a_picture_can_only_be_written_to_a_file(folder: Path, tmp_path: Path) -> None:
    file = a_file(folder, 600, 900)
    nowhere = tmp_path / "nowhere"

    into_folder = check(file, "--picture", folder, data=tmp_path)
    into_nothing = check(file, "--picture", nowhere / "proof.jpg", data=tmp_path)
    full = check(file, "--picture", "/dev/full", data=tmp_path)

    assert (into_folder.code, into_nothing.code, full.code) == (2, 2, 2)
    assert into_folder.complained.endswith(" is a folder.\n")
    assert into_nothing.complained == f"printworks: --picture: there is no folder {nowhere}.\n"
    assert full.complained == "printworks: /dev/full: No space left on device.\n"


def test_every_file_that_is_no_use_is_named_before_anything_is_done(
    folder: Path, tmp_path: Path
) -> None:
    good, missing, pipe = a_file(folder, 600, 900), folder / "missing.jpg", folder / "pipe.jpg"
    os.mkfifo(pipe)

    ended = check(good, missing, folder, pipe, data=tmp_path)

    assert (ended.code, ended.said) == (2, "")
    assert ended.complained.splitlines() == [
        f"printworks: {missing}: No such file or directory.",
        f"printworks: {folder}: Is a directory.",
        f"printworks: {pipe}: Not a regular file.",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read_is_named(folder: Path, tmp_path: Path) -> None:
    file = a_file(folder, 600, 900)
    file.chmod(0)

    ended = check(file, data=tmp_path)

    assert (ended.code, ended.complained) == (2, f"printworks: {file}: Permission denied.\n")


def test_an_unknown_sku_is_answered_with_close_ones(folder: Path, tmp_path: Path) -> None:
    file = a_file(folder, 600, 900)

    ended = run("image", "check", file, "--sku", "GLOBAL-PHO-4X66-PRO", "--data", tmp_path)

    assert (ended.code, ended.said) == (2, "")
    assert ended.complained.startswith(
        "printworks: SKU not in catalogue: GLOBAL-PHO-4X66-PRO; did you mean GLOBAL-PHO-4X6-PRO "
    )


def test_wrong_use_is_not_mistaken_for_a_verdict(folder: Path, tmp_path: Path) -> None:
    file = a_file(folder, 600, 900)

    without_sku = run("image", "check", file, "--data", tmp_path)
    wrong_sizing = check(file, "--sizing", "Squeeze", data=tmp_path)
    two_for_one = check(file, file, "--picture", tmp_path / "proof.jpg", data=tmp_path)
    wrong_setting = check(file, data=tmp_path, image_limit="much")

    assert {ended.code for ended in (without_sku, wrong_sizing, two_for_one, wrong_setting)} == {2}
    assert wrong_sizing.complained == (
        "printworks: There is no sizing 'Squeeze'; there are Crop, ShrinkToFit, ShrinkToExactFit.\n"
    )
    assert two_for_one.complained.startswith("printworks: --picture is for one file;")
    assert wrong_setting.complained.startswith("printworks: PRINTWORKS_IMAGE_LIMIT must be ")


def test_the_catalogue_of_the_settings_is_used(folder: Path, tmp_path: Path) -> None:
    a_folder(tmp_path, a_product())
    (tmp_path / "printworks.toml").write_text('catalogue = "catalogue"\n')
    file = a_file(folder, 1200, 1800)

    own = run("image", "check", file, "--sku", "photo-4x6", "--data", tmp_path)
    built_in = check(file, data=tmp_path)

    assert own.code == 0
    assert (built_in.code, built_in.said) == (2, "")


def test_several_files_get_a_line_each_and_a_sum(folder: Path, tmp_path: Path) -> None:
    good = a_file(folder, 1800, 1200, "good.jpg")
    square = a_file(folder, 500, 500, "square.jpg")
    torn = written(folder, as_jpeg(a_noisy_picture())[:-500], "torn.jpg")

    ended = check(good, square, torn, data=tmp_path)

    assert ended.code == 1
    assert [line.split() for line in ended.said.splitlines()[:3]] == [
        [str(good), "Ok", "1800x1200", "300", "dpi", "0", "%", "cut", "off", "turned"],
        [
            *(str(square), "Ok", "500x500", "83.2", "dpi", "33.4", "%", "cut", "off"),
            *("CroppingWillOccur,", "PictureSizeTooSmall"),
        ],
        [str(torn), "Invalid", "The", "end", "of", "the", "file", "is", "missing."],
    ]
    assert ended.said.splitlines()[3:] == [
        f"3 files for {SKU}: 2 can be printed, 1 of them with warnings; 1 cannot."
    ]


def test_warnings_alone_are_no_failure(folder: Path, tmp_path: Path) -> None:
    small, square = a_file(folder, 20, 30, "small.jpg"), a_file(folder, 900, 900, "square.jpg")

    assert check(small, square, data=tmp_path).code == 0


def test_a_name_cannot_steer_the_terminal(folder: Path, tmp_path: Path) -> None:
    file = a_file(folder, 600, 900, "a\x1b[2J\nb.jpg")
    unspeakable = Path(os.fsdecode(os.fsencode(folder) + b"/\xff.jpg"))
    unspeakable.write_bytes(file.read_bytes())

    shown = check(file, unspeakable, data=tmp_path)
    for_programs = check(file, unspeakable, "--json", data=tmp_path)

    assert (shown.code, for_programs.code) == (0, 0)
    assert f"{folder}/a?[2J?b.jpg" in shown.said
    assert f"{folder}/?.jpg" in shown.said
    names = [json.loads(line)["file"] for line in for_programs.said.splitlines()]
    assert names == [str(file), f"{folder}/\N{REPLACEMENT CHARACTER}.jpg"]


def test_programs_get_what_the_api_would_answer(folder: Path, tmp_path: Path) -> None:
    files = {
        "cropped": as_jpeg(a_picture(500, 400)),
        "torn": as_jpeg(a_noisy_picture())[:-500],
    }
    data = tmp_path / "data"

    ended = check(*(written(folder, files[name], name) for name in files), "--json", data=data)
    with started(data) as service, service.client(service.add_merchant()) as client:
        answers = [_ask(client, content) for content in files.values()]

    said = [json.loads(line) for line in ended.said.splitlines()]
    assert [line.pop("file") for line in said] == [str(folder / name) for name in files]
    assert said == answers
    assert ended.code == 1
    assert [line["status"] for line in said] == ["Ok", "Invalid"]


def _ask(client: Any, content: bytes) -> Any:
    head = (
        f'--x\r\nContent-Disposition: form-data; name="sku"\r\n\r\n{SKU}\r\n'
        '--x\r\nContent-Disposition: form-data; name="file"; filename="a.jpg"\r\n'
        "Content-Type: image/jpeg\r\n\r\n"
    )
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    body = head.encode() + content + b"\r\n--x--\r\n"
    return client.send("POST", "/v3.0/images/check", body, headers=form).data


def test_programs_get_the_picture_twice_if_they_like(folder: Path, tmp_path: Path) -> None:
    proof = tmp_path / "proof.jpg"

    ended = check(a_file(folder, 600, 900), "--json", "--picture", proof, data=tmp_path)

    encoded = json.loads(ended.said)["preview"].removeprefix("data:image/jpeg;base64,")
    assert base64.b64decode(encoded) == proof.read_bytes()


def test_no_image_library_is_loaded_into_the_command(folder: Path, tmp_path: Path) -> None:
    file = a_file(folder, 600, 900)

    ended = subprocess.run(
        [PROGRAM, "image", "check", file, "--sku", SKU, "--data", tmp_path],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"], "PYTHONPROFILEIMPORTTIME": "1"},
    )

    assert ended.returncode == 0
    assert "printworks.imaging.processor" in ended.stderr
    assert "pyvips" not in ended.stderr


def test_nothing_is_left_behind(folder: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    file = a_file(folder, 600, 900)

    check(file, data=data)

    assert list(folder.iterdir()) == [file]
    assert not data.exists()
