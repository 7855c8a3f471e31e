"""Invoices through 3.0: an addition to the contract."""

from io import BytesIO

import pytest
from pypdf import PdfReader

from printworks.actions.brand import change_brand
from printworks.rules.brand import Brand
from printworks.rules.invoices import Invoice
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.engine.database import Database
from tests.actions.complaints import cancel, submitted
from tests.actions.invoicing import make_all
from tests.actions.test_taxes import sell
from tests.api.client import Client
from tests.factories import a_system_work


def sell_to(database: Database, client: Client) -> list[Invoice]:
    """Sell a merchant an order, cancel it, and invoice both."""
    with database.writing() as db:
        merchant = get_merchant_by_code(db, client.credentials["X-Service-MerchantId"])
        sell(db)
        cancel(db, merchant, submitted(db, merchant))
        return make_all(db, merchant)


def test_without_invoices_the_list_is_empty(v3: Client) -> None:
    assert v3.get("/invoices").data == {"invoices": [], "next": None}


@pytest.mark.both_databases
def test_invoices_are_listed_newest_first_and_page_by_page(v3: Client, database: Database) -> None:
    invoice, credit = sell_to(database, v3)

    whole = v3.get(f"/invoices?year={invoice.year}").data
    first = v3.get("/invoices?limit=1").data
    second = v3.get(f"/invoices?limit=1&before={first['next']}").data

    assert [one["number"] for one in whole["invoices"]] == [credit.number, invoice.number]
    assert whole["invoices"][1]["gross"] == invoice.gross
    assert [one["number"] for one in first["invoices"]] == [credit.number]
    assert [one["number"] for one in second["invoices"]] == [invoice.number]
    assert (whole["next"], second["next"]) == (None, None)
    assert v3.get("/invoices?year=1999").data["invoices"] == []
    assert v3.get("/invoices?limit=0").data["invoices"] == []


@pytest.mark.parametrize("query", ["limit=x", "before=x", "year=-1.5"])
def test_what_is_no_number_is_refused(v3: Client, query: str) -> None:
    assert v3.get(f"/invoices?{query}").status == 400


def test_an_invoice_shows_its_lines_and_what_it_corrects(v3: Client, database: Database) -> None:
    invoice, credit = sell_to(database, v3)

    shown = v3.get(f"/invoices/{invoice.number}").data
    corrected = v3.get(f"/invoices/{credit.number}").data

    assert shown["seller"]["name"] == "Prints Ltd"
    assert sum(line["net"] + line["tax"] for line in shown["lines"]) == shown["gross"]
    assert shown["lines"][-1]["sku"] is None
    assert (shown["corrects"], corrected["corrects"]) == (None, invoice.number)
    assert (corrected["kind"], corrected["dueOn"]) == ("credit-note", None)


def test_a_pdf_is_downloaded_and_known_by_its_tag(v3: Client, database: Database) -> None:
    invoice, _ = sell_to(database, v3)

    answer = v3.get(f"/invoices/{invoice.number}/pdf")

    assert (answer.status, answer.headers["content-type"]) == (200, "application/pdf")
    assert f"invoice-{invoice.number}.pdf" in answer.headers["content-disposition"]
    assert invoice.number in PdfReader(BytesIO(answer.body)).pages[0].extract_text()
    tag = {"If-None-Match": answer.headers["etag"]}
    assert v3.get(f"/invoices/{invoice.number}/pdf", **tag).status == 304
    with database.writing() as db:
        change_brand(a_system_work(db), Brand(accent="#7a1f5c"))
    assert v3.get(f"/invoices/{invoice.number}/pdf", **tag).status == 200


@pytest.mark.both_databases
def test_the_invoice_of_somebody_else_does_not_exist(
    v3: Client, somebody_else: Client, database: Database
) -> None:
    invoice, _ = sell_to(database, v3)
    theirs, none = f"/invoices/{invoice.number}", "/invoices/2020-000001"

    assert somebody_else.get(theirs).status == 404
    assert somebody_else.get(f"{theirs}/pdf").status == 404
    assert v3.get(none).status == 404
    assert v3.get("/invoices/%00").status == 404
