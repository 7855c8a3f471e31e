"""Invoices as downloads, the same for merchants and operators."""

from collections.abc import Iterator
from typing import Final

import anyio.to_thread
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from printworks.actions.brand import read_paper_brand
from printworks.actions.invoices.reading import read_documents
from printworks.dashboard.site.branding import find_brand
from printworks.dashboard.site.services import PageServices
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


class InvoiceResponse(Response):
    """A document as a file, which is written when the response is sent, after the transaction."""

    def __init__(self, services: PageServices, invoice: Invoice, form: InvoiceForm) -> None:
        super().__init__()
        self._services = services
        self._invoice = invoice
        self._form = form
        self._brand = find_brand()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the document."""
        name = name_file(self._invoice, self._form)
        headers = {
            "Content-Disposition": f'attachment; filename="{name}"',
            "Cache-Control": "private, no-store",
        }
        content = await anyio.to_thread.run_sync(self._write)
        answer = Response(content, media_type=MEDIA_TYPES[self._form], headers=headers)
        await answer(scope, receive, send)

    def _write(self) -> bytes:
        if self._form is InvoiceForm.PDF:
            brand = read_paper_brand(self._brand, self._services.files)
            return write_file(self._invoice, self._form, brand)
        content = write_file(self._invoice, self._form)
        return _MARK + content if self._form is InvoiceForm.CSV else content


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
