"""Documents to write: an invoice with several rates, a credit note, and those without tax."""

from datetime import date
from typing import Any

import msgspec

from printworks.rules.invoices import (
    BankAccount,
    Correction,
    Invoice,
    InvoiceKind,
    InvoiceLine,
    InvoiceParty,
)
from printworks.rules.languages import Language
from printworks.rules.taxes import TaxCategory, TaxRate

SELLER = InvoiceParty(
    name="Printworks Example GmbH",
    address=("Musterstraße 12", "Hinterhaus"),
    postal_code="10115",
    town="Berlin",
    country="DE",
    vat_id="DE136695976",
    registration="HRB 12345 B",
    email="billing@seller.example",
    telephone="+49 30 1234567",
    website="https://seller.example",
)
BUYER = InvoiceParty(
    name="Gallery Nord Ltd",
    address=("5 High Street",),
    postal_code="2100",
    town="Copenhagen",
    country="DK",
    vat_id="DK13585628",
)
BANK = BankAccount(
    holder="Printworks Example GmbH",
    iban="DE89370400440532013000",
    bic="COBADEFFXXX",
    bank="Example Bank",
)
STANDARD = TaxRate(TaxCategory.STANDARD, 1900, "DE")
REDUCED = TaxRate(TaxCategory.STANDARD, 700, "DE")
FREE: dict[TaxCategory, TaxRate] = {
    category: TaxRate(category) for category in TaxCategory if category is not TaxCategory.STANDARD
}


def line(net: int, rate: TaxRate = STANDARD, **values: Any) -> InvoiceLine:
    """Return a line with the tax of its rate."""
    tax = (net * rate.rate + 5000) // 10_000
    usual = {"description": "Fine Art Print 30 x 40 cm", "order_id": 4711, "destination": "DE"}
    return InvoiceLine(**{**usual, "quantity": 1, "net": net, "tax": tax, "rate": rate, **values})


LINES = (
    line(5997, description="Fine Art Print 30 x 40 cm, Hahnemühle Photo Rag", quantity=3, sku="FAP-30X40"),
    line(10_000, description="Canvas 60 x 80 cm, stretched on a frame of 4 cm", quantity=3),
    line(1250, REDUCED, description="Photo book, 24 pages"),
    line(695, description="Shipping"),
)  # fmt: skip


def invoice(**values: Any) -> Invoice:
    """Return an invoice; give what is different."""
    usual: dict[str, Any] = {
        "kind": InvoiceKind.INVOICE,
        "series": "",
        "year": 2026,
        "sequence": 123,
        "issued_on": date(2026, 11, 16),
        "supplied_from": date(2026, 11, 14),
        "supplied_until": date(2026, 11, 14),
        "currency": "EUR",
        "language": Language.EN,
        "seller": SELLER,
        "buyer": BUYER,
        "buyer_code": "gallery",
        "lines": LINES,
        "bank": BANK,
        "due_on": date(2026, 11, 30),
    }
    return Invoice(**{**usual, **values})


def credit_note(**values: Any) -> Invoice:
    """Return a credit note of the invoice."""
    return invoice(
        **{
            "kind": InvoiceKind.CREDIT_NOTE,
            "sequence": 124,
            "corrects": Correction("2026-000123", date(2026, 11, 16)),
            "due_on": None,
            **values,
        }
    )


def taken_back(**values: Any) -> Invoice:
    """Return the invoice that takes back the credit note."""
    corrected = Correction("2026-000124", date(2026, 11, 16))
    return invoice(**{"sequence": 125, "corrects": corrected, "bank": None, **values})


def untaxed(category: TaxCategory) -> Invoice:
    """Return an invoice whose lines carry no tax, for this reason."""
    lines = [
        msgspec.structs.replace(one, tax=0, rate=FREE[category], destination="DK") for one in LINES
    ]
    return invoice(lines=tuple(lines))
