"""`printworks invoice`: the invoices and credit notes that were issued."""

from pathlib import Path
from typing import Annotated, Any, Final

import typer

from printworks.actions.brand import read_paper_brand
from printworks.actions.invoices.reading import read_documents
from printworks.cli.options import Limit, OnlyMerchant
from printworks.cli.output import Columns, pick, write_money
from printworks.cli.session import CommandSession, command
from printworks.errors import BadInput
from printworks.invoices.files import InvoiceForm, name_file, write_file
from printworks.invoices.listed import write_rows
from printworks.rules.invoices import Invoice
from printworks.store.accounts.brand import read_brand
from printworks.store.accounts.merchants import get_merchant_by_code
from printworks.store.money.invoices import get_any_document, list_any_invoices, list_invoices

app = typer.Typer(no_args_is_help=True)

_COLUMNS: Final[Columns] = {
    "number": "number",
    "what": "kind",
    "issued": "issuedAt",
    "merchant": "merchantCode",
    "net": lambda row: write_money(row["net"], row["currency"]),
    "tax": lambda row: write_money(row["tax"], row["currency"]),
    "total": lambda row: write_money(row["gross"], row["currency"]),
}

Number = Annotated[str, typer.Argument(metavar="NUMBER", help="As it is printed: 2026-000123.")]


@command(app, "list")
def list_issued(
    session: CommandSession, *, merchant: OnlyMerchant = None, limit: Limit = 50
) -> None:
    """List invoices and credit notes, newest first."""
    with session.reading() as db:
        if merchant is None:
            found = list_any_invoices(db, limit=limit)
        else:
            whose = get_merchant_by_code(db, merchant)
            found = list_invoices(db, whose.id, limit=limit)
    members = ("number", "kind", "merchant_code", "currency", "net", "tax", "gross", "issued_at")
    session.show_list(
        [pick(row, *members) for row in found], _COLUMNS, "No invoice was issued yet."
    )


@command(app, "show")
def show(session: CommandSession, number: Number) -> None:
    """Show an invoice or a credit note with its lines."""
    with session.reading() as db:
        invoice = get_any_document(db, number)
    session.show(_describe(invoice), *_write(invoice))


@command(app, "export")
def export(
    session: CommandSession,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A folder that does not exist yet.")
    ],
    *,
    merchant: OnlyMerchant = None,
    year: Annotated[int | None, typer.Option(help="Only of this year.")] = None,
) -> None:
    """Write all invoices as PDF, with the electronic invoice inside, and one CSV of all lines."""
    merchant_id = None
    if merchant is not None:
        with session.reading() as db:
            merchant_id = get_merchant_by_code(db, merchant).id
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        raise BadInput(f"{folder} exists already; name another folder.") from None
    database = session.services.database
    with session.reading() as db:
        stored = read_brand(db)
    brand = read_paper_brand(stored, session.services.files)
    count = 0
    for invoice in read_documents(database, merchant_id, year=year):
        form = InvoiceForm.PDF
        (folder / name_file(invoice, form)).write_bytes(write_file(invoice, form, brand))
        count += 1
    with (folder / "invoices.csv").open("wb") as table:
        table.writelines(write_rows(read_documents(database, merchant_id, year=year)))
    session.done(f"{folder} has {count} invoices.", folder=str(folder), invoices=count)


def _describe(invoice: Invoice) -> dict[str, Any]:
    return {
        **pick(invoice, "number", "kind", "issued_on", "due_on", "currency", "net", "tax", "gross"),
        "merchantId": invoice.buyer_code,
        "corrects": invoice.corrects.number if invoice.corrects else None,
        "lines": [
            pick(line, "order_id", "description", "sku", "quantity", "net", "tax")
            for line in invoice.lines
        ],
    }


def _write(invoice: Invoice) -> list[str]:
    def money(amount: int) -> str:
        return write_money(amount, invoice.currency)

    corrected = f", corrects {invoice.corrects.number}" if invoice.corrects else ""
    return [
        f"{invoice.kind} {invoice.number} of {invoice.issued_on}{corrected}",
        f"to {invoice.buyer_code}, {invoice.buyer.name}",
        *(
            f"  {line.quantity} x {line.description}  {money(line.net)} + {money(line.tax)}"
            for line in invoice.lines
        ),
        f"{money(invoice.net)} net, {money(invoice.tax)} tax, {money(invoice.gross)} in all",
    ]
