"""What tax a sale carries, and how an amount is divided into net and tax.

Amounts are whole minor units. Rates are whole hundredths of a percent, so that 5.5 % is 550.
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

import msgspec

# A rate of 100 %.
WHOLE: Final = 10_000


class TaxCategory(StrEnum):
    """Why a line is taxed as it is, by the codes that electronic invoices use."""

    STANDARD = "S"
    ZERO_RATED = "Z"
    EXEMPT = "E"
    # The buyer accounts for the tax.
    REVERSE_CHARGE = "AE"
    # Goods sent to a business in another member state.
    INTRA_COMMUNITY = "K"
    EXPORT = "G"
    # The seller is not registered, or the sale is nobody's business.
    OUTSIDE_SCOPE = "O"


class TaxRounding(StrEnum):
    """Where a fraction of a minor unit is rounded."""

    LINE = "line"
    DOCUMENT = "document"


class TaxRate(msgspec.Struct, frozen=True):
    """The tax of a line; only standard ones have a rate above zero."""

    category: TaxCategory
    rate: int = 0
    # Whose tax it is; empty where there is none.
    country: str = ""


class TaxedAmount(msgspec.Struct, frozen=True):
    """An amount, divided."""

    net: int
    tax: int

    @property
    def gross(self) -> int:
        return self.net + self.tax


class TaxPolicy(msgspec.Struct, frozen=True):
    """How prices are kept, and where they are rounded."""

    is_gross: bool
    rounding: TaxRounding


class TaxableLine(msgspec.Struct, frozen=True):
    """What a line costs as priced: net or gross, as the policy says."""

    amount: int
    rate: TaxRate


def divide(amount: int, rate: int, *, is_gross: bool) -> TaxedAmount:
    """Divide what was priced into net and tax, rounding half away from zero."""
    if is_gross:
        tax = _divide_rounded(amount * rate, WHOLE + rate)
        return TaxedAmount(amount - tax, tax)
    return TaxedAmount(amount, _divide_rounded(amount * rate, WHOLE))


def tax_lines(lines: Sequence[TaxableLine], policy: TaxPolicy) -> list[TaxedAmount]:
    """Divide the lines of a document.

    Rounded by document, the tax of all lines with one rate is that of their sum; the lines with
    the largest fractions get the units that are left.
    """
    alone = [divide(line.amount, line.rate.rate, is_gross=policy.is_gross) for line in lines]
    if policy.rounding is TaxRounding.LINE:
        return alone
    places: dict[TaxRate, list[int]] = {}
    for place, line in enumerate(lines):
        places.setdefault(line.rate, []).append(place)
    for rate, group in places.items():
        amounts = [lines[place].amount for place in group]
        taxes = _spread(amounts, rate.rate, is_gross=policy.is_gross)
        for place, amount, tax in zip(group, amounts, taxes, strict=True):
            alone[place] = TaxedAmount(amount - tax if policy.is_gross else amount, tax)
    return alone


def sum_by_rate(
    lines: Iterable[TaxableLine], amounts: Iterable[TaxedAmount]
) -> Mapping[TaxRate, TaxedAmount]:
    """Return net and tax of each rate, in the order in which the rates appear."""
    sums: dict[TaxRate, TaxedAmount] = {}
    for line, amount in zip(lines, amounts, strict=True):
        before = sums.get(line.rate, TaxedAmount(0, 0))
        sums[line.rate] = TaxedAmount(before.net + amount.net, before.tax + amount.tax)
    return sums


def _spread(amounts: Sequence[int], rate: int, *, is_gross: bool) -> list[int]:
    """Return the taxes of lines that add up to the tax of their sum."""
    whole = WHOLE + rate if is_gross else WHOLE
    total = divide(sum(amounts), rate, is_gross=is_gross).tax
    floors = [amount * rate // whole for amount in amounts]
    by_fraction = sorted(range(len(amounts)), key=lambda at: -(amounts[at] * rate % whole))
    for place in by_fraction[: total - sum(floors)]:
        floors[place] += 1
    return floors


def _divide_rounded(numerator: int, denominator: int) -> int:
    rounded = (2 * abs(numerator) + denominator) // (2 * denominator)
    return rounded if numerator >= 0 else -rounded
