"""Invoices and credit notes, through 3.0."""

from typing import Final

from printworks.actions.brand import read_paper_brand
from printworks.api.endpoints import Call, FileAnswer, Unfinished
from printworks.invoices.files import MEDIA_TYPES, InvoiceForm, name_file, write_file
from printworks.rules.invoices import Invoice
from printworks.store.accounts.brand import read_brand
from printworks.store.engine.rows import cut_page
from printworks.store.money import invoices as store
from printworks.wire.reading import read_parameter
from printworks.wire.v3.envelope import Envelope
from printworks.wire.v3.invoices import InvoiceListOut, InvoiceOut, ListedInvoiceOut

MOST_INVOICES: Final = 250
USUAL_INVOICES: Final = 100
_HIGHEST: Final = 2**62
_LAST_YEAR: Final = 9999


def list_invoices(call: Call) -> Envelope[InvoiceListOut]:
    """List your invoices and credit notes, newest first."""

    def number(name: str, usual: int, highest: int) -> int:
        return read_parameter(name, call.query.get(name, usual), lowest=0, highest=highest)

    limit = number("limit", USUAL_INVOICES, MOST_INVOICES)
    before = number("before", 0, _HIGHEST)
    year = number("year", 0, _LAST_YEAR)
    found = store.list_invoices(
        call.db, call.merchant.id, year=year or None, before=before or None, limit=limit + 1
    )
    shown, following = cut_page(found, limit, lambda row: row.id) if limit else ([], None)
    return Envelope(InvoiceListOut([ListedInvoiceOut.of(row) for row in shown], following))


def get_invoice(call: Call) -> Envelope[InvoiceOut]:
    """Get an invoice or a credit note, with its lines."""
    return Envelope(InvoiceOut.of(_get(call)))


def download_invoice(call: Call) -> Unfinished[FileAnswer]:
    """Download an invoice or a credit note as PDF, with the electronic invoice inside."""
    invoice, stored, form = _get(call), read_brand(call.db), InvoiceForm.PDF

    def print_pdf() -> FileAnswer:
        content = write_file(invoice, form, read_paper_brand(stored, call.services.files))
        return FileAnswer(MEDIA_TYPES[form], name_file(invoice, form), content)

    return Unfinished(print_pdf)


def _get(call: Call) -> Invoice:
    return store.get_document(call.db, call.merchant.id, call.path["number"])
