"""Invoices as downloads, the same for merchants and operators."""

from collections.abc import Iterator
from typing import Final

from starlette.responses import Response, StreamingResponse

from printworks.actions.invoices.reading import read_documents
from printworks.dashboard.site.visits import refuse_unknown
from printworks.invoices.files import MEDIA_TYPES, InvoiceForm, name_file, write_file
from printworks.invoices.listed import write_rows
from printworks.rules.invoices import Invoice, InvoiceKind
from printworks.store.engine.database import Database

KINDS: Final = {InvoiceKind.INVOICE: "Invoice", InvoiceKind.CREDIT_NOTE: "Credit note"}
# A spreadsheet knows the alphabet by this.
_MARK: Final = b"\xef\xbb\xbf"


def read_form(text: str) -> InvoiceForm:
    """Return the form that an address names."""
    try:
        return InvoiceForm(text)
    except ValueError:
        refuse_unknown()


def download(invoice: Invoice, form: InvoiceForm) -> Response:
    """Return a document as a file."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name_file(invoice, form)}"',
        "Cache-Control": "private, no-store",
    }
    content = write_file(invoice, form)
    if form is InvoiceForm.CSV:
        content = _MARK + content
    return Response(content, media_type=MEDIA_TYPES[form], headers=headers)


def download_all(
    database: Database, merchant_id: int | None, year: int | None, name: str
) -> Response:
    """Return the lines of all documents as one table, written while it is sent."""
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }
    rows = write_rows(read_documents(database, merchant_id, year=year))
    return StreamingResponse(_after_mark(rows), media_type="text/csv", headers=headers)


def _after_mark(pieces: Iterator[bytes]) -> Iterator[bytes]:
    yield _MARK
    yield from pieces
