"""The invoices and credit notes of all merchants."""

from typing import Final

from starlette.responses import Response

from printworks.dashboard.shared.invoices import KINDS, InvoiceResponse, download_all, read_form
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.store.money.invoices import get_any_document, list_any_invoices

_ROWS: Final = 50


@page_at("/console/invoices")
def show_invoices(visit: ConsoleVisit) -> Response:
    """Show all documents, newest first, or the one with a number."""
    number = visit.query.get("number", "").strip()
    found = list_any_invoices(visit.db, number=number, before=visit.cursor(), limit=_ROWS + 1)
    shown, last = cut(found, _ROWS)
    return visit.render(
        "console/invoices.html",
        invoices=shown,
        kinds=KINDS,
        number=number,
        pages=visit.pages(last.id if last else None, number=number),
    )


@page_at("/console/invoices/all.csv")
def download_invoices(visit: ConsoleVisit) -> Response:
    """Return the lines of all documents as a table for spreadsheets."""
    return download_all(visit.services.database, None, None, "invoices.csv")


@page_at("/console/invoices/{number}/{form}")
def download_invoice(visit: ConsoleVisit) -> Response:
    """Return a document as PDF, XML or CSV."""
    path = visit.request.path_params
    document = get_any_document(visit.db, path["number"])
    return InvoiceResponse(visit.services, document, read_form(path["form"]))
