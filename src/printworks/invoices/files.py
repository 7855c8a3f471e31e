"""The forms in which a document can be had."""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final

from printworks.invoices.listed import write_rows
from printworks.invoices.structured import write_structured
from printworks.rules.brand import PLAIN_PAPER, PaperBrand
from printworks.rules.invoices import Invoice


class InvoiceForm(StrEnum):
    """How a document is written; also the end of its file name."""

    PDF = "pdf"
    XML = "xml"
    CSV = "csv"


MEDIA_TYPES: Final[Mapping[InvoiceForm, str]] = {
    InvoiceForm.PDF: "application/pdf",
    InvoiceForm.XML: "application/xml",
    InvoiceForm.CSV: "text/csv",
}


def _print(invoice: Invoice, brand: PaperBrand) -> bytes:
    # Only now: the library takes half a second to load, and most processes never print.
    from printworks.invoices.printed import print_invoice

    return print_invoice(invoice, brand)


_WRITERS: Final[Mapping[InvoiceForm, Callable[[Invoice, PaperBrand], bytes]]] = {
    InvoiceForm.PDF: _print,
    InvoiceForm.XML: lambda invoice, _: write_structured(invoice),
    InvoiceForm.CSV: lambda invoice, _: b"".join(write_rows([invoice])),
}


def write_file(invoice: Invoice, form: InvoiceForm, brand: PaperBrand = PLAIN_PAPER) -> bytes:
    """Return a document in a form: the same bytes whenever it is asked for with the same brand."""
    return _WRITERS[form](invoice, brand)


def name_file(invoice: Invoice, form: InvoiceForm) -> str:
    """Return the name under which a document is saved."""
    return f"{invoice.kind}-{invoice.number}.{form}"
