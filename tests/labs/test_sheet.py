"""The job sheet shows all that matters, and nothing that others wrote becomes part of it."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from printworks.labs.documents import Customs, JobDocument
from printworks.labs.sheet import write_sheet
from tests.labs.samples import a_file, a_job, an_item

HOSTILE = "</style><script src=//evil.example>alert(1)</script>\"'&<img onerror=x>"


class Tags(HTMLParser):
    """Collects which elements and attributes a page has."""

    def __init__(self) -> None:
        super().__init__()
        self.found: set[tuple[str, str]] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found |= {(tag, name) for name, _ in attrs} | {(tag, "")}


def sheet_of(document: JobDocument) -> str:
    """Write a sheet with a thumbnail for every item."""
    thumbnails = {item.thumbnail: b"\xff\xd8 a picture" for item in document.items}
    places = {item.print.name: f"prints/{item.print.name}" for item in document.items}
    return write_sheet(document, places, thumbnails)


def tags_of(sheet: str) -> set[tuple[str, str]]:
    """List the elements and attributes of a sheet."""
    tags = Tags()
    tags.feed(sheet)
    return tags.found


def put_everywhere(value: Any, text: str) -> Any:
    """Replace every text of a document."""
    if isinstance(value, dict):
        return {
            key: put_everywhere(each, text) if key not in {"ordered_at", "dispatch_by"} else each
            for key, each in value.items()
        }
    if isinstance(value, list):
        return [put_everywhere(each, text) for each in value]
    return text if isinstance(value, str) or value is None else value


@pytest.mark.parametrize(
    "shown",
    [
        "<h1><small>Job</small>7</h1>",
        "Tue 17 Nov",
        "Mary Fox",
        "YO1 7EP",
        "A-1001",
        "york",
        "Parcel (Standard)",
        "DHL, tracked",
        "prints/501.jpg",
        "PHOTO-4x6",
        "4x6 inch print",
        "finish: gloss",
        "152 &times; 102 mm",
        "2 prints of 1 image",
        "0.38 GBP",
        "No packing slip",
        "Sandbox: do not print",
        "data:image/jpeg;base64,",
        "<svg",
        a_file("501.jpg").sha256[:12],
    ],
)
def test_the_sheet_shows(shown: str) -> None:
    assert shown in sheet_of(a_job())


def test_a_live_job_with_a_packing_slip_and_an_invoice_says_so() -> None:
    customs = Customs(
        currency="GBP", value=38, invoice_amount_net=1205, invoice_tax=5, invoice_currency="EUR"
    )

    sheet = sheet_of(a_job(environment="live", packing_slip=a_file("slip.pdf"), customs=customs))

    assert "Packing slip: put it in" in sheet
    assert "do not print" not in sheet
    assert "12.05 EUR net, 0.05 EUR tax" in sheet


def test_a_sheet_without_customs_shows_no_money() -> None:
    customs = Customs(
        currency="GBP", value=None, invoice_amount_net=0, invoice_tax=0, invoice_currency=None
    )

    sheet = sheet_of(a_job(customs=customs, items=[an_item(value=None)]))

    assert "GBP" not in sheet
    assert "Value each" not in sheet


def test_the_operator_stands_above_if_it_has_a_name_or_a_logo() -> None:
    named, drawn = sheet_of(a_job(operator="<Fox>")), write_sheet(a_job(), {}, {}, b"a fox")

    assert 'class="house"' not in sheet_of(a_job())
    assert "&lt;Fox&gt;</div>" in named
    assert '<div class="house"><img alt="" src="data:' in drawn


def test_a_job_of_many_images_repeats_the_head_of_the_table_on_every_page() -> None:
    sheet = sheet_of(a_job(items=[an_item(image) for image in range(100, 160)]))

    assert "thead { display: table-header-group; }" in sheet
    assert sheet.count("<tr><td") == 61
    assert "120 &times;" in sheet


def test_an_image_without_a_thumbnail_has_an_empty_frame() -> None:
    assert "<img" not in write_sheet(a_job(), {}, {})


def test_nothing_is_loaded_from_elsewhere() -> None:
    sheet = sheet_of(a_job())

    sources = re.findall(r'(?:src|href|url)\s*[=(]\s*"?([^"\s)]+)', sheet)

    assert all(source.startswith("data:") for source in sources)
    assert ("script", "") not in tags_of(sheet)


@settings(deadline=None)
@given(text=st.just(HOSTILE) | st.text())
def test_no_text_becomes_part_of_the_page(text: str) -> None:
    plain = msgspec.to_builtins(a_job(packing_slip=a_file("slip.pdf"), reprint_of=3))
    hostile = msgspec.convert(put_everywhere(plain, text), JobDocument)

    tags = tags_of(sheet_of(hostile))

    assert tags <= tags_of(sheet_of(a_job()))


def test_what_turns_or_hides_words_is_left_out() -> None:
    job = a_job(merchant_order_id="A\u202e1001\x00\ud800")

    sheet = sheet_of(job)

    assert "A 1001" in unescape(sheet)
    assert sheet.encode()


def test_a_reprint_says_so_and_the_country_has_its_name() -> None:
    sheet = sheet_of(a_job(reprint_of=3))

    assert "Reprint of order 3" in sheet
    assert "United Kingdom" in sheet
    assert "Reprint" not in sheet_of(a_job())
