"""Issues documents: takes the next number and writes the document, in one transaction."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from printworks.actions.mail.notices import notify
from printworks.actions.work import Work
from printworks.invoices.phrases import say
from printworks.rules.invoice_drafts import (
    MOST_COLLECTED,
    InvoiceDraft,
    IssuedAs,
    credit_charge,
    credit_part,
    find_group,
    invoice_again,
    invoice_month,
    invoice_order,
    read_draft,
)
from printworks.rules.invoices import (
    Correction,
    Invoice,
    InvoiceKind,
    divide_credit,
    subtract,
)
from printworks.rules.ledger import EntryKind
from printworks.rules.mail import MailKind, NoticeFact
from printworks.rules.taxes import TaxedAmount
from printworks.store.money.invoices import (
    InvoiceCause,
    NewInvoice,
    get_cause_to_invoice,
    get_document_by_id,
    insert_invoice,
    list_credits,
    list_waiting_causes,
    set_invoice,
    take_number,
)

_CHARGES: Final = (EntryKind.CHARGE,)
_CORRECTIONS: Final = (EntryKind.REFUND, EntryKind.CREDIT, EntryKind.CREDIT_REVERSAL)


class Issued(msgspec.Struct, frozen=True):
    """A document that was issued."""

    id: int
    document: Invoice


def make_document(work: Work, entry: int, *, payment_terms: timedelta) -> Issued | None:
    """Issue the document of a ledger entry; None if it has one.

    A correction may come first: then the document that it corrects is issued before it.
    """
    cause = get_cause_to_invoice(work.db, work.merchant.id, entry)
    if cause.invoice_id is not None:
        return None
    if cause.kind is EntryKind.CHARGE:
        return _invoice(_Issuing(work, payment_terms), [cause], _invoice_one)
    return _correct(_Issuing(work, payment_terms), cause)


def _invoice_one(drafts: Sequence[InvoiceDraft], issued: IssuedAs) -> Invoice:
    """Return the invoice of the only draft."""
    (draft,) = drafts
    return invoice_order(draft, issued)


def collect_documents(work: Work, before: datetime, *, payment_terms: timedelta) -> bool:
    """Issue the next document of what was charged or credited before then; False if none is left.

    First invoices of many orders at once, then a document for each refund, credit and reversal.
    """
    merchant_id, issuing = work.merchant.id, _Issuing(work, payment_terms)
    charges = list_waiting_causes(
        work.db, merchant_id, before=before, kinds=_CHARGES, limit=MOST_COLLECTED
    )
    if charges:
        group = find_group(read_draft(charges[0].draft))
        alike = [each for each in charges if find_group(read_draft(each.draft)) == group]
        _invoice(issuing, alike, invoice_month)
        return True
    corrections = list_waiting_causes(
        work.db, merchant_id, before=before, kinds=_CORRECTIONS, limit=1
    )
    for cause in corrections:
        _correct(issuing, cause)
    return bool(corrections)


class _Issuing(NamedTuple):
    """The work, and how long after a document its amount is due."""

    work: Work
    payment_terms: timedelta


def _invoice(
    issuing: _Issuing,
    causes: Sequence[InvoiceCause],
    write: Callable[[Sequence[InvoiceDraft], IssuedAs], Invoice],
) -> Issued:
    drafts = [read_draft(cause.draft) for cause in causes]
    place, head = _take_place(issuing, drafts[0].series, causes)
    return _store(issuing.work, causes, write(drafts, place), head, corrects_id=None)


def _correct(issuing: _Issuing, cause: InvoiceCause) -> Issued:
    is_reversal = cause.kind is EntryKind.CREDIT_REVERSAL
    return _take_back(issuing, cause) if is_reversal else _credit(issuing, cause)


def _take_back(issuing: _Issuing, cause: InvoiceCause) -> Issued:
    """Issue the invoice of a reversed credit: the lines of its credit note are owed again."""
    work = issuing.work
    credit = get_cause_to_invoice(work.db, work.merchant.id, cause.charge)
    noted = credit.invoice_id
    if noted is None:
        noted = _credit(issuing, credit).id
    note = get_document_by_id(work.db, noted)
    draft = read_draft(get_cause_to_invoice(work.db, work.merchant.id, credit.charge).draft)
    place, head = _take_place(issuing, draft.series, [cause])
    said = say(draft.language, "credit-reversed", order=cause.order_id)
    again = invoice_again(draft, place, note, said)
    return _store(work, [cause], again, head, corrects_id=noted)


def _credit(issuing: _Issuing, cause: InvoiceCause) -> Issued:
    work = issuing.work
    charge = get_cause_to_invoice(work.db, work.merchant.id, cause.charge)
    draft = read_draft(charge.draft)
    corrected = charge.invoice_id
    if corrected is None:
        corrected = _invoice(issuing, [charge], _invoice_one).id
    invoice = get_document_by_id(work.db, corrected)
    corrects = Correction(invoice.number, invoice.issued_on)
    place, head = _take_place(issuing, draft.series, [cause])
    if cause.kind is EntryKind.REFUND:
        note = credit_charge(draft, place, corrects)
    else:
        before = list_credits(work.db, work.merchant.id, charge.entry)
        left = subtract(draft.lines, [line for credit in before for line in credit.lines])
        parts = divide_credit(left, TaxedAmount(cause.amount - cause.tax, cause.tax))
        said = say(draft.language, "credit", order=cause.order_id)
        note = credit_part(draft, place, corrects, parts, said)
    return _store(work, [cause], note, head, corrects_id=corrected)


def _take_place(
    issuing: _Issuing, series: str, causes: Sequence[InvoiceCause]
) -> tuple[IssuedAs, str]:
    # By the real time: a sandbox merchant whose clock is ahead does not put others out of order.
    today = issuing.work.real_now.date()
    taken = take_number(issuing.work.db, series, today.year)
    days = [cause.created_at.date() for cause in causes]
    due_on = today + issuing.payment_terms
    return IssuedAs(today.year, taken.sequence, today, min(days), max(days), due_on), taken.head


def _store(
    work: Work,
    causes: Sequence[InvoiceCause],
    document: Invoice,
    head: str,
    *,
    corrects_id: int | None,
) -> Issued:
    merchant_id = work.merchant.id
    new = NewInvoice(merchant_id=merchant_id, document=document, head=head, corrects_id=corrects_id)
    invoice_id = insert_invoice(work.db, new, now=work.real_now)
    set_invoice(work.db, merchant_id, [cause.entry for cause in causes], invoice_id)
    notify(work, merchant_id, MailKind.INVOICES_READY, [_describe(document)])
    return Issued(invoice_id, document)


def _describe(document: Invoice) -> NoticeFact:
    return NoticeFact(
        number=document.number,
        is_credit=document.kind is InvoiceKind.CREDIT_NOTE,
        amount=document.gross,
        currency=document.currency,
    )
