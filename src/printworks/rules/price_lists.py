"""Price lists: which one a merchant has, what a copy costs by it, and how that came about.

Amounts are whole minor units, percentages whole hundredths of a percent, so that 12.5 % is 1250.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from enum import StrEnum
from typing import Any, Final, TypeAlias

import msgspec

from printworks.conversion import reader_of
from printworks.errors import WrongState

# Everything off.
WHOLE: Final = 10_000
# The sku of a line that is about every product without lines of its own.
EVERY_PRODUCT: Final = ""


class PriceLine(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a product costs from a number of copies in one order on: a price, or a percentage off."""

    sku: str = EVERY_PRODUCT
    from_copies: int = 1
    # Of a price; a percentage is the same in every currency.
    currency: str = ""
    price: int = 0
    percent_off: int = 0

    @property
    def is_price(self) -> bool:
        return bool(self.currency)

    @property
    def key(self) -> tuple[str, int, str]:
        """What no two lines of a list have in common."""
        return self.sku, self.from_copies, self.currency


class PriceList(msgspec.Struct, frozen=True, kw_only=True):
    """What some merchants pay instead of the prices of the catalogue."""

    id: int = 0
    name: str
    # Of everything that no line is about.
    percent_off: int = 0
    lines: Sequence[PriceLine] = ()
    # Whose it is: one merchant's, a group's, or nobody's yet.
    merchant_id: int | None = None
    group_id: int | None = None
    # In the time of the merchant that asks.
    valid_from: datetime
    valid_until: datetime | None = None
    is_suspended: bool = False
    # Another one after every change.
    revision: int = 0

    def is_valid(self, now: datetime) -> bool:
        """Whether its prices are those of today."""
        is_over = self.valid_until is not None and self.valid_until <= now
        return not self.is_suspended and self.valid_from <= now and not is_over


class PriceListState(StrEnum):
    """What can be said about a list at a time."""

    UNASSIGNED = "unassigned"
    SUSPENDED = "suspended"
    COMING = "coming"
    VALID = "valid"
    ENDED = "ended"


def find_list_state(found: PriceList, now: datetime) -> PriceListState:
    """Say whether a list is used, and if it is not, why."""
    if found.valid_until is not None and found.valid_until <= now:
        return PriceListState.ENDED
    if found.merchant_id is None and found.group_id is None:
        return PriceListState.UNASSIGNED
    if found.is_suspended:
        return PriceListState.SUSPENDED
    return PriceListState.COMING if now < found.valid_from else PriceListState.VALID


class PriceBasis(StrEnum):
    """Where a price comes from."""

    CATALOGUE = "catalogue"
    # So much less than in the catalogue.
    PERCENTAGE = "percentage"
    # The list says the price itself.
    PRICE = "price"


class PickedPrice(msgspec.Struct, frozen=True, omit_defaults=True):
    """What one copy costs, and how that came about."""

    price: int
    catalogue_price: int
    basis: PriceBasis = PriceBasis.CATALOGUE
    percent_off: int = 0
    # From how many copies on.
    from_copies: int = 1


def take_off(price: int, percent_off: int) -> int:
    """Return a price less a percentage, rounded half up."""
    return (price * (WHOLE - percent_off) + WHOLE // 2) // WHOLE


class PriceRates:
    """The lines of a list by product, ready to be asked for many prices."""

    __slots__ = ("_by_sku", "of")

    def __init__(self, of: PriceList) -> None:
        self.of = of
        self._by_sku: dict[str, list[PriceLine]] = {}
        for line in sorted(of.lines, key=lambda line: (line.from_copies, line.is_price)):
            self._by_sku.setdefault(line.sku, []).append(line)

    def pick(self, sku: str, currency: str, catalogue_price: int, copies: int) -> PickedPrice:
        """Return what each of so many copies costs.

        Lines of a product replace those of every product. What is said from one copy on replaces
        the percentage of the list; a step by volume counts where it is cheaper, so that more
        copies never cost more each.
        """
        found = self._take_off(catalogue_price, self.of.percent_off, 1)
        for line in self._find_lines(sku, currency):
            if line.from_copies > copies:
                break
            offered = self._offer(line, catalogue_price)
            if line.from_copies == 1 or offered.price < found.price:
                found = offered
        return found

    def list_steps(self, sku: str, currency: str, catalogue_price: int) -> list[PickedPrice]:
        """Return the prices that begin at a number of copies, the one of a single copy first."""
        counts = {1, *(line.from_copies for line in self._find_lines(sku, currency))}
        steps: list[PickedPrice] = []
        for copies in sorted(counts):
            picked = self.pick(sku, currency, catalogue_price, copies)
            if not steps or picked.price < steps[-1].price:
                steps.append(picked)
        return steps

    def _find_lines(self, sku: str, currency: str) -> list[PriceLine]:
        for name in (sku, EVERY_PRODUCT):
            lines = [
                line
                for line in self._by_sku.get(name, ())
                if not line.is_price or line.currency == currency
            ]
            if lines:
                return lines
        return []

    def _offer(self, line: PriceLine, catalogue_price: int) -> PickedPrice:
        if not line.is_price:
            return self._take_off(catalogue_price, line.percent_off, line.from_copies)
        return PickedPrice(
            line.price, catalogue_price, PriceBasis.PRICE, from_copies=line.from_copies
        )

    def _take_off(self, catalogue_price: int, percent_off: int, copies: int) -> PickedPrice:
        basis = PriceBasis.PERCENTAGE if percent_off else PriceBasis.CATALOGUE
        price = take_off(catalogue_price, percent_off)
        return PickedPrice(price, catalogue_price, basis, percent_off, copies)


class PriceBook:
    """All price lists that may be used, as they were at one revision."""

    def __init__(self, revision: int, lists: Iterable[PriceRates] = ()) -> None:
        self.revision = revision
        self._of_merchants: dict[int, list[PriceRates]] = {}
        self._of_groups: dict[int, list[PriceRates]] = {}
        # The one that began last comes first.
        for rates in sorted(lists, key=lambda one: (one.of.valid_from, one.of.id), reverse=True):
            if rates.of.merchant_id is not None:
                self._of_merchants.setdefault(rates.of.merchant_id, []).append(rates)
            elif rates.of.group_id is not None:
                self._of_groups.setdefault(rates.of.group_id, []).append(rates)

    def list_candidates(self, merchant_id: int, group_id: int | None) -> list[PriceRates]:
        """Return the lists of a merchant, its own before those of its group."""
        own = self._of_merchants.get(merchant_id, [])
        return own if group_id is None else [*own, *self._of_groups.get(group_id, ())]


def find_valid(candidates: Iterable[PriceRates], now: datetime) -> PriceRates | None:
    """Return the first list that is valid: a merchant has one at a time, or none."""
    return next((rates for rates in candidates if rates.of.is_valid(now)), None)


class PriceTerms(msgspec.Struct, frozen=True):
    """By which list an order was quoted, and how the price of each product came about."""

    list_id: int
    name: str
    revision: int
    items: Mapping[str, PickedPrice]


# As an order stores them: null if its prices are those of the catalogue.
StoredTerms: TypeAlias = Mapping[str, Any] | None

_read_terms: Final = reader_of(PriceTerms)


def read_terms(stored: StoredTerms) -> PriceTerms | None:
    """Return how the prices of an order came about; None if they are those of the catalogue."""
    return None if stored is None else _read_terms(stored)


def write_terms(rates: PriceRates | None, items: Mapping[str, PickedPrice]) -> StoredTerms:
    """Return what an order stores about its prices."""
    if rates is None or not items:
        return None
    terms = PriceTerms(rates.of.id, rates.of.name, rates.of.revision, items)
    stored: StoredTerms = msgspec.to_builtins(terms)
    return stored


def check_not_ended(found: PriceList, now: datetime) -> None:
    """Refuse to change a list that is over: whoever bought by it must find it as it was."""
    if find_list_state(found, now) is PriceListState.ENDED:
        raise WrongState("This list has ended. Make a new one instead.")
