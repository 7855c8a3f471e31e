"""What currencies are worth, for comparing the costs of labs with each other.

Nothing is ever charged at these rates: merchants pay prices that stand in the catalogue.
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction

from printworks.catalogue.blocks import list_entries
from printworks.catalogue.problems import Mistake, Problems
from printworks.catalogue.products import Currency
from printworks.catalogue.sources import Source
from printworks.catalogue.values import Vocabulary, read_amount, read_declared, read_word

Rates = Mapping[Currency, Decimal]


def convert(amount: int | Fraction, currency: Currency, to: Currency, rates: Rates) -> Fraction:
    """Return the amount in another currency, exactly; all four have a hundred minor units."""
    if currency is to:
        return Fraction(amount)
    return amount * Fraction(rates[currency]) / Fraction(rates[to])


def read_rates(sources: Sequence[Source], known: Vocabulary, problems: Problems) -> Rates:
    """Read `[rates]`: what one unit of each currency is worth, measured in any one thing."""
    rates: dict[Currency, Decimal] = {}
    for entry in list_entries(sources, "rates", "what one unit is worth", problems):
        try:
            currency = read_word("rates", entry.name, Currency)
            read_declared("rates", "currencies", currency, known.currencies)
            if currency in rates:
                message = f"The rate of {currency} is defined already."
                raise Mistake(message)
            rates[currency] = read_amount(currency, entry.value)
        except Mistake as mistake:
            problems.add(entry.source.name, entry.line, str(mistake))
    return rates
