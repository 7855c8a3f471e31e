"""A merchant's invoices and credit notes, to look at and to download."""

from typing import Final

from starlette.responses import Response

from printworks.dashboard.shared.invoices import KINDS, InvoiceResponse, download_all, read_form
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.rules.people import Duty
from printworks.store.money.invoices import get_document, list_invoices, list_years

_ROWS: Final = 25


@page_at("/invoices", duty=Duty.ACCOUNT)
def show_invoices(visit: MerchantVisit) -> Response:
    """Show the documents of a merchant, newest first, of all years or of one."""
    years = list_years(visit.db, visit.merchant.id)
    year = _read_year(visit)
    found = list_invoices(
        visit.db, visit.merchant.id, year=year, before=visit.cursor(), limit=_ROWS + 1
    )
    shown, last = cut(found, _ROWS)
    return visit.render(
        "merchant/invoices.html",
        invoices=shown,
        kinds=KINDS,
        year=year,
        years=[(str(each), str(each)) for each in years],
        pages=visit.pages(last.id if last else None, year=year or ""),
    )


@page_at("/invoices/all.csv", duty=Duty.ACCOUNT)
def download_invoices(visit: MerchantVisit) -> Response:
    """Return the lines of all documents, or of those of a year, as a table for spreadsheets."""
    year = _read_year(visit)
    name = f"invoices-{year}.csv" if year else "invoices.csv"
    return download_all(visit.services.database, visit.merchant.id, year, name)


@page_at("/invoices/{number}/{form}", duty=Duty.ACCOUNT)
def download_invoice(visit: MerchantVisit) -> Response:
    """Return a document as PDF, XML or CSV."""
    path = visit.request.path_params
    document = get_document(visit.db, visit.merchant.id, path["number"])
    return InvoiceResponse(visit.services, document, read_form(path["form"]))


def _read_year(visit: MerchantVisit) -> int | None:
    """Return the year that the address asks for; None for any other text."""
    text = visit.query.get("year", "")
    return int(text) if text.isascii() and text.isdigit() and len(text) <= len("9999") else None
