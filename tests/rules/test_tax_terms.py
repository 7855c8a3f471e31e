"""Which tax a sale carries, and that its parts add up."""

from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.catalogue.taxes import load_taxes
from printworks.rules.tax_table import TaxClass
from printworks.rules.tax_terms import (
    PricedLine,
    SellerPlace,
    Situation,
    TaxedLine,
    TaxedSale,
    TaxTerms,
    change_shipping_line,
    find_credited_tax,
    find_situation,
    tax_sale,
)
from printworks.rules.taxes import TaxCategory, TaxedAmount, TaxPolicy, TaxRate, TaxRounding

DAY = date(2026, 11, 1)
TABLE = load_taxes()
NET, GROSS = (TaxPolicy(each, TaxRounding.LINE) for each in (False, True))
_S = Situation


def a_place(country: str = "DE", **given: Any) -> SellerPlace:
    """Make a seller that is registered at home."""
    return SellerPlace(country=country, **{"is_registered": True, **given})


FR = frozenset({"FR"})


@pytest.mark.parametrize(
    ("seller", "buyer", "destination", "situation", "rate"),
    [
        (
            a_place(is_registered=False),
            "",
            "DE",
            _S.NOT_REGISTERED,
            TaxRate(TaxCategory.OUTSIDE_SCOPE),
        ),
        (a_place(), "", "DE", _S.DOMESTIC, TaxRate(TaxCategory.STANDARD, 1900, "DE")),
        # A foreign business pays, too, for what stays in the country.
        (a_place(), "FR", "DE", _S.DOMESTIC, TaxRate(TaxCategory.STANDARD, 1900, "DE")),
        (a_place(), "", "FR", _S.ORIGIN, TaxRate(TaxCategory.STANDARD, 1900, "DE")),
        (
            a_place(has_one_stop=True),
            "",
            "FR",
            _S.ONE_STOP,
            TaxRate(TaxCategory.STANDARD, 2000, "FR"),
        ),
        (
            a_place(has_one_stop=True),
            "",
            "MC",
            _S.ONE_STOP,
            TaxRate(TaxCategory.STANDARD, 2000, "FR"),
        ),
        # A business of the seller's own country is none of another.
        (a_place(), "DE", "FR", _S.ORIGIN, TaxRate(TaxCategory.STANDARD, 1900, "DE")),
        (a_place(), "FR", "FR", _S.INTRA_COMMUNITY, TaxRate(TaxCategory.INTRA_COMMUNITY)),
        (a_place(), "AT", "FR", _S.INTRA_COMMUNITY, TaxRate(TaxCategory.INTRA_COMMUNITY)),
        (a_place(registered_in=FR), "", "FR", _S.LOCAL, TaxRate(TaxCategory.STANDARD, 2000, "FR")),
        (
            a_place(registered_in=FR),
            "FR",
            "FR",
            _S.LOCAL,
            TaxRate(TaxCategory.STANDARD, 2000, "FR"),
        ),
        (
            a_place(registered_in=FR, reverse_charged_in=FR),
            *("FR", "FR", _S.REVERSE_CHARGE, TaxRate(TaxCategory.REVERSE_CHARGE)),
        ),
        (
            a_place(registered_in=FR, reverse_charged_in=FR),
            *("", "FR", _S.LOCAL, TaxRate(TaxCategory.STANDARD, 2000, "FR")),
        ),
        (a_place(), "", "US", _S.EXPORT, TaxRate(TaxCategory.EXPORT)),
        (a_place(), "FR", "CH", _S.EXPORT, TaxRate(TaxCategory.EXPORT)),
        (a_place("GB"), "FR", "FR", _S.EXPORT, TaxRate(TaxCategory.EXPORT)),
        (a_place("GB"), "", "IM", _S.DOMESTIC, TaxRate(TaxCategory.STANDARD, 2000, "GB")),
        # A country without a rate.
        (a_place("US"), "", "US", _S.DOMESTIC, TaxRate(TaxCategory.OUTSIDE_SCOPE)),
    ],
)
def test_the_situation_decides_the_rate(
    seller: SellerPlace, buyer: str, destination: str, situation: Situation, rate: TaxRate
) -> None:
    sale = TaxedSale(seller=seller, buyer_country=buyer, destination=destination, day=DAY)

    assert find_situation(seller, buyer, destination) is sale.situation is situation
    assert sale.find_rate(TABLE, TaxClass.STANDARD) == rate


def a_sale(country: str = "DE", destination: str = "DE") -> TaxedSale:
    return TaxedSale(seller=a_place(country), buyer_country="", destination=destination, day=DAY)


def test_a_class_has_its_own_rate_and_zero_is_a_category_of_its_own() -> None:
    assert a_sale().find_rate(TABLE, TaxClass.BOOKS).rate == 700
    british = a_sale("GB", "GB").find_rate(TABLE, TaxClass.BOOKS)
    assert british == TaxRate(TaxCategory.ZERO_RATED, 0, "GB")


PRINTS = PricedLine("PRINT", "A print", 3, 1000, TaxClass.STANDARD)
BOOK = PricedLine("BOOK", "A book", 1, 4000, TaxClass.BOOKS)


@pytest.mark.parametrize(
    ("goods", "shipping_tax"),
    [([PRINTS], 95), ([PRINTS, BOOK], 35), ([PRINTS, BOOK._replace(each=3000)], 95), ([], 95)],
)
def test_shipping_goes_with_most_of_the_goods(goods: list[PricedLine], shipping_tax: int) -> None:
    *_, shipping = tax_sale(a_sale(), goods, 500, NET, TABLE)

    assert shipping.is_shipping
    assert (shipping.net, shipping.tax) == (500, shipping_tax)


def terms_of(lines: tuple[TaxedLine, ...], policy: TaxPolicy = NET) -> TaxTerms:
    return TaxTerms(
        seller_id=1,
        is_gross=policy.is_gross,
        rounding=policy.rounding,
        situation=_S.DOMESTIC,
        lines=lines,
    )


def test_terms_add_up_by_rate() -> None:
    terms = terms_of(tax_sale(a_sale(), [PRINTS, BOOK], 500, NET, TABLE))

    assert (terms.net, terms.tax, terms.gross) == (7500, 570 + 280 + 35, 8385)
    assert terms.rates == {
        TaxRate(TaxCategory.STANDARD, 1900, "DE"): TaxedAmount(3000, 570),
        TaxRate(TaxCategory.STANDARD, 700, "DE"): TaxedAmount(4500, 315),
    }


GOODS = st.lists(
    st.builds(
        PricedLine,
        st.text("ABC", min_size=1),
        st.just("A thing"),
        st.integers(1, 500),
        st.integers(0, 100_000),
        st.sampled_from(TaxClass),
    ),
    max_size=12,
)
POLICIES = st.builds(TaxPolicy, st.booleans(), st.sampled_from(TaxRounding))
SALES = st.builds(
    TaxedSale,
    seller=st.builds(
        SellerPlace,
        country=st.sampled_from(["DE", "GB", "US"]),
        is_registered=st.booleans(),
        has_one_stop=st.booleans(),
        registered_in=st.sampled_from([frozenset(), FR]),
    ),
    buyer_country=st.sampled_from(["", "FR"]),
    destination=st.sampled_from(["DE", "FR", "GB", "US", "MC"]),
    day=st.just(DAY),
)


@given(SALES, GOODS, st.integers(0, 10_000), POLICIES)
def test_net_and_tax_are_what_is_charged(
    sale: TaxedSale, goods: list[PricedLine], shipping: int, policy: TaxPolicy
) -> None:
    terms = terms_of(tax_sale(sale, goods, shipping, policy, TABLE), policy)
    priced = shipping + sum(line.quantity * line.each for line in goods)

    assert terms.net + terms.tax == terms.gross
    assert (terms.gross if policy.is_gross else terms.net) == priced
    assert all(line.tax >= 0 and (line.rate or not line.tax) for line in terms.lines)
    assert sum(each.tax for each in terms.rates.values()) == terms.tax


@given(SALES, GOODS, st.integers(0, 10_000), st.integers(0, 10_000), POLICIES)
def test_other_shipping_is_taxed_as_if_it_had_been_so_from_the_start(
    sale: TaxedSale, goods: list[PricedLine], before: int, after: int, policy: TaxPolicy
) -> None:
    changed = change_shipping_line(
        terms_of(tax_sale(sale, goods, before, policy, TABLE), policy), after
    )

    assert changed.lines == tax_sale(sale, goods, after, policy, TABLE)


@given(st.lists(st.integers(1, 5000), min_size=1, max_size=8), st.integers(0, 10_000))
def test_credits_of_the_whole_are_credits_of_the_whole_tax(parts: list[int], share: int) -> None:
    total = sum(parts)
    tax = total * share // 10_000
    credited, before = [], 0
    for part in parts:
        credited.append(find_credited_tax(part, before=before, tax=tax, total=total))
        before += part

    assert sum(credited) == tax
    assert all(0 <= each <= part for each, part in zip(credited, parts, strict=True))


def test_a_free_order_has_no_tax_to_credit() -> None:
    assert find_credited_tax(0, before=0, tax=0, total=0) == 0
