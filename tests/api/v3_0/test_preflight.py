"""POST /images/check, our addition to 3.0: a look at a picture before anything is ordered."""

import base64
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
from sqlalchemy import select

from printworks.settings import Settings
from printworks.store.engine.database import Database
from printworks.store.tables import metadata
from tests.api.client import Client
from tests.api.images import PHOTO
from tests.api.pngs import Size, a_png, measure_jpeg
from tests.running import Answer

PARTS = "multipart/form-data; boundary=XX"
EVERY_MEMBER = {
    "sku", "sizing", "status", "format", "width", "height", "recommendedWidth",
    "recommendedHeight", "effectiveDpi", "percentCropped", "crop", "isTurned", "errors",
    "warnings", "preview", "errorMessage",
}  # fmt: skip
ABOUT_THE_PICTURE = {
    "format", "width", "height", "effectiveDpi", "percentCropped", "crop", "isTurned", "preview",
}  # fmt: skip
NO_FILE = "Send the picture as a file in a multipart/form-data body."


def a_body(file: bytes | None, *, part: str = "file", **fields: str) -> bytes:
    """Write a body with a file in it, or with none."""
    pieces = [
        f'--XX\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    if file is not None:
        head = (
            f'--XX\r\nContent-Disposition: form-data; name="{part}"; filename="a.png"\r\n'
            "Content-Type: image/png\r\n\r\n"
        )
        pieces.append(head.encode() + file + b"\r\n")
    return b"".join([*pieces, b"--XX--\r\n"])


def check(client: Client, file: bytes | None, *, part: str = "file", **fields: str) -> Answer:
    """Show a picture, of which something is to be printed."""
    body = a_body(file, part=part, **fields)
    return client.request("POST", "/images/check", body, {"Content-Type": PARTS})


def preview_of(answer: Answer) -> bytes:
    """Take the preview out of an answer."""
    kind, _, encoded = answer.data["preview"].partition(",")
    assert kind == "data:image/jpeg;base64"
    return base64.b64decode(encoded, validate=True)


def everything_in(database: Database) -> dict[str, list[Any]]:
    """Read every table."""
    with database.reading() as db:
        return {
            table.name: [tuple(row) for row in db.execute(select(table))]
            for table in metadata.sorted_tables
        }


class TestAPictureThatCanBePrinted:
    def test_it_passes_with_all_that_there_is_to_know(self, v3: Client) -> None:
        answer = check(v3, a_png(1200, 1800), sku=PHOTO)

        assert set(answer.data) == EVERY_MEMBER
        assert {**answer.data, "preview": None} == {
            "sku": PHOTO,
            "sizing": "Crop",
            "status": "Ok",
            "format": "PNG",
            "width": 1200,
            "height": 1800,
            "recommendedWidth": 600,
            "recommendedHeight": 900,
            "effectiveDpi": 300.0,
            "percentCropped": 0.0,
            "crop": {"left": 0, "top": 0, "width": 1200, "height": 1800},
            "isTurned": False,
            "errors": [],
            "warnings": [],
            "preview": None,
            "errorMessage": None,
        }
        assert answer.json()["statusTxt"] == "OK"
        assert answer.json()["statusCode"] == 200

    def test_one_that_is_too_small_passes_with_a_warning(self, v3: Client) -> None:
        found = check(v3, a_png(300, 450), sku=PHOTO).data

        assert found["status"] == "Ok"
        assert found["warnings"] == ["PictureSizeTooSmall"]
        assert found["effectiveDpi"] == 75.0

    def test_one_that_is_cropped_says_how_much_is_lost_and_where(self, v3: Client) -> None:
        found = check(v3, a_png(1200, 1200), sku=PHOTO).data

        assert found["warnings"] == ["CroppingWillOccur"]
        assert found["percentCropped"] == 33.3
        assert found["crop"] == {"left": 200, "top": 0, "width": 800, "height": 1200}

    def test_a_placement_moves_the_crop_and_lowers_the_density(self, v3: Client) -> None:
        wanted = {"placement[x]": "1", "placement[y]": "0", "placement[zoom]": "2"}
        found = check(v3, a_png(1200, 1200), sku=PHOTO, **wanted).data

        assert found["crop"] == {"left": 800, "top": 0, "width": 400, "height": 600}
        assert found["effectiveDpi"] == 100.0
        refused = check(v3, a_png(10, 10), sku=PHOTO, **{"placement[zoom]": "5"})
        assert refused.status == 400

    def test_one_that_lies_on_its_side_is_turned(self, v3: Client) -> None:
        answer = check(v3, a_png(1800, 1200), sku=PHOTO)

        assert answer.data["isTurned"] is True
        assert answer.data["warnings"] == []
        assert (answer.data["width"], answer.data["height"]) == (1800, 1200)
        # Shown upright all the same.
        assert measure_jpeg(preview_of(answer)) == Size(1200, 800)

    @pytest.mark.parametrize(
        ("sizing", "cropped", "box"),
        [
            ("Crop", 33.3, {"left": 200, "top": 0, "width": 800, "height": 1200}),
            ("shrinktofit", 0.0, {"left": 0, "top": 0, "width": 1200, "height": 1200}),
            ("ShrinkToExactFit", 0.0, {"left": 0, "top": 0, "width": 1200, "height": 1200}),
        ],
    )
    def test_the_sizing_decides_what_is_lost(
        self, v3: Client, sizing: str, cropped: float, box: dict[str, int]
    ) -> None:
        answer = check(v3, a_png(1200, 1200), sku=PHOTO, sizing=sizing)

        assert answer.data["sizing"].lower() == sizing.lower()
        assert answer.data["percentCropped"] == cropped
        assert answer.data["crop"] == box
        # Margins included, a preview always has the shape of what is printed on.
        assert measure_jpeg(preview_of(answer)) == Size(800, 1200)

    @pytest.mark.parametrize(
        ("sku", "shape"),
        [("GLOBAL-PHO-16X16-PRO", Size(1200, 1200)), ("GLOBAL-PHO-10X12-PRO", Size(1000, 1200))],
    )
    def test_its_preview_has_the_shape_of_the_product(
        self, v3: Client, sku: str, shape: Size
    ) -> None:
        answer = check(v3, a_png(2400, 2400), sku=sku)

        assert measure_jpeg(preview_of(answer)) == shape

    def test_its_preview_is_not_blown_up(self, v3: Client) -> None:
        answer = check(v3, a_png(200, 300), sku=PHOTO)

        assert measure_jpeg(preview_of(answer)) == Size(200, 300)

    @pytest.mark.parametrize("part", ["file", "image", "anything"])
    def test_its_part_may_have_any_name(self, v3: Client, part: str) -> None:
        assert check(v3, a_png(60, 90), part=part, sku=PHOTO).data["status"] == "Ok"

    def test_names_and_values_may_come_in_any_case(self, v3: Client) -> None:
        found = check(v3, a_png(60, 90), SKU=PHOTO.lower(), Sizing="CROP", colour="red").data

        assert found["sku"] == PHOTO
        assert found["sizing"] == "Crop"

    def test_it_may_be_larger_than_other_bodies(self, v3: Client, settings: Settings) -> None:
        picture = a_png(60, 90) + b"\x00" * settings.json_limit

        assert check(v3, picture, sku=PHOTO).status == 200

    def test_it_can_be_read_as_xml(self, v3: Client) -> None:
        headers = {"Content-Type": PARTS, "Accept": "application/xml"}
        body = a_body(a_png(60, 90), sku=PHOTO)

        answer = v3.request("POST", "/images/check", body, headers)

        document = ElementTree.fromstring(answer.body)
        assert document.findtext("data/status") == "Ok"
        assert document.findtext("data/crop/width") == "60"


class TestAFileThatCannotBePrinted:
    @pytest.mark.parametrize(
        "file",
        [
            b"hello",
            b"<svg xmlns='http://www.w3.org/2000/svg'/>",
            b"GIF89a\x01\x00\x01\x00\x00\x00\x00;",
            b"\xff\xd8\xff\xe0 and no more",
            a_png(600, 900)[:200],
            a_png(600, 900)[:-40],
            b"",
        ],
        ids=["text", "svg", "gif", "broken jpeg", "head of a png", "png without its end", "empty"],
    )
    def test_it_is_invalid_and_says_why(self, v3: Client, file: bytes) -> None:
        answer = check(v3, file, sku=PHOTO)

        assert set(answer.data) == EVERY_MEMBER
        assert answer.data["status"] == "Invalid"
        assert answer.data["errors"] == ["InvalidImageFile"]
        assert answer.data["warnings"] == []
        assert answer.data["errorMessage"]
        assert answer.data["recommendedWidth"] == 600
        assert {answer.data[name] for name in ABOUT_THE_PICTURE} == {None}

    def test_the_next_picture_is_judged_as_if_nothing_had_been(self, v3: Client) -> None:
        check(v3, b"hello", sku=PHOTO)

        assert check(v3, a_png(60, 90), sku=PHOTO).data["status"] == "Ok"


class TestAQuestionThatCannotBeAnswered:
    def test_one_without_a_file_is_refused(self, v3: Client) -> None:
        answer = check(v3, None, sku=PHOTO)

        assert answer.status == 400
        assert answer.error == NO_FILE

    @pytest.mark.parametrize(
        ("content_type", "body"),
        [
            ("application/json", b'{"sku": "GLOBAL-PHO-4X6-PRO", "file": "AAAA"}'),
            ("application/json", b"[]"),
            ("application/json", b""),
            ("application/x-www-form-urlencoded", b"sku=GLOBAL-PHO-4X6-PRO&file=AAAA"),
        ],
    )
    def test_a_body_that_holds_no_files_is_refused(
        self, v3: Client, content_type: str, body: bytes
    ) -> None:
        answer = v3.request("POST", "/images/check", body, {"Content-Type": content_type})

        assert answer.status == 400
        assert answer.error == NO_FILE

    def test_a_bare_picture_is_refused(self, v3: Client) -> None:
        headers = {"Content-Type": "image/png"}

        answer = v3.request("POST", "/images/check", a_png(60, 90), headers)

        assert answer.status == 415

    @pytest.mark.parametrize(
        ("fields", "reason"),
        [
            ({}, "`sku` is required."),
            ({"sku": ""}, "`sku` is required."),
            ({"sku": "NO-SUCH-SKU"}, "SKU not in catalogue"),
            (
                {"sku": PHOTO, "sizing": "Stretch"},
                "`sizing` must be one of Crop, ShrinkToFit, ShrinkToExactFit.",
            ),
        ],
    )
    def test_one_that_is_incomplete_or_wrong_says_how(
        self, v3: Client, fields: dict[str, str], reason: str
    ) -> None:
        answer = check(v3, a_png(60, 90), **fields)

        assert answer.status == 400
        assert answer.error == reason

    def test_a_file_in_the_place_of_the_sku_is_no_sku(self, v3: Client) -> None:
        answer = check(v3, a_png(60, 90), part="sku")

        assert answer.status == 400
        assert answer.error == "`sku` must be text."

    def test_a_body_that_ends_too_soon_is_refused(self, v3: Client) -> None:
        body = a_body(a_png(60, 90), sku=PHOTO)[:-60]

        answer = v3.request("POST", "/images/check", body, {"Content-Type": PARTS})

        assert answer.status == 400
        assert "boundary" in answer.error

    @pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
    def test_it_is_asked_by_post_only(self, v3: Client, method: str) -> None:
        assert v3.request(method, "/images/check").status == 405

    def test_a_stranger_is_sent_away(self, stranger: Client) -> None:
        assert check(stranger, a_png(60, 90), sku=PHOTO).status == 401


class TestALimit:
    @pytest.fixture
    def settings(self, settings: Settings) -> Settings:
        """A service that takes only small files."""
        return msgspec.structs.replace(settings, upload_limit=5_000)

    def test_a_file_over_the_limit_is_too_large(self, v3: Client) -> None:
        answer = check(v3, b"\x00" * 5_000, sku=PHOTO)

        assert answer.status == 413
        assert answer.error == "The body must have at most 5000 bytes."


def test_nothing_is_stored(
    v3: Client, database: Database, settings: Settings, tmp_path: Path
) -> None:
    v3.get("/orders")
    before = everything_in(database)

    for file in (a_png(60, 90), b"hello", None):
        check(v3, file, sku=PHOTO)

    assert everything_in(database) == before
    assert not Path(settings.files).exists()
    own = ("printworks.db", "request-counters", "secret.key")
    assert not [each for each in tmp_path.iterdir() if not each.name.startswith(own)]
