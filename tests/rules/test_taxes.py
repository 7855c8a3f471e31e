"""How an amount is divided into net and tax."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.taxes import (
    WHOLE,
    TaxableLine,
    TaxCategory,
    TaxedAmount,
    TaxPolicy,
    TaxRate,
    TaxRounding,
    divide,
    sum_by_rate,
    tax_lines,
)

RATES = st.sampled_from([0, 210, 550, 700, 1900, 2000, 2550])
AMOUNTS = st.integers(-(10**11), 10**11)
LINES = st.lists(
    st.builds(
        TaxableLine,
        st.integers(0, 10**7),
        st.builds(TaxRate, st.just(TaxCategory.STANDARD), RATES, st.just("DE")),
    ),
    max_size=30,
)
POLICIES = st.builds(TaxPolicy, st.booleans(), st.sampled_from(TaxRounding))


@pytest.mark.parametrize(
    ("amount", "rate", "is_gross", "expected"),
    [
        (1000, 2000, False, TaxedAmount(1000, 200)),
        (1200, 2000, True, TaxedAmount(1000, 200)),
        (1000, 0, True, TaxedAmount(1000, 0)),
        # Half a unit goes away from zero, so that a refund mirrors its charge.
        (250, 1000, False, TaxedAmount(250, 25)),
        (5, 1000, False, TaxedAmount(5, 1)),
        (-5, 1000, False, TaxedAmount(-5, -1)),
        (1, 1900, True, TaxedAmount(1, 0)),
    ],
)
def test_known_amounts(amount: int, rate: int, *, is_gross: bool, expected: TaxedAmount) -> None:
    assert divide(amount, rate, is_gross=is_gross) == expected


@given(AMOUNTS, RATES, st.booleans())
def test_what_was_priced_stays_what_it_is(amount: int, rate: int, is_gross: bool) -> None:
    divided = divide(amount, rate, is_gross=is_gross)
    assert (divided.gross if is_gross else divided.net) == amount


@given(AMOUNTS, RATES, st.booleans())
def test_a_refund_mirrors_its_charge(amount: int, rate: int, is_gross: bool) -> None:
    charged, refunded = (divide(each, rate, is_gross=is_gross) for each in (amount, -amount))
    assert (refunded.net, refunded.tax) == (-charged.net, -charged.tax)


@given(LINES, POLICIES)
def test_lines_add_up_to_the_document(lines: list[TaxableLine], policy: TaxPolicy) -> None:
    amounts = tax_lines(lines, policy)

    priced = [amount.gross if policy.is_gross else amount.net for amount in amounts]
    assert priced == [line.amount for line in lines]
    sums = sum_by_rate(lines, amounts)
    assert sum(one.gross for one in sums.values()) == sum(one.gross for one in amounts)
    for rate, total in sums.items():
        if policy.rounding is TaxRounding.DOCUMENT:
            whole = sum(line.amount for line in lines if line.rate == rate)
            assert total == divide(whole, rate.rate, is_gross=policy.is_gross)


@given(LINES, st.booleans())
def test_a_line_is_at_most_a_unit_off_its_own_tax(lines: list[TaxableLine], is_gross: bool) -> None:
    for line, amount in zip(
        lines, tax_lines(lines, TaxPolicy(is_gross, TaxRounding.DOCUMENT)), strict=True
    ):
        exact = line.amount * line.rate.rate / (WHOLE + line.rate.rate * is_gross)
        assert abs(amount.tax - exact) <= 1
