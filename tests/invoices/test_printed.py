"""The PDF says what the document says, can be archived, and has the structured invoice inside."""

import re
from io import BytesIO
from typing import Any

import msgspec
import pytest
from facturx import get_xml_from_pdf
from pypdf import PdfReader

from printworks.invoices.printed import print_invoice
from printworks.invoices.structured import write_structured
from printworks.rules.brand import PaperBrand
from printworks.rules.invoices import Invoice
from printworks.rules.languages import Language
from printworks.rules.taxes import TaxCategory
from tests.imaging.pictures import a_picture, as_jpeg
from tests.invoices import documents
from tests.invoices.test_structured import HOSTILE

pytestmark = pytest.mark.slow


def read(document: Invoice) -> tuple[Any, str]:
    """Return a document as a reader of PDF files has it, and all its words."""
    reader = PdfReader(BytesIO(print_invoice(document)))
    return reader, " ".join(" ".join(page.extract_text() for page in reader.pages).split())


@pytest.mark.parametrize(
    ("language", "words"),
    [
        (Language.EN, ("Invoice 2026-000123", "Please pay", "Page 1 of 1")),
        (Language.DE, ("Rechnung 2026-000123", "Bitte zahlen Sie", "Seite 1 von 1")),
        (Language.FR, ("Facture 2026-000123", "Merci de régler", "Page 1 sur 1")),
        (Language.ES, ("Factura 2026-000123", "Rogamos el pago", "Página 1 de 1")),
    ],
)
def test_an_invoice_is_printed_in_the_language_of_the_merchant(
    language: Language, words: tuple[str, ...]
) -> None:
    _, text = read(documents.invoice(language=language))
    assert all(word in text for word in words)
    assert "Gallery Nord Ltd" in text
    assert "DE136695976" in text
    assert "IBAN DE89370400440532013000" in text
    assert "212,01" in text


def test_a_credit_note_says_which_invoice_it_corrects() -> None:
    _, text = read(documents.credit_note())
    assert "Credit note 2026-000124" in text
    assert "2026-000123 of 16 Nov 2026" in text
    assert "This amount is credited to your account." in text


@pytest.mark.parametrize("language", Language)
def test_no_fact_of_a_correction_is_cut_off(language: Language) -> None:
    for correction in (documents.credit_note, documents.taken_back):
        _, text = read(correction(language=language))
        assert "…" not in text


def test_an_invoice_that_takes_back_a_credit_note_names_it_and_asks_nobody_to_pay() -> None:
    _, text = read(documents.taken_back())
    assert "Invoice 2026-000125" in text
    assert "Reverses 2026-000124 of 16 Nov 2026" in text
    assert "This amount is charged to your account." in text
    assert "Please pay" not in text


def test_an_invoice_that_is_paid_asks_for_nothing() -> None:
    _, text = read(documents.invoice(paid=documents.invoice().gross))
    assert "Paid in full. Thank you." in text
    assert "Please pay" not in text


def test_an_invoice_without_bank_details_is_charged_to_the_account() -> None:
    _, text = read(documents.invoice(bank=None))
    assert "charged to your account" in text
    assert "IBAN" not in text


def test_reverse_charge_is_said_in_a_sentence() -> None:
    _, text = read(documents.untaxed(TaxCategory.REVERSE_CHARGE))
    assert "Reverse charge: the customer accounts for the VAT." in text


def test_the_same_rate_of_two_countries_is_shown_by_country() -> None:
    cyprus = msgspec.structs.replace(documents.STANDARD, country="CY")
    lines = (documents.line(1000), documents.line(2000, cyprus, destination="CY"))
    _, text = read(documents.invoice(lines=lines))
    assert "19 % (DE)" in text
    assert "19 % (CY)" in text


def test_a_long_invoice_has_heads_on_every_page_and_numbers_them() -> None:
    first = documents.invoice().supplied_from.replace(day=1)
    reader, text = read(documents.invoice(lines=documents.LINES * 15, supplied_from=first))
    assert len(reader.pages) == 3
    for page in reader.pages:
        assert "Description" in page.extract_text()
    assert "Page 3 of 3" in text
    assert "1 Nov 2026" in text


def test_the_totals_are_never_divided_between_two_pages() -> None:
    for count in range(27, 33):
        lines = (documents.line(100, description="A print"),) * count
        reader, _ = read(documents.invoice(lines=lines))
        last = reader.pages[-1].extract_text()
        assert "Net total" in last
        assert "Please pay" in last


def test_the_structured_invoice_is_inside_with_the_right_relationship() -> None:
    document = documents.invoice()
    printed = print_invoice(document)
    name, inside = get_xml_from_pdf(printed, check_xsd=True)
    assert (name, inside) == ("factur-x.xml", write_structured(document))
    reader: Any = PdfReader(BytesIO(printed))
    (attached,) = reader.root_object["/AF"]
    assert attached.get_object()["/AFRelationship"] == "/Alternative"
    assert attached.get_object()["/UF"] == "factur-x.xml"


def test_the_file_says_that_it_can_be_archived_and_embeds_its_fonts() -> None:
    reader, _ = read(documents.invoice())
    said = reader.root_object["/Metadata"].get_object().get_data().decode()
    assert "<pdfaid:part>3</pdfaid:part>" in said
    assert "<pdfaid:conformance>B</pdfaid:conformance>" in said
    assert "<fx:ConformanceLevel>EN 16931</fx:ConformanceLevel>" in said
    assert reader.root_object["/OutputIntents"][0].get_object()["/DestOutputProfile"]
    for page in reader.pages:
        for font in page["/Resources"]["/Font"].values():
            (inner,) = font.get_object()["/DescendantFonts"]
            assert "/FontFile2" in inner.get_object()["/FontDescriptor"]
    assert tuple(round(float(side) / 72 * 25.4) for side in reader.pages[0].mediabox[2:]) == (
        210,
        297,
    )


def test_the_same_document_gives_the_same_bytes() -> None:
    assert print_invoice(documents.invoice()) == print_invoice(documents.invoice())


def test_the_logo_and_the_colour_of_the_operator_stand_on_it() -> None:
    logo = as_jpeg(a_picture(600, 200))
    document = documents.invoice(lines=documents.LINES * 15)
    fox = PaperBrand("Fox", logo, "#7a1f5c")

    printed = print_invoice(document, fox)

    assert printed == print_invoice(document, fox)
    name, inside = get_xml_from_pdf(printed, check_xsd=True)
    assert (name, inside) == ("factur-x.xml", write_structured(document))
    reader = PdfReader(BytesIO(printed))
    assert len(reader.pages) == 3
    for page in reader.pages:
        [drawn] = dict(page["/Resources"]["/XObject"]).values()  # type: ignore[index]
        picture = drawn.get_object()
        # As it is, in a colour space that an archive can read, and not smoothed.
        assert picture["/Filter"] == "/DCTDecode"
        assert (picture["/Width"], picture["/Height"]) == (600, 200)
        assert picture["/ColorSpace"] == "/DeviceRGB"
        assert "/Interpolate" not in picture
        assert "/SMask" not in picture
    assert "0.4784 0.1216 0.3608 rg" in reader.pages[0].get_contents().get_data().decode("latin-1")  # type: ignore[union-attr]


@pytest.mark.parametrize("size", [(1200, 2), (2, 1200), (1, 1)])
def test_no_logo_leaves_its_place(size: tuple[int, int]) -> None:
    logo = as_jpeg(a_picture(*(max(side, 2) for side in size)))
    reader = PdfReader(BytesIO(print_invoice(documents.invoice(), PaperBrand("Fox", logo))))
    matrix = re.search(
        r"([0-9.]+) 0 0 ([0-9.]+) ([0-9.]+) ([0-9.]+) cm\s*/I",
        reader.pages[0].get_contents().get_data().decode("latin-1"),  # type: ignore[union-attr]
    )
    assert matrix is not None
    width, height, left, _ = (float(each) / 72 * 25.4 for each in matrix.groups())
    assert width <= 60.1
    assert height <= 18.1
    assert round(left + width) == 190


@pytest.mark.parametrize("logo", [b"a fox", b"", b"\xff\xd8\xff", b"\xff\xd8\xff\xe0\x00\x10JFIF"])
def test_what_is_no_logo_leaves_a_document_without(logo: bytes) -> None:
    without = print_invoice(documents.invoice())
    assert print_invoice(documents.invoice(), PaperBrand("Fox", logo)) == without


def test_hostile_and_endless_texts_neither_break_nor_leave_the_page() -> None:
    party = dict.fromkeys(("name", "town", "registration", "email"), HOSTILE * 40)
    seller = msgspec.structs.replace(documents.SELLER, address=(HOSTILE, "m" * 2000), **party)
    lines = (
        documents.line(10**14, description=HOSTILE * 30),
        documents.line(5, description=""),
        documents.line(7, description="m" * 3000),
    )
    reader, text = read(
        documents.invoice(seller=seller, buyer=seller, lines=lines, footer=HOSTILE * 20)
    )
    assert len(reader.pages) <= 2
    assert re.search(r"Page 1 of \d", text)
