"""What must agree between documents, their numbers and the ledger."""

from collections.abc import Collection, Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from printworks.rules.invoices import hash_document, read_document
from printworks.rules.ledger import EntryKind, LedgerEntry, reversal_key
from printworks.rules.ledger_audit import LedgerFault


class AuditedInvoice(msgspec.Struct, frozen=True):
    """A document as it is stored."""

    id: int
    merchant_id: int
    series: str
    year: int
    sequence: int
    number: str
    gross: int
    tax: int
    document: str
    hash: str
    # What its ledger entries say, together.
    booked: int
    booked_tax: int


class Counter(msgspec.Struct, frozen=True):
    """How far the numbers of a series have come in a year."""

    series: str
    year: int
    last: int
    head: str


class InvoiceFault(NamedTuple):
    """A fault, and the merchant whose document it is; none if a number has no document."""

    merchant_id: int | None
    fault: LedgerFault


class InvoiceCheck(NamedTuple):
    """How many documents were verified, and what was wrong."""

    documents: int
    faults: list[InvoiceFault]


class NotedEntry(NamedTuple):
    """What is noted of a ledger entry that needs a document."""

    kind: EntryKind
    amount: int
    tax: int
    has_document: bool


class CauseCheck(NamedTuple):
    """How many entries wait for their documents, and what was wrong."""

    waiting: int
    faults: list[LedgerFault]


_OF_SALES: Final = frozenset({EntryKind.CHARGE, EntryKind.REFUND})


def audit_causes(
    entries: Iterable[LedgerEntry], causes: Mapping[int, NotedEntry], taxed: Collection[int]
) -> CauseCheck:
    """Compare ledger entries with the notes that they need a document.

    The charges and refunds of taxed orders need one, and the reversals of credits that have one.
    """
    faults: list[LedgerFault] = []
    left = dict(causes)
    credited: set[str] = set()
    for entry in entries:
        claim = left.pop(entry.number, None)
        if claim is not None and entry.kind is EntryKind.CREDIT:
            credited.add(reversal_key(entry))
        is_sale = entry.kind in _OF_SALES and entry.order_id in taxed and entry.amount > 0
        needed = is_sale or entry.key in credited
        if claim is None and needed:
            sentence = f"Entry {entry.number} is a {entry.kind} without an invoice."
            faults.append(LedgerFault("invoice-missing", sentence))
        elif claim is not None and claim[:3] != (entry.kind, entry.amount, entry.tax):
            sentence = f"Entry {entry.number} is not what its invoice was written for."
            faults.append(LedgerFault("invoice-entry", sentence))
    faults += [
        LedgerFault("invoice-stranger", f"An invoice is for entry {number}, which does not exist.")
        for number in left
    ]
    return CauseCheck(sum(not claim.has_document for claim in causes.values()), faults)


def audit_invoices(invoices: Iterable[AuditedInvoice], counters: Iterable[Counter]) -> InvoiceCheck:
    """Verify all documents, by series, year and sequence."""
    faults: list[InvoiceFault] = []
    last: dict[tuple[str, int], tuple[int, str]] = {}
    documents = 0
    for invoice in invoices:
        documents += 1
        place = (invoice.series, invoice.year)
        sequence, head = last.get(place, (0, ""))
        faults += [
            InvoiceFault(invoice.merchant_id, fault)
            for fault in _audit_one(invoice, sequence, head)
        ]
        last[place] = (invoice.sequence, invoice.hash)
    return InvoiceCheck(documents, faults + _audit_counters(last, counters))


def _audit_one(invoice: AuditedInvoice, before: int, head: str) -> Iterable[LedgerFault]:
    name = f"Invoice {invoice.number}"
    if invoice.sequence != before + 1:
        yield LedgerFault("invoice-gap", f"Before invoice {invoice.number} a number is missing.")
    if hash_document(invoice.document, head) != invoice.hash:
        yield LedgerFault("invoice-altered", f"{name} is not what was issued.")
        return
    document = read_document(invoice.document)
    said = (document.number, document.gross, document.tax)
    if said != (invoice.number, invoice.gross, invoice.tax):
        yield LedgerFault("invoice-columns", f"{name} says something other than its document.")
    if (invoice.booked, invoice.booked_tax) != (document.gross, document.tax):
        sentence = (
            f"{name} is of {document.gross} with {document.tax} of tax; its ledger entries are of "
            f"{invoice.booked} with {invoice.booked_tax}."
        )
        yield LedgerFault("invoice-amount", sentence)


def _audit_counters(
    last: Mapping[tuple[str, int], tuple[int, str]], counters: Iterable[Counter]
) -> list[InvoiceFault]:
    counted = {(each.series, each.year): (each.last, each.head) for each in counters}
    return [
        InvoiceFault(
            None,
            LedgerFault(
                "invoice-end", f"The last numbers of {year} are not those that were given."
            ),
        )
        for series, year in sorted({*counted, *last})
        if counted.get((series, year)) != last.get((series, year))
    ]
