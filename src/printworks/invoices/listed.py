"""Documents as CSV: a row for each line, for spreadsheets and bookkeeping programs."""

import csv
import io
from collections.abc import Iterable, Iterator
from typing import Final

from printworks.invoices.texts import clean, write_amount, write_rate
from printworks.rules.invoices import Invoice, InvoiceKind
from printworks.rules.spreadsheets import as_text

_COLUMNS: Final = (
    *("number", "kind", "date", "corrects", "merchant", "buyer", "buyer country", "buyer VAT ID"),
    *("order", "destination", "description", "sku", "quantity", "currency", "net", "tax rate"),
    *("tax category", "tax", "gross"),
)


def write_rows(invoices: Iterable[Invoice]) -> Iterator[bytes]:
    """Write documents, a row for each line. The amounts of credit notes are below zero."""
    yield _write(_COLUMNS)
    for invoice in invoices:
        for row in _list_lines(invoice):
            yield _write(row)


def _write(row: Iterable[str]) -> bytes:
    line = io.StringIO()
    csv.writer(line).writerow(row)
    return line.getvalue().encode()


def _list_lines(invoice: Invoice) -> Iterator[tuple[str, ...]]:
    sign = -1 if invoice.kind is InvoiceKind.CREDIT_NOTE else 1
    head = (
        invoice.number,
        invoice.kind.value,
        invoice.issued_on.isoformat(),
        invoice.corrects.number if invoice.corrects else "",
        as_text(invoice.buyer_code),
        as_text(clean(invoice.buyer.name)),
        invoice.buyer.country,
        as_text(clean(invoice.buyer.vat_id)),
    )
    for line in invoice.lines:
        yield (
            *head,
            str(line.order_id),
            line.destination,
            as_text(clean(line.description)),
            as_text(clean(line.sku)),
            str(line.quantity),
            invoice.currency,
            write_amount(sign * line.net, invoice.currency),
            write_rate(line.rate.rate),
            line.rate.category.value,
            write_amount(sign * line.tax, invoice.currency),
            write_amount(sign * line.gross, invoice.currency),
        )
