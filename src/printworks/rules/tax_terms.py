"""Which tax a sale carries: the situation of seller, buyer and destination, line by line."""

from collections.abc import Mapping, Sequence
from datetime import date
from enum import StrEnum
from typing import Final, NamedTuple, Self

import msgspec

from printworks.rules.tax_table import UNION, TaxClass, TaxTable, find_tax_country
from printworks.rules.taxes import (
    TaxableLine,
    TaxCategory,
    TaxedAmount,
    TaxPolicy,
    TaxRate,
    TaxRounding,
    sum_by_rate,
    tax_lines,
)


class Situation(StrEnum):
    """Why a sale is taxed as it is."""

    # The seller has no VAT ID in its own country.
    NOT_REGISTERED = "not-registered"
    # Goods stay in the seller's country.
    DOMESTIC = "domestic"
    # The seller is registered in the destination, too.
    LOCAL = "local"
    # The same, but the buyer, a business there, accounts for the tax.
    REVERSE_CHARGE = "reverse-charge"
    # To a business of another member state.
    INTRA_COMMUNITY = "intra-community"
    # To a consumer of another member state: the tax of the destination, reported in one place.
    ONE_STOP = "one-stop"
    # The same from a seller below the threshold: the tax of its own country.
    ORIGIN = "origin"
    EXPORT = "export"


class SellerPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where a seller is registered for tax."""

    country: str
    is_registered: bool
    # Further countries in which it is registered.
    registered_in: frozenset[str] = frozenset()
    # Those of them in which businesses account for the tax of a foreign seller.
    reverse_charged_in: frozenset[str] = frozenset()
    # Whether it reports sales to consumers in the Union in one place.
    has_one_stop: bool = False


class _Facts(NamedTuple):
    """What the situation depends on; in the table, None is either."""

    is_registered: bool | None = None
    is_at_home: bool | None = None
    is_registered_there: bool | None = None
    # The buyer has a VAT ID of the destination, where businesses account for a foreigner's tax.
    is_reverse_charged: bool | None = None
    # From one member state to another.
    is_in_union: bool | None = None
    # The buyer has a VAT ID of another member state than the seller.
    is_foreign_business: bool | None = None
    has_one_stop: bool | None = None

    def fits(self, facts: Self) -> bool:
        return all(
            wanted is None or wanted == given for wanted, given in zip(self, facts, strict=True)
        )


# The first line that fits counts; the last one always does.
_SITUATIONS: Final[Mapping[_Facts, Situation]] = {
    _Facts(is_registered=False): Situation.NOT_REGISTERED,
    _Facts(is_at_home=True): Situation.DOMESTIC,
    _Facts(is_registered_there=True, is_reverse_charged=True): Situation.REVERSE_CHARGE,
    _Facts(is_registered_there=True): Situation.LOCAL,
    _Facts(is_in_union=True, is_foreign_business=True): Situation.INTRA_COMMUNITY,
    _Facts(is_in_union=True, has_one_stop=True): Situation.ONE_STOP,
    _Facts(is_in_union=True): Situation.ORIGIN,
    _Facts(): Situation.EXPORT,
}
# The category of what is not taxed; the others have a rate.
_UNTAXED: Final[Mapping[Situation, TaxCategory]] = {
    Situation.NOT_REGISTERED: TaxCategory.OUTSIDE_SCOPE,
    Situation.REVERSE_CHARGE: TaxCategory.REVERSE_CHARGE,
    Situation.INTRA_COMMUNITY: TaxCategory.INTRA_COMMUNITY,
    Situation.EXPORT: TaxCategory.EXPORT,
}
_HOME: Final = frozenset({Situation.DOMESTIC, Situation.ORIGIN})


def find_situation(seller: SellerPlace, buyer_country: str, destination: str) -> Situation:
    """Return why a sale is taxed as it is.

    The buyer's country is that of its VAT ID; empty for a consumer.
    """
    to = find_tax_country(destination)
    home = find_tax_country(seller.country)
    facts = _Facts(
        is_registered=seller.is_registered,
        is_at_home=to == home,
        is_registered_there=to in seller.registered_in,
        is_reverse_charged=buyer_country == to and to in seller.reverse_charged_in,
        is_in_union=home in UNION and to in UNION,
        is_foreign_business=buyer_country in UNION - {home},
        has_one_stop=seller.has_one_stop,
    )
    return next(found for wanted, found in _SITUATIONS.items() if wanted.fits(facts))


class TaxedSale(msgspec.Struct, frozen=True, kw_only=True):
    """What the rates of a sale depend on."""

    seller: SellerPlace
    # Of the buyer's VAT ID; empty for a consumer.
    buyer_country: str
    destination: str
    day: date

    @property
    def situation(self) -> Situation:
        return find_situation(self.seller, self.buyer_country, self.destination)

    def find_rate(self, table: TaxTable, tax_class: TaxClass) -> TaxRate:
        """Return the tax of a class of products."""
        situation = self.situation
        if situation in _UNTAXED:
            return TaxRate(_UNTAXED[situation])
        at_home = situation in _HOME
        country = find_tax_country(self.seller.country if at_home else self.destination)
        rate = table.find_rate(country, tax_class, self.day)
        if rate is None:
            # A country without such a tax.
            return TaxRate(TaxCategory.OUTSIDE_SCOPE)
        category = TaxCategory.STANDARD if rate else TaxCategory.ZERO_RATED
        return TaxRate(category, rate, country)


class PricedLine(NamedTuple):
    """What is sold, at the price as it is kept: net or gross."""

    sku: str
    description: str
    quantity: int
    each: int
    tax_class: TaxClass


class TaxedLine(msgspec.Struct, frozen=True, array_like=True):
    """A line of an order with its tax, as it is stored."""

    # Empty for shipping.
    sku: str
    description: str
    quantity: int
    # The price of one, as it is kept: net or gross.
    each: int
    net: int
    tax: int
    category: TaxCategory
    rate: int
    # Whose tax it is; empty where there is none.
    country: str

    @property
    def is_shipping(self) -> bool:
        return not self.sku

    @property
    def gross(self) -> int:
        return self.net + self.tax

    @property
    def tax_rate(self) -> TaxRate:
        return TaxRate(self.category, self.rate, self.country)


class TaxTerms(msgspec.Struct, frozen=True, kw_only=True):
    """How an order is taxed: all that its invoice needs, as it was when it was submitted."""

    seller_id: int
    is_gross: bool
    rounding: TaxRounding
    situation: Situation
    # The buyer's VAT ID that the situation rests on; empty for a consumer.
    vat_id: str = ""
    lines: tuple[TaxedLine, ...] = ()

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
    def rates(self) -> Mapping[TaxRate, TaxedAmount]:
        """Net and tax of each rate, in the order in which the rates appear."""
        taxable = [TaxableLine(line.gross, line.tax_rate) for line in self.lines]
        return sum_by_rate(taxable, [TaxedAmount(line.net, line.tax) for line in self.lines])


def tax_sale(
    sale: TaxedSale,
    goods: Sequence[PricedLine],
    shipping: int,
    policy: TaxPolicy,
    table: TaxTable,
) -> tuple[TaxedLine, ...]:
    """Return the lines of a sale with their tax; the last one is shipping.

    Shipping goes with the goods: it has the rate of those that cost the most together.
    """
    rates = [sale.find_rate(table, line.tax_class) for line in goods]
    worth: dict[TaxRate, int] = {}
    for line, rate in zip(goods, rates, strict=True):
        worth[rate] = worth.get(rate, 0) + line.quantity * line.each
    main = max(worth, key=lambda rate: (worth[rate], rate.rate), default=None)
    sent = PricedLine("", "Shipping", 1, shipping, TaxClass.STANDARD)
    sent_rate = main or sale.find_rate(table, sent.tax_class)
    return _divide_lines([*zip(goods, rates, strict=True), (sent, sent_rate)], policy)


def _divide_lines(
    lines: Sequence[tuple[PricedLine, TaxRate]], policy: TaxPolicy
) -> tuple[TaxedLine, ...]:
    taxable = [TaxableLine(line.quantity * line.each, rate) for line, rate in lines]
    divided = tax_lines(taxable, policy)
    return tuple(
        TaxedLine(
            *(line.sku, line.description, line.quantity, line.each, amount.net, amount.tax),
            *(rate.category, rate.rate, rate.country),
        )
        for (line, rate), amount in zip(lines, divided, strict=True)
    )


def change_shipping_line(terms: TaxTerms, shipping: int) -> TaxTerms:
    """Return the same terms with another price of shipping, at the rates that they have."""
    lines = [
        (
            PricedLine(
                *(line.sku, line.description, line.quantity),
                shipping if line.is_shipping else line.each,
                TaxClass.STANDARD,
            ),
            line.tax_rate,
        )
        for line in terms.lines
    ]
    policy = TaxPolicy(terms.is_gross, terms.rounding)
    return msgspec.structs.replace(terms, lines=_divide_lines(lines, policy))


def find_credited_tax(credited: int, *, before: int, tax: int, total: int) -> int:
    """Return how much of a credit is tax, after other credits of the same order.

    Credits of the whole total are, together, credits of the whole tax.
    """
    return _share(before + credited, tax, total) - _share(before, tax, total)


def _share(amount: int, tax: int, total: int) -> int:
    """Return the part of an amount that is tax, rounded half up; nothing is above zero here."""
    return (2 * amount * tax + total) // (2 * total) if total else 0
