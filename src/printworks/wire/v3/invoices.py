"""Invoices and credit notes as 3.0 shows them: an addition to the contract."""

from typing import Self

import msgspec

from printworks.rules.invoices import Invoice, InvoiceKind, InvoiceLine, InvoiceParty
from printworks.store.money.invoices import InvoiceRow
from printworks.wire.timestamps import show_timestamp


class ListedInvoiceOut(msgspec.Struct, frozen=True, kw_only=True):
    """What the list says of a document. Amounts are in cents or pence."""

    id: int
    number: str
    kind: InvoiceKind
    issued: str
    currency: str
    net: int
    tax: int
    gross: int

    @classmethod
    def of(cls, row: InvoiceRow) -> Self:
        return cls(
            id=row.id,
            number=row.number,
            kind=row.kind,
            issued=show_timestamp(row.issued_at),
            currency=row.currency,
            net=row.net,
            tax=row.tax,
            gross=row.gross,
        )


class InvoiceListOut(msgspec.Struct, frozen=True):
    """Documents, newest first; `next` is the `before` of the next page, null on the last."""

    invoices: list[ListedInvoiceOut]
    next: int | None


class InvoicePartyOut(msgspec.Struct, frozen=True, kw_only=True):
    """Who sells, or who buys."""

    name: str
    address: list[str]
    postalCode: str
    town: str
    countryCode: str
    vatId: str

    @classmethod
    def of(cls, party: InvoiceParty) -> Self:
        return cls(
            name=party.name,
            address=list(party.address),
            postalCode=party.postal_code,
            town=party.town,
            countryCode=party.country,
            vatId=party.vat_id,
        )


class InvoiceLineOut(msgspec.Struct, frozen=True, kw_only=True):
    """A line of a document; the rate is in hundredths of a percent."""

    orderId: int
    description: str
    sku: str | None
    quantity: int
    net: int
    tax: int
    taxRate: int
    taxCategory: str

    @classmethod
    def of(cls, line: InvoiceLine) -> Self:
        return cls(
            orderId=line.order_id,
            description=line.description,
            sku=line.sku or None,
            quantity=line.quantity,
            net=line.net,
            tax=line.tax,
            taxRate=line.rate.rate,
            taxCategory=line.rate.category.value,
        )


class InvoiceOut(msgspec.Struct, frozen=True, kw_only=True):
    """A document. Amounts are in cents or pence."""

    number: str
    kind: InvoiceKind
    issuedOn: str
    suppliedFrom: str
    suppliedUntil: str
    dueOn: str | None
    corrects: str | None
    currency: str
    net: int
    tax: int
    gross: int
    paid: int
    seller: InvoicePartyOut
    buyer: InvoicePartyOut
    lines: list[InvoiceLineOut]

    @classmethod
    def of(cls, invoice: Invoice) -> Self:
        return cls(
            number=invoice.number,
            kind=invoice.kind,
            issuedOn=invoice.issued_on.isoformat(),
            suppliedFrom=invoice.supplied_from.isoformat(),
            suppliedUntil=invoice.supplied_until.isoformat(),
            dueOn=invoice.due_on.isoformat() if invoice.due_on else None,
            corrects=invoice.corrects.number if invoice.corrects else None,
            currency=invoice.currency,
            net=invoice.net,
            tax=invoice.tax,
            gross=invoice.gross,
            paid=invoice.paid,
            seller=InvoicePartyOut.of(invoice.seller),
            buyer=InvoicePartyOut.of(invoice.buyer),
            lines=[InvoiceLineOut.of(line) for line in invoice.lines],
        )
