"""What needs an invoice or a credit note, noted in the transaction of its ledger entry."""

from datetime import datetime, timedelta

from printworks.actions.taxes import TaxedOrder, get_taxed_order
from printworks.actions.work import Work
from printworks.invoices.phrases import say
from printworks.language.words import Words
from printworks.rules.businesses import Business
from printworks.rules.invoice_drafts import (
    COLLECTS_AFTER,
    InvoiceDraft,
    find_month_end,
    name_series,
    write_draft,
)
from printworks.rules.invoices import BankAccount, InvoiceLine, InvoiceParty, Invoicing
from printworks.rules.jobs import JobKind
from printworks.rules.languages import Language, guess_language
from printworks.rules.ledger import LedgerEntry
from printworks.rules.sellers import Seller
from printworks.rules.tax_terms import TaxTerms
from printworks.store.mail.settings import read_mail_settings
from printworks.store.money.invoices import (
    InvoiceCause,
    find_cause,
    find_last_charge,
    insert_cause,
)
from printworks.store.orders.orders import Order


def note_charge(work: Work, order: Order, entry: LedgerEntry, *, paid: int) -> None:
    """Note that a charge needs an invoice, with all that it will say.

    Nothing is noted where nobody collects tax, and for what is free of charge.
    """
    is_taxed = order.tax is not None and entry.amount > 0
    taxed = get_taxed_order(work, order) if is_taxed else None
    if taxed is not None:
        draft = _draft(work, taxed, entry, paid)
        _note(work, order.id, entry, charge=entry.number, draft=write_draft(draft))


def note_credit(work: Work, order: Order, entry: LedgerEntry) -> None:
    """Note that a refund or a credit needs a credit note, if its order has an invoice."""
    charge = find_last_charge(work.db, order.id) if order.tax is not None else None
    if charge is not None and entry.amount:
        _note(work, order.id, entry, charge=charge.entry, draft="")


def note_reversal(work: Work, entry: LedgerEntry, *, of: int) -> None:
    """Note that the reversal of a credit needs an invoice, if the credit has a credit note.

    A credit that an operator posted for no order has none: it has no tax, and is for no supply.
    """
    credit = find_cause(work.db, work.merchant.id, of)
    if credit is not None:
        _note(work, credit.order_id, entry, charge=credit.entry, draft="")


def _note(work: Work, order_id: int, entry: LedgerEntry, *, charge: int, draft: str) -> None:
    cause = InvoiceCause(
        merchant_id=work.merchant.id,
        entry=entry.number,
        kind=entry.kind,
        order_id=order_id,
        charge=charge,
        amount=entry.amount,
        tax=entry.tax,
        draft=draft,
        created_at=entry.created_at,
        invoice_id=None,
    )
    insert_cause(work.db, cause)
    if work.merchant.invoicing is Invoicing.MONTHLY:
        _enqueue_collecting(work, entry.created_at)
    else:
        work.enqueue(
            JobKind.MAKE_INVOICE,
            {"entry": entry.number},
            dedupe_key=f"make-invoice:{work.merchant.id}:{entry.number}",
        )


def _enqueue_collecting(work: Work, charged_at: datetime) -> None:
    end = find_month_end(charged_at)
    for before in (end, find_month_end(end)):
        # The job of this month may have run already: then that of the next collects the rest.
        job_id = work.enqueue(
            JobKind.COLLECT_INVOICES,
            {"before": before.isoformat()},
            wait=max(timedelta(0), before + COLLECTS_AFTER - work.now),
            dedupe_key=f"collect-invoices:{work.merchant.id}:{before:%Y-%m}",
        )
        if job_id is not None:
            return


def _draft(work: Work, taxed: TaxedOrder, entry: LedgerEntry, paid: int) -> InvoiceDraft:
    seller, order = taxed.seller, taxed.order
    destination = order.destination_country or ""
    buyer = taxed.buyer or Business(name=work.merchant.name, country=seller.company.country)
    chosen = read_mail_settings(work.db, work.merchant.id).language
    language = chosen or guess_language(buyer.country)
    country = Words(language).country(destination)
    return InvoiceDraft(
        series=name_series(taxed.seller_id),
        currency=entry.currency,
        language=language,
        seller=_describe_seller(seller, taxed.terms, destination),
        buyer=_describe_company(buyer, vat_id=taxed.terms.vat_id or buyer.vat_id),
        buyer_code=work.merchant.code,
        lines=_list_lines(taxed, language, destination),
        summary=say(language, "order-to", order=order.id, country=country),
        bank=_describe_bank(seller),
        paid=min(paid, entry.amount),
    )


def _list_lines(taxed: TaxedOrder, language: Language, destination: str) -> tuple[InvoiceLine, ...]:
    lines = (
        InvoiceLine(
            description=say(language, "shipping") if line.is_shipping else line.description,
            order_id=taxed.order.id,
            destination=destination,
            quantity=line.quantity,
            net=line.net,
            tax=line.tax,
            rate=line.tax_rate,
            sku=line.sku,
        )
        for line in taxed.terms.lines
    )
    return tuple(line for line in lines if line.sku or line.gross)


def _describe_seller(seller: Seller, terms: TaxTerms, destination: str) -> InvoiceParty:
    # Where it is registered in the country whose tax it is, it sells under the number it has there.
    countries = {line.country for line in terms.lines if line.country} or {destination}
    there = [seller.registrations[each] for each in countries if each in seller.registrations]
    vat_id = there[0].vat_id if there else seller.company.vat_id
    return _describe_company(
        seller.company, vat_id=vat_id, registration=seller.register_number, email=seller.email
    )


def _describe_company(company: Business, *, vat_id: str, **further: str) -> InvoiceParty:
    return InvoiceParty(
        name=company.name,
        address=tuple(line for line in company.street.split("\n") if line),
        postal_code=company.postal_code,
        town=company.town,
        country=company.country,
        vat_id=vat_id,
        **further,
    )


def _describe_bank(seller: Seller) -> BankAccount | None:
    if not seller.iban:
        return None
    return BankAccount(
        holder=seller.company.name, iban=seller.iban, bic=seller.bic, bank=seller.bank
    )
