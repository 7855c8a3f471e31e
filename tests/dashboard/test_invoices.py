"""Invoices on pages: listed by year, downloaded in three forms, and by nobody else."""

import csv
import re
from io import BytesIO, StringIO

import pytest
from facturx import get_xml_from_pdf, xml_check_xsd
from pypdf import PdfReader

from printworks.dashboard.console import invoices as console
from printworks.dashboard.merchant.account import invoices as merchants
from printworks.rules.invoices import Invoice, Invoicing
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from tests.actions.complaints import cancel, submitted
from tests.actions.invoicing import make_all
from tests.actions.test_taxes import sell
from tests.dashboard.windows import Window, merchant_of

INVOICES = "/invoices"
CONSOLE = "/console/invoices"


def sell_to(database: Database, alice: Window, *, orders: int = 1) -> list[Invoice]:
    """Sell Alice some orders, cancel the last one, and invoice all of it."""
    with database.writing() as db:
        merchant = merchant_of(db, alice)
        sell(db)
        for _ in range(orders):
            order = submitted(db, merchant)
        cancel(db, merchant, order)
        return make_all(db, merchant)


def numbers_on(page: bytes) -> list[str]:
    return re.findall(r'<span class="mono">([0-9-]+)</span>', page.decode())


@pytest.mark.both_databases
def test_invoices_and_credit_notes_are_listed_and_downloaded(
    alice: Window, database: Database
) -> None:
    invoice, credit = sell_to(database, alice)

    words = alice.words(INVOICES)
    printed = alice.open(f"{INVOICES}/{invoice.number}/pdf")
    structured = alice.open(f"{INVOICES}/{credit.number}/xml")
    listed = alice.open(f"{INVOICES}/all.csv?year={invoice.year}")

    assert invoice.number in words
    assert "Credit note" in words
    assert printed.headers["content-type"] == "application/pdf"
    assert f"invoice-{invoice.number}.pdf" in printed.headers["content-disposition"]
    assert invoice.number in PdfReader(BytesIO(printed.body)).pages[0].extract_text()
    assert get_xml_from_pdf(printed.body, check_xsd=True)[0] == "factur-x.xml"
    assert xml_check_xsd(structured.body, flavor="factur-x", level="en16931")
    rows = list(csv.DictReader(StringIO(listed.body.decode("utf-8-sig"))))
    assert {row["number"] for row in rows} == {invoice.number, credit.number}
    assert alice.open(f"{INVOICES}/{credit.number}/csv").status == 200


def test_an_order_and_the_account_lead_to_its_invoices(alice: Window, database: Database) -> None:
    assert INVOICES not in alice.open("/account").body.decode()
    invoice, credit = sell_to(database, alice)

    page = alice.open(f"/orders/{invoice.lines[0].order_id}").body.decode()

    assert f"{INVOICES}/{invoice.number}/pdf" in page
    assert f"{INVOICES}/{credit.number}/pdf" in page
    assert f'href="{INVOICES}"' in alice.open("/account").body.decode()


def test_the_list_has_pages_and_years(
    alice: Window, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(merchants, "_ROWS", 2)
    issued = sell_to(database, alice, orders=3)

    first = alice.open(INVOICES).body
    following = re.findall(r'href="([^"]+)" rel="next"', first.decode())[0].replace("&amp;", "&")

    assert numbers_on(first) == [one.number for one in issued[:1:-1]]
    assert numbers_on(alice.open(following).body) == [one.number for one in issued[1::-1]]
    assert "No invoices of this year" in alice.words(f"{INVOICES}?year=1999")
    assert len(numbers_on(alice.open(f"{INVOICES}?year={issued[0].year}").body)) == 2
    assert len(numbers_on(alice.open(f"{INVOICES}?year=x").body)) == 2


def test_without_invoices_the_page_says_when_there_will_be_some(alice: Window) -> None:
    assert "No invoices yet" in alice.words(INVOICES)


@pytest.mark.parametrize("form", ["doc", "pdf2", "%00"])
def test_other_forms_and_numbers_do_not_exist(alice: Window, database: Database, form: str) -> None:
    invoice, _ = sell_to(database, alice)
    assert alice.open(f"{INVOICES}/{invoice.number}/{form}").status == 404
    assert alice.open(f"{INVOICES}/{form}/pdf").status == 404


@pytest.mark.both_databases
def test_nobody_sees_the_invoices_of_others(alice: Window, bob: Window, database: Database) -> None:
    invoice, _ = sell_to(database, alice)
    assert bob.open(f"{INVOICES}/{invoice.number}/pdf").status == 404
    assert numbers_on(bob.open(INVOICES).body) == []


@pytest.mark.both_databases
def test_operators_find_every_invoice_by_its_number(
    alice: Window, operator: Window, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(console, "_ROWS", 1)
    invoice, credit = sell_to(database, alice)

    assert numbers_on(operator.open(CONSOLE).body) == [credit.number]
    assert numbers_on(operator.open(f"{CONSOLE}?number={invoice.number}").body) == [invoice.number]
    assert "No invoice with this number" in operator.words(f"{CONSOLE}?number=1%00")
    assert operator.open(f"{CONSOLE}/{invoice.number}/pdf").status == 200
    assert operator.open(f"{CONSOLE}/all.csv").status == 200
    order = operator.open(f"/console/orders/{invoice.lines[0].order_id}").body.decode()
    assert f"{CONSOLE}/{invoice.number}/pdf" in order


def test_an_operator_chooses_when_a_merchant_is_invoiced(
    alice: Window, operator: Window, database: Database
) -> None:
    page = f"/console/merchants/{alice.code}"

    operator.do(page, "change-invoicing", invoicing="monthly")
    refused = operator.do(page, "change-invoicing", invoicing="weekly")

    with database.reading() as db:
        assert get_merchant_by_code(db, alice.code).invoicing is Invoicing.MONTHLY
    assert "Choose when the merchant is sent invoices." in refused.body.decode()
