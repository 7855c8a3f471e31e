"""The structured invoice is valid EN 16931, whatever somebody typed."""

from decimal import Decimal
from typing import Any

import msgspec
import pytest
from facturx import xml_check_xsd
from lxml import etree

from printworks.invoices.structured import write_structured
from printworks.rules.invoices import Invoice
from printworks.rules.languages import Language
from printworks.rules.taxes import TaxCategory
from tests.invoices import documents

NAMES = {
    "rsm": "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100",
    "ram": "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100",
    "udt": "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100",
}
HOSTILE = "\x00\x0b<ram:ID>&amp;]]>'\"\u202e\ufffe\u0600 =1+1 {nb} %s 名前 🖼"
UNTAXED = [category for category in TaxCategory if category is not TaxCategory.STANDARD]


def read(document: Invoice) -> Any:
    """Validate a document against the schema, and return what is in it."""
    written = write_structured(document)
    assert xml_check_xsd(written, flavor="factur-x", level="en16931")
    return etree.fromstring(written)


def texts(root: Any, path: str) -> list[str]:
    return [element.text for element in root.iterfind(f".//{path}", NAMES)]


def check_sums(root: Any) -> None:
    """Check the arithmetic that the standard asks for (BR-CO-10 to 17, BR-S-08)."""
    total = "ram:SpecifiedTradeSettlementHeaderMonetarySummation"

    def amount(name: str) -> Decimal:
        return Decimal(texts(root, f"{total}/ram:{name}")[0])

    lines = texts(root, "ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount")
    header = root.find(".//ram:ApplicableHeaderTradeSettlement", NAMES)
    sums = header.findall("ram:ApplicableTradeTax", NAMES)
    assert sum(map(Decimal, lines)) == amount("LineTotalAmount") == amount("TaxBasisTotalAmount")
    bases = [Decimal(one.find("ram:BasisAmount", NAMES).text) for one in sums]
    taxes = [Decimal(one.find("ram:CalculatedAmount", NAMES).text) for one in sums]
    assert sum(bases) == amount("LineTotalAmount")
    assert sum(taxes) == amount("TaxTotalAmount")
    assert amount("GrandTotalAmount") == amount("TaxBasisTotalAmount") + amount("TaxTotalAmount")
    due = amount("GrandTotalAmount") - amount("TotalPrepaidAmount")
    assert amount("DuePayableAmount") == due
    for one, basis, tax in zip(sums, bases, taxes, strict=True):
        rate = Decimal(one.findtext("ram:RateApplicablePercent", "0", NAMES))
        assert abs(basis * rate / 100 - tax) < 1


@pytest.mark.parametrize("language", Language)
def test_an_invoice_and_a_credit_note_are_valid_in_every_language(language: Language) -> None:
    for document in (
        documents.invoice(language=language),
        documents.credit_note(language=language),
        documents.invoice(language=language, paid=documents.invoice().gross),
        documents.invoice(language=language, bank=None, due_on=None),
    ):
        check_sums(read(document))


def test_an_invoice_says_its_number_its_parties_and_its_lines() -> None:
    root = read(documents.invoice())
    assert texts(root, "rsm:ExchangedDocument/ram:ID") == ["2026-000123"]
    assert texts(root, "rsm:ExchangedDocument/ram:TypeCode") == ["380"]
    assert texts(root, "ram:SellerTradeParty/ram:Name") == ["Printworks Example GmbH"]
    assert texts(root, "ram:BuyerTradeParty/ram:Name") == ["Gallery Nord Ltd"]
    assert texts(root, "ram:SpecifiedTaxRegistration/ram:ID") == ["DE136695976", "DK13585628"]
    assert texts(root, "ram:BilledQuantity") == ["3", "3", "1", "1"]
    assert texts(root, "ram:ChargeAmount") == ["19.99", "100.00", "12.50", "6.95"]
    # Three for a price of which none is a third.
    assert texts(root, "ram:BasisQuantity") == ["3"]
    assert texts(root, "ram:IBANID") == ["DE89370400440532013000"]
    assert texts(root, "ram:DueDateDateTime/udt:DateTimeString") == ["20261130"]
    assert texts(root, "ram:ShipToTradeParty/ram:PostalTradeAddress/ram:CountryID") == ["DE"]


def test_a_credit_note_names_the_invoice_that_it_corrects() -> None:
    root = read(documents.credit_note())
    assert texts(root, "rsm:ExchangedDocument/ram:TypeCode") == ["381"]
    assert texts(root, "ram:InvoiceReferencedDocument/ram:IssuerAssignedID") == ["2026-000123"]


def test_an_invoice_names_the_credit_note_that_it_takes_back() -> None:
    root = read(documents.taken_back())
    check_sums(root)
    assert texts(root, "rsm:ExchangedDocument/ram:TypeCode") == ["380"]
    assert texts(root, "ram:InvoiceReferencedDocument/ram:IssuerAssignedID") == ["2026-000124"]
    assert texts(root, "ram:IBANID") == []
    assert texts(root, "ram:DueDateDateTime/udt:DateTimeString") == ["20261130"]


def test_an_invoice_of_a_month_has_a_period_in_place_of_a_day() -> None:
    first = documents.invoice().supplied_from.replace(day=1)
    root = read(documents.invoice(supplied_from=first))
    assert texts(root, "ram:StartDateTime/udt:DateTimeString") == ["20261101"]
    assert texts(root, "ram:OccurrenceDateTime/udt:DateTimeString") == []


@pytest.mark.parametrize("category", UNTAXED)
def test_an_invoice_without_tax_says_why(category: TaxCategory) -> None:
    root = read(documents.untaxed(category))
    check_sums(root)
    assert set(texts(root, "ram:CategoryCode")) == {category.value}
    reasons = texts(root, "ram:ExemptionReason")
    # A rate of zero needs none, and must not have one.
    assert bool(reasons) == (category is not TaxCategory.ZERO_RATED)
    outside = category is TaxCategory.OUTSIDE_SCOPE
    assert bool(texts(root, "ram:RateApplicablePercent")) != outside
    assert bool(texts(root, "ram:SpecifiedTaxRegistration/ram:ID")) != outside


def test_rates_of_two_countries_that_are_the_same_are_one_sum() -> None:
    cyprus = msgspec.structs.replace(documents.STANDARD, country="CY")
    lines = (documents.line(1000), documents.line(2000, cyprus, destination="CY"))
    root = read(documents.invoice(lines=lines))
    check_sums(root)
    assert texts(root, "ram:BasisAmount") == ["30.00"]
    assert texts(root, "ram:ShipToTradeParty") == []


def test_a_seller_with_no_number_at_all_is_named_by_its_name() -> None:
    seller = msgspec.structs.replace(documents.SELLER, vat_id="", registration="", email="")
    root = read(documents.invoice(seller=seller))
    assert texts(root, "ram:SellerTradeParty/ram:ID") == ["Printworks Example GmbH"]
    bare = msgspec.structs.replace(seller, telephone="")
    assert texts(read(documents.invoice(seller=bare)), "ram:DefinedTradeContact") == []


def test_hostile_texts_stay_texts() -> None:
    party = dict.fromkeys(
        ("name", "town", "postal_code", "registration", "email", "telephone"), HOSTILE
    )
    seller = msgspec.structs.replace(documents.SELLER, address=(HOSTILE,) * 5, **party)
    lines = (
        documents.line(100, description=HOSTILE, sku=HOSTILE),
        documents.line(5, description=""),
    )
    bank = msgspec.structs.replace(documents.BANK, holder=HOSTILE, bic="\x00")
    root = read(
        documents.invoice(seller=seller, buyer=seller, lines=lines, footer=HOSTILE, bank=bank)
    )
    check_sums(root)
    assert texts(root, "ram:SellerTradeParty/ram:Name")[0].startswith("<ram:ID>&amp;]]>")
    assert texts(root, "ram:SpecifiedTradeProduct/ram:Name")[1] == "2"


def test_the_same_document_is_written_alike_and_in_a_currency_without_cents() -> None:
    document = documents.invoice(currency="JPY")
    assert write_structured(document) == write_structured(document)
    assert texts(read(document), "ram:GrandTotalAmount") == ["21201"]
