"""The structured invoice: Cross Industry Invoice in XML, of the profile EN 16931.

Only elements that a document needs are written, in the order that the schema wants.
"""

from datetime import date
from typing import Final
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from printworks.invoices.phrases import explain, say
from printworks.invoices.texts import clean, write_amount, write_rate
from printworks.rules.invoices import Invoice, InvoiceKind, InvoiceLine, InvoiceParty
from printworks.rules.taxes import TaxCategory, TaxedAmount, TaxRate

# The name that the standard gives to the file inside a PDF.
FILE_NAME: Final = "factur-x.xml"
PROFILE: Final = "EN 16931"
_GUIDELINE: Final = "urn:cen.eu:en16931:2017"
_RSM: Final = "urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100"
_RAM: Final = "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
_UDT: Final = "urn:un:unece:uncefact:data:standard:UnqualifiedDataType:100"
# From UNTDID 1001.
_TYPE_CODES: Final = {InvoiceKind.INVOICE: "380", InvoiceKind.CREDIT_NOTE: "381"}
# From UNTDID 4461: a credit transfer, a bank card, and one that both agreed on.
_TRANSFER, _CARD, _AGREED = "30", "48", "ZZZ"
_PIECE: Final = "C62"


class _Writer:
    """Writes elements below one element."""

    def __init__(self, element: Element) -> None:
        self.element = element

    def within(self, name: str) -> "_Writer":
        """Add an element that has others."""
        return _Writer(ElementTree.SubElement(self.element, f"{{{_RAM}}}{name}"))

    def add(self, name: str, text: str, **attributes: str) -> None:
        """Add an element with a text, unless that is empty."""
        text = clean(text)
        if text:
            added = ElementTree.SubElement(self.element, f"{{{_RAM}}}{name}", attributes)
            added.text = text

    def add_day(self, name: str, day: date) -> None:
        outer = ElementTree.SubElement(self.element, f"{{{_RAM}}}{name}")
        inner = ElementTree.SubElement(outer, f"{{{_UDT}}}DateTimeString", {"format": "102"})
        inner.text = f"{day:%Y%m%d}"


def write_structured(invoice: Invoice) -> bytes:
    """Return a document as XML."""
    ElementTree.register_namespace("rsm", _RSM)
    ElementTree.register_namespace("ram", _RAM)
    ElementTree.register_namespace("udt", _UDT)
    root = Element(f"{{{_RSM}}}CrossIndustryInvoice")
    context = _Writer(ElementTree.SubElement(root, f"{{{_RSM}}}ExchangedDocumentContext"))
    context.within("GuidelineSpecifiedDocumentContextParameter").add("ID", _GUIDELINE)
    _write_head(_Writer(ElementTree.SubElement(root, f"{{{_RSM}}}ExchangedDocument")), invoice)
    deal = _Writer(ElementTree.SubElement(root, f"{{{_RSM}}}SupplyChainTradeTransaction"))
    for number, line in enumerate(invoice.lines, start=1):
        _write_line(deal.within("IncludedSupplyChainTradeLineItem"), number, line, invoice)
    _write_agreement(deal.within("ApplicableHeaderTradeAgreement"), invoice)
    _write_delivery(deal.within("ApplicableHeaderTradeDelivery"), invoice)
    _write_settlement(deal.within("ApplicableHeaderTradeSettlement"), invoice)
    ElementTree.indent(root)
    written: bytes = ElementTree.tostring(root, encoding="UTF-8", xml_declaration=True)
    return written


def _write_head(head: _Writer, invoice: Invoice) -> None:
    head.add("ID", invoice.number)
    head.add("TypeCode", _TYPE_CODES[invoice.kind])
    head.add_day("IssueDateTime", invoice.issued_on)
    if clean(invoice.footer):
        head.within("IncludedNote").add("Content", invoice.footer)


def _write_line(item: _Writer, number: int, line: InvoiceLine, invoice: Invoice) -> None:
    item.within("AssociatedDocumentLineDocument").add("LineID", str(number))
    product = item.within("SpecifiedTradeProduct")
    product.add("SellerAssignedID", line.sku)
    product.add("Name", line.description or line.sku or str(number))
    # The price of all pieces together where that of one is no whole minor unit.
    pieces = line.quantity if line.net % line.quantity else 1
    price = item.within("SpecifiedLineTradeAgreement").within("NetPriceProductTradePrice")
    price.add("ChargeAmount", write_amount(line.net * pieces // line.quantity, invoice.currency))
    if pieces > 1:
        price.add("BasisQuantity", str(pieces), unitCode=_PIECE)
    delivery = item.within("SpecifiedLineTradeDelivery")
    delivery.add("BilledQuantity", str(line.quantity), unitCode=_PIECE)
    settlement = item.within("SpecifiedLineTradeSettlement")
    _write_rate(settlement.within("ApplicableTradeTax"), line.rate)
    total = settlement.within("SpecifiedTradeSettlementLineMonetarySummation")
    total.add("LineTotalAmount", write_amount(line.net, invoice.currency))


def _write_rate(tax: _Writer, rate: TaxRate) -> None:
    tax.add("TypeCode", "VAT")
    tax.add("CategoryCode", rate.category)
    if rate.category is not TaxCategory.OUTSIDE_SCOPE:
        tax.add("RateApplicablePercent", write_rate(rate.rate))


def _write_agreement(agreement: _Writer, invoice: Invoice) -> None:
    # Where nothing is subject to tax, the standard wants no tax number of anybody.
    with_vat = TaxCategory.OUTSIDE_SCOPE not in invoice.categories
    seller = agreement.within("SellerTradeParty")
    if not invoice.seller.registration and not (invoice.seller.vat_id and with_vat):
        seller.add("ID", invoice.seller.name)
    _write_party(seller, invoice.seller, with_vat=with_vat)
    buyer = agreement.within("BuyerTradeParty")
    buyer.add("ID", invoice.buyer_code)
    _write_party(buyer, invoice.buyer, with_vat=with_vat)


def _write_party(party: _Writer, who: InvoiceParty, *, with_vat: bool) -> None:
    party.add("Name", who.name)
    if clean(who.registration):
        party.within("SpecifiedLegalOrganization").add("ID", who.registration)
    _write_contact(party, who)
    place = party.within("PostalTradeAddress")
    place.add("PostcodeCode", who.postal_code)
    for name, line in zip(("LineOne", "LineTwo", "LineThree"), who.address, strict=False):
        place.add(name, line)
    place.add("CityName", who.town)
    place.add("CountryID", who.country)
    if who.email:
        party.within("URIUniversalCommunication").add("URIID", who.email, schemeID="EM")
    if who.vat_id and with_vat:
        party.within("SpecifiedTaxRegistration").add("ID", who.vat_id, schemeID="VA")


def _write_contact(party: _Writer, who: InvoiceParty) -> None:
    if not (clean(who.telephone) or clean(who.email)):
        return
    contact = party.within("DefinedTradeContact")
    contact.add("PersonName", who.name)
    if clean(who.telephone):
        contact.within("TelephoneUniversalCommunication").add("CompleteNumber", who.telephone)
    if clean(who.email):
        contact.within("EmailURIUniversalCommunication").add("URIID", who.email)


def _write_delivery(delivery: _Writer, invoice: Invoice) -> None:
    if invoice.destination:
        ship_to = delivery.within("ShipToTradeParty")
        ship_to.within("PostalTradeAddress").add("CountryID", invoice.destination)
    if invoice.supplied_from == invoice.supplied_until:
        supplied = delivery.within("ActualDeliverySupplyChainEvent")
        supplied.add_day("OccurrenceDateTime", invoice.supplied_until)


def _write_settlement(settlement: _Writer, invoice: Invoice) -> None:
    settlement.add("PaymentReference", invoice.number)
    settlement.add("InvoiceCurrencyCode", invoice.currency)
    _write_means(settlement.within("SpecifiedTradeSettlementPaymentMeans"), invoice)
    for rate, amount in _merge_rates(invoice).items():
        _write_sum(settlement.within("ApplicableTradeTax"), rate, amount, invoice)
    if invoice.supplied_from != invoice.supplied_until:
        period = settlement.within("BillingSpecifiedPeriod")
        period.add_day("StartDateTime", invoice.supplied_from)
        period.add_day("EndDateTime", invoice.supplied_until)
    _write_terms(settlement.within("SpecifiedTradePaymentTerms"), invoice)
    _write_totals(settlement.within("SpecifiedTradeSettlementHeaderMonetarySummation"), invoice)
    if invoice.corrects is not None:
        corrected = settlement.within("InvoiceReferencedDocument")
        corrected.add("IssuerAssignedID", invoice.corrects.number)


def _write_means(means: _Writer, invoice: Invoice) -> None:
    if invoice.gross and not invoice.due:
        means.add("TypeCode", _CARD)
    elif invoice.bank is None or invoice.kind is InvoiceKind.CREDIT_NOTE:
        means.add("TypeCode", _AGREED)
    else:
        means.add("TypeCode", _TRANSFER)
        account = means.within("PayeePartyCreditorFinancialAccount")
        account.add("IBANID", invoice.bank.iban)
        account.add("AccountName", invoice.bank.holder)
        if clean(invoice.bank.bic):
            bank = means.within("PayeeSpecifiedCreditorFinancialInstitution")
            bank.add("BICID", invoice.bank.bic)


def _merge_rates(invoice: Invoice) -> dict[TaxRate, TaxedAmount]:
    """Return the sums by category and rate: the standard does not ask whose tax it is."""
    merged: dict[TaxRate, TaxedAmount] = {}
    for rate, amount in invoice.sums.items():
        alike = TaxRate(rate.category, rate.rate)
        before = merged.get(alike, TaxedAmount(0, 0))
        merged[alike] = TaxedAmount(before.net + amount.net, before.tax + amount.tax)
    return merged


def _write_sum(tax: _Writer, rate: TaxRate, amount: TaxedAmount, invoice: Invoice) -> None:
    tax.add("CalculatedAmount", write_amount(amount.tax, invoice.currency))
    tax.add("TypeCode", "VAT")
    tax.add("ExemptionReason", explain(invoice.language, rate.category) or "")
    tax.add("BasisAmount", write_amount(amount.net, invoice.currency))
    tax.add("CategoryCode", rate.category)
    if rate.category is not TaxCategory.OUTSIDE_SCOPE:
        tax.add("RateApplicablePercent", write_rate(rate.rate))


def _write_terms(terms: _Writer, invoice: Invoice) -> None:
    if invoice.kind is InvoiceKind.CREDIT_NOTE:
        terms.add("Description", say(invoice.language, "is-credited"))
    elif not invoice.due:
        terms.add("Description", say(invoice.language, "is-paid"))
    else:
        terms.add("Description", say(invoice.language, "on-account"))
        if invoice.due_on is not None:
            terms.add_day("DueDateDateTime", invoice.due_on)


def _write_totals(totals: _Writer, invoice: Invoice) -> None:
    net = write_amount(invoice.net, invoice.currency)
    totals.add("LineTotalAmount", net)
    totals.add("TaxBasisTotalAmount", net)
    tax = write_amount(invoice.tax, invoice.currency)
    totals.add("TaxTotalAmount", tax, currencyID=invoice.currency)
    totals.add("GrandTotalAmount", write_amount(invoice.gross, invoice.currency))
    totals.add("TotalPrepaidAmount", write_amount(invoice.paid, invoice.currency))
    totals.add("DuePayableAmount", write_amount(invoice.due, invoice.currency))
