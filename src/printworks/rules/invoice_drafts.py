"""What an invoice will say of a charge, as it was when the order was charged.

A charge is noted at once and numbered later, so that orders of different merchants do not wait for each
other's numbers; whatever changes in between changes nothing of the invoice.
"""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from printworks.conversion import reader_of
from printworks.rules.invoices import (
    BankAccount,
    Correction,
    Invoice,
    InvoiceKind,
    InvoiceLine,
    InvoiceParty,
    sum_lines,
)
from printworks.rules.languages import Language
from printworks.rules.taxes import TaxCategory, TaxedAmount, TaxRate

# A document with more orders would be a book.
MOST_COLLECTED: Final = 500
# How long after the end of a month it is collected: a charge takes its time before it is written,
# and the clocks of machines differ.
COLLECTS_AFTER: Final = timedelta(minutes=5)
_FIRST_SELLER: Final = 1


class InvoiceDraft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A charge of an order, with all that its invoice says."""

    series: str
    currency: str
    language: Language
    seller: InvoiceParty
    buyer: InvoiceParty
    buyer_code: str
    lines: tuple[InvoiceLine, ...]
    # What stands for all of the order in an invoice of a month.
    summary: str
    bank: BankAccount | None = None
    paid: int = 0
    footer: str = ""


class IssuedAs(NamedTuple):
    """The place of a document among others, and the days that it speaks of."""

    year: int
    sequence: int
    issued_on: date
    supplied_from: date
    supplied_until: date
    # When what is not paid yet is due.
    due_on: date


class CollectingGroup(NamedTuple):
    """What the charges of one document have in common."""

    series: str
    currency: str
    seller: InvoiceParty
    buyer: InvoiceParty
    # The standard has no document of which only a part is outside the scope of the tax.
    is_outside_scope: bool
    # It wants one destination for supplies to another member state.
    destination: str


_read: Final = reader_of(InvoiceDraft)


def write_draft(draft: InvoiceDraft) -> str:
    return msgspec.json.encode(draft, order="sorted").decode()


def read_draft(text: str) -> InvoiceDraft:
    return _read(msgspec.json.decode(text))


def name_series(seller_id: int) -> str:
    """Return what stands before the numbers of a seller: nothing for the first one."""
    return "" if seller_id == _FIRST_SELLER else str(seller_id)


def find_group(draft: InvoiceDraft) -> CollectingGroup:
    """Return what other charges must have in common with this one to be on its document."""
    categories = {line.rate.category for line in draft.lines}
    to_members = TaxCategory.INTRA_COMMUNITY in categories
    return CollectingGroup(
        series=draft.series,
        currency=draft.currency,
        seller=draft.seller,
        buyer=draft.buyer,
        is_outside_scope=TaxCategory.OUTSIDE_SCOPE in categories,
        destination=draft.lines[0].destination if to_members else "",
    )


def invoice_order(draft: InvoiceDraft, issued: IssuedAs) -> Invoice:
    """Return the invoice of one order."""
    return _write(draft, InvoiceKind.INVOICE, issued, draft.lines)


def invoice_month(drafts: Sequence[InvoiceDraft], issued: IssuedAs) -> Invoice:
    """Return the invoice of several orders: a line for each of them, and for each rate."""
    lines = tuple(line for draft in drafts for line in _summarize(draft))
    last = msgspec.structs.replace(drafts[-1], paid=sum(draft.paid for draft in drafts))
    return _write(last, InvoiceKind.INVOICE, issued, lines)


def _summarize(draft: InvoiceDraft) -> Iterable[InvoiceLine]:
    first = draft.lines[0]
    for rate, amount in sum_lines(draft.lines).items():
        yield _write_sum(first, draft.summary, rate, amount)


def credit_charge(draft: InvoiceDraft, issued: IssuedAs, corrects: Correction) -> Invoice:
    """Return the credit note that takes back all of a charge."""
    return _write_credit(draft, issued, corrects, draft.lines)


def credit_part(
    draft: InvoiceDraft,
    issued: IssuedAs,
    corrects: Correction,
    parts: dict[TaxRate, TaxedAmount],
    description: str,
) -> Invoice:
    """Return the credit note that takes back these parts of a charge."""
    first = draft.lines[0]
    lines = (_write_sum(first, description, rate, part) for rate, part in parts.items())
    return _write_credit(draft, issued, corrects, tuple(lines))


def invoice_again(
    draft: InvoiceDraft, issued: IssuedAs, note: Invoice, description: str
) -> Invoice:
    """Return the invoice that takes back a credit note for a part of a charge.

    Nobody is asked to pay it: it is charged to the account that the credit note was credited to.
    """
    lines = tuple(msgspec.structs.replace(line, description=description) for line in note.lines)
    on_account = msgspec.structs.replace(draft, paid=0, bank=None)
    invoice = _write(on_account, InvoiceKind.INVOICE, issued, lines)
    return msgspec.structs.replace(invoice, corrects=Correction(note.number, note.issued_on))


def _write_sum(
    like: InvoiceLine, description: str, rate: TaxRate, amount: TaxedAmount
) -> InvoiceLine:
    return InvoiceLine(
        description=description,
        order_id=like.order_id,
        destination=like.destination,
        quantity=1,
        net=amount.net,
        tax=amount.tax,
        rate=rate,
    )


def _write_credit(
    draft: InvoiceDraft, issued: IssuedAs, corrects: Correction, lines: tuple[InvoiceLine, ...]
) -> Invoice:
    unpaid = msgspec.structs.replace(draft, paid=0)
    credit = _write(unpaid, InvoiceKind.CREDIT_NOTE, issued, lines)
    return msgspec.structs.replace(credit, corrects=corrects, due_on=None)


def _write(
    draft: InvoiceDraft, kind: InvoiceKind, issued: IssuedAs, lines: tuple[InvoiceLine, ...]
) -> Invoice:
    invoice = Invoice(
        kind=kind,
        series=draft.series,
        year=issued.year,
        sequence=issued.sequence,
        issued_on=issued.issued_on,
        supplied_from=issued.supplied_from,
        supplied_until=issued.supplied_until,
        currency=draft.currency,
        language=draft.language,
        seller=draft.seller,
        buyer=draft.buyer,
        buyer_code=draft.buyer_code,
        lines=lines,
        bank=draft.bank,
        paid=draft.paid,
        footer=draft.footer,
    )
    return invoice if not invoice.due else msgspec.structs.replace(invoice, due_on=issued.due_on)


def find_month_end(now: datetime) -> datetime:
    """Return when the month of this moment is over, in UTC."""
    begun = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    months = begun.year * 12 + begun.month
    return begun.replace(year=months // 12, month=months % 12 + 1)
