"""Invoices and credit notes: what is written on them, how they are numbered, and what must agree.

A document never changes: it says all that it needs by itself, and is corrected by another one.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import Final

import msgspec

from printworks.conversion import reader_of
from printworks.rules.languages import Language
from printworks.rules.taxes import TaxCategory, TaxedAmount, TaxRate

# How many digits a number has at least, behind the year.
_DIGITS: Final = 6


class InvoiceKind(StrEnum):
    INVOICE = "invoice"
    # Takes back an invoice, or a part of it.
    CREDIT_NOTE = "credit-note"


class Invoicing(StrEnum):
    """When a merchant is invoiced."""

    EACH_ORDER = "each-order"
    MONTHLY = "monthly"


class InvoiceParty(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Who sells or buys, as it is written on the document."""

    name: str
    # The lines above the town.
    address: tuple[str, ...] = ()
    postal_code: str = ""
    town: str = ""
    # Two letters, in ISO 3166.
    country: str
    vat_id: str = ""
    # In the register of companies, or a tax number.
    registration: str = ""
    email: str = ""
    telephone: str = ""
    website: str = ""


class BankAccount(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Where an invoice is paid to."""

    holder: str = ""
    iban: str
    bic: str = ""
    bank: str = ""


class InvoiceLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line: some copies of a product, the shipping, or all of an order."""

    description: str
    order_id: int
    # Where the goods go. Nothing else is said about a recipient.
    destination: str
    quantity: int
    net: int
    tax: int
    rate: TaxRate
    sku: str = ""

    @property
    def gross(self) -> int:
        return self.net + self.tax


class Correction(msgspec.Struct, frozen=True):
    """The invoice that a credit note corrects, or the credit note that an invoice takes back."""

    number: str
    issued_on: date


class Invoice(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A document as it was issued."""

    kind: InvoiceKind
    # Which seller's numbers it counts with.
    series: str
    year: int
    sequence: int
    issued_on: date
    # When the goods were ordered for good: one day, or the first and the last.
    supplied_from: date
    supplied_until: date
    currency: str
    # In the language of the merchant.
    language: Language
    seller: InvoiceParty
    buyer: InvoiceParty
    # The merchant's id, with which it signs in.
    buyer_code: str
    lines: tuple[InvoiceLine, ...]
    bank: BankAccount | None = None
    # What was paid before it was issued.
    paid: int = 0
    due_on: date | None = None
    corrects: Correction | None = None
    # What the seller says below every document.
    footer: str = ""

    @property
    def number(self) -> str:
        return write_number(self.series, self.year, self.sequence)

    @property
    def net(self) -> int:
        return sum(line.net for line in self.lines)

    @property
    def tax(self) -> int:
        return sum(line.tax for line in self.lines)

    @property
    def gross(self) -> int:
        return self.net + self.tax

    @property
    def due(self) -> int:
        """What remains to be paid, or to be credited."""
        return self.gross - self.paid

    @property
    def sums(self) -> Mapping[TaxRate, TaxedAmount]:
        """Net and tax of each rate, the highest first."""
        sums = sum_lines(self.lines)
        ordered = sorted(sums, key=lambda rate: (-rate.rate, rate.category, rate.country))
        return {rate: sums[rate] for rate in ordered}

    @property
    def categories(self) -> frozenset[TaxCategory]:
        return frozenset(line.rate.category for line in self.lines)

    @property
    def destination(self) -> str:
        """The country that all goods go to; empty if there are several."""
        countries = {line.destination for line in self.lines}
        return countries.pop() if len(countries) == 1 else ""


def write_number(series: str, year: int, sequence: int) -> str:
    """Return the number that is printed: `2026-000123`, with the series before it if it has a name."""
    return f"{series}{'-' if series else ''}{year}-{sequence:0{_DIGITS}}"


def sum_lines(lines: Iterable[InvoiceLine]) -> dict[TaxRate, TaxedAmount]:
    """Return net and tax of each rate."""
    sums: dict[TaxRate, TaxedAmount] = {}
    for line in lines:
        before = sums.get(line.rate, TaxedAmount(0, 0))
        sums[line.rate] = TaxedAmount(before.net + line.net, before.tax + line.tax)
    return sums


_read: Final = reader_of(Invoice)


def write_document(invoice: Invoice) -> str:
    """Return the text in which a document is kept for good."""
    return msgspec.json.encode(invoice, order="sorted").decode()


def read_document(text: str) -> Invoice:
    return _read(msgspec.json.decode(text))


def hash_document(text: str, previous: str) -> str:
    """Return the hash of a document, which is part of that of the next one in its series."""
    return hashlib.sha256(f"{previous}\n{text}".encode()).hexdigest()


def subtract(
    lines: Sequence[InvoiceLine], credited: Iterable[InvoiceLine]
) -> dict[TaxRate, TaxedAmount]:
    """Return what is left of each rate after what was credited before."""
    left = sum_lines(lines)
    for rate, amount in sum_lines(credited).items():
        before = left.get(rate, TaxedAmount(0, 0))
        left[rate] = TaxedAmount(before.net - amount.net, before.tax - amount.tax)
    return {rate: amount for rate, amount in left.items() if amount.gross > 0}


def divide_credit(
    left: Mapping[TaxRate, TaxedAmount], credited: TaxedAmount
) -> dict[TaxRate, TaxedAmount]:
    """Divide a credit among the rates of what is left of an invoice, in proportion.

    Credits that add up to all of it have taken exactly its net and tax of each rate.
    """
    nets = _spread({rate: each.net for rate, each in left.items()}, credited.net)
    taxes = _spread({rate: each.tax for rate, each in left.items()}, credited.tax)
    parts = {rate: TaxedAmount(nets[rate], taxes[rate]) for rate in left}
    return {rate: part for rate, part in parts.items() if part.gross}


def _spread(left: Mapping[TaxRate, int], amount: int) -> dict[TaxRate, int]:
    """Divide an amount in proportion; what is left over goes to the largest fractions."""
    total = sum(left.values())
    if not 0 <= amount <= total:
        raise ValueError(f"{amount} of {total} cannot be credited.")
    if not total:
        return dict.fromkeys(left, 0)
    parts = {rate: each * amount // total for rate, each in left.items()}
    by_fraction = sorted(left, key=lambda rate: -(left[rate] * amount % total))
    for rate in by_fraction[: amount - sum(parts.values())]:
        parts[rate] += 1
    return parts
