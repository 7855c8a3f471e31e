"""A price list decides what a copy costs, and says how that came about."""

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import WrongState
from printworks.rules.price_lists import (
    PickedPrice,
    PriceBasis,
    PriceBook,
    PriceLine,
    PriceList,
    PriceListState,
    PriceRates,
    check_not_ended,
    find_list_state,
    find_valid,
    read_terms,
    take_off,
    write_terms,
)
from tests.factories import NOON

DAY = timedelta(days=1)
SKUS = st.sampled_from(["", "MUG", "POSTER"])
PERCENTAGES = st.integers(0, 10_000)
PRICES = st.integers(0, 1_000_000)
LINES = st.one_of(
    st.builds(PriceLine, SKUS, st.integers(1, 500), st.just(""), st.just(0), PERCENTAGES),
    st.builds(PriceLine, SKUS, st.integers(1, 500), st.sampled_from(["EUR", "GBP"]), PRICES),
)
LISTS = st.builds(
    lambda lines, off: a_list(percent_off=off, lines=lines),
    st.lists(LINES, max_size=8, unique_by=lambda line: line.key),
    PERCENTAGES,
)


def a_list(**values: Any) -> PriceList:
    usual = {"id": 1, "name": "Spring", "valid_from": NOON, "merchant_id": 7}
    return PriceList(**{**usual, **values})


def pick(found: PriceList, copies: int = 1, sku: str = "MUG", price: int = 1000) -> PickedPrice:
    return PriceRates(found).pick(sku, "EUR", price, copies)


class TestPick:
    def test_without_lines_the_percentage_of_the_list_is_taken_off(self) -> None:
        assert pick(a_list(percent_off=1250)) == PickedPrice(875, 1000, PriceBasis.PERCENTAGE, 1250)
        assert pick(a_list()) == PickedPrice(1000, 1000)

    def test_half_a_unit_is_rounded_up(self) -> None:
        assert [take_off(price, 5000) for price in (0, 1, 2, 3)] == [0, 1, 1, 2]

    def test_a_price_of_the_product_replaces_the_percentage_even_if_it_is_dearer(self) -> None:
        found = a_list(percent_off=5000, lines=[PriceLine("MUG", 1, "EUR", 1100)])

        assert pick(found) == PickedPrice(1100, 1000, PriceBasis.PRICE)
        assert pick(found, sku="POSTER").price == 500

    def test_a_price_in_another_currency_does_not_count(self) -> None:
        found = a_list(percent_off=1000, lines=[PriceLine("MUG", 1, "GBP", 100)])

        assert pick(found).price == 900

    def test_a_step_counts_from_its_number_of_copies_on(self) -> None:
        steps = [PriceLine("MUG", 10, "EUR", 800), PriceLine("MUG", 50, percent_off=3000)]
        found = a_list(lines=steps)

        assert [pick(found, copies).price for copies in (1, 9, 10, 49, 50)] == [
            *(1000, 1000, 800, 800, 700)
        ]
        assert pick(found, 60) == PickedPrice(700, 1000, PriceBasis.PERCENTAGE, 3000, 50)

    def test_lines_of_the_product_replace_those_of_every_product(self) -> None:
        found = a_list(lines=[PriceLine(percent_off=5000), PriceLine("MUG", percent_off=0)])

        assert pick(found).price == 1000
        assert pick(found, sku="POSTER").price == 500

    def test_a_price_is_more_exact_than_a_percentage(self) -> None:
        found = a_list(lines=[PriceLine("MUG", 1, "EUR", 990), PriceLine("MUG", percent_off=9000)])

        assert pick(found).price == 990


@given(found=LISTS, copies=st.integers(0, 1000), price=PRICES)
def test_a_price_is_never_negative(found: PriceList, copies: int, price: int) -> None:
    assert pick(found, copies, price=price).price >= 0


@given(found=LISTS, price=PRICES, few=st.integers(1, 600), more=st.integers(0, 600))
def test_more_copies_never_cost_more_each(
    found: PriceList, price: int, few: int, more: int
) -> None:
    assert pick(found, few + more, price=price).price <= pick(found, few, price=price).price


@given(found=LISTS, price=PRICES, copies=st.integers(1, 600))
def test_the_steps_that_are_shown_are_those_that_are_charged(
    found: PriceList, price: int, copies: int
) -> None:
    steps = PriceRates(found).list_steps("MUG", "EUR", price)

    reached = [step.price for step in steps if step.from_copies <= copies]
    assert reached[-1] == pick(found, copies, price=price).price
    assert [step.price for step in steps] == sorted({step.price for step in steps}, reverse=True)


@given(
    begin=st.integers(-50, 50),
    length=st.none() | st.integers(0, 50),
    is_suspended=st.booleans(),
)
def test_outside_its_validity_a_list_is_not_used(
    begin: int, length: int | None, *, is_suspended: bool
) -> None:
    first = NOON + timedelta(days=begin)
    end = None if length is None else first + timedelta(days=length)
    found = a_list(valid_from=first, valid_until=end, is_suspended=is_suspended)
    book = PriceBook(1, [PriceRates(found)])

    used = find_valid(book.list_candidates(7, None), NOON)

    is_within = first <= NOON and (end is None or end > NOON)
    assert (used is not None) is (is_within and not is_suspended)


class TestPriceBook:
    def test_the_list_of_the_merchant_comes_before_that_of_its_group(self) -> None:
        own = PriceRates(a_list(id=1))
        of_group = PriceRates(a_list(id=2, merchant_id=None, group_id=3))
        unassigned = PriceRates(a_list(id=3, merchant_id=None))
        book = PriceBook(1, [of_group, own, unassigned])

        assert book.list_candidates(7, 3) == [own, of_group]
        assert book.list_candidates(7, None) == [own]
        assert book.list_candidates(8, 3) == [of_group]
        assert book.list_candidates(8, 4) == []

    def test_the_list_that_began_last_counts(self) -> None:
        old, new = (PriceRates(a_list(id=one, valid_from=NOON + one * DAY)) for one in (1, 2))
        found = PriceBook(1, [old, new]).list_candidates(7, None)

        assert find_valid(found, NOON + 3 * DAY) is new
        assert find_valid(found, NOON + DAY) is old
        assert find_valid(found, NOON) is None


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ({}, PriceListState.VALID),
        ({"valid_from": NOON + DAY}, PriceListState.COMING),
        ({"is_suspended": True}, PriceListState.SUSPENDED),
        ({"merchant_id": None}, PriceListState.UNASSIGNED),
        ({"valid_until": NOON}, PriceListState.ENDED),
    ],
)
def test_a_list_says_whether_it_is_used(values: dict[str, Any], state: PriceListState) -> None:
    assert find_list_state(a_list(**values), NOON) is state


def test_a_list_that_has_ended_stays_as_it_was() -> None:
    check_not_ended(a_list(), NOON)
    with pytest.raises(WrongState, match="has ended"):
        check_not_ended(a_list(valid_until=NOON), NOON)


def test_an_order_remembers_how_its_prices_came_about() -> None:
    rates = PriceRates(a_list(percent_off=1000, revision=4))
    items = {"MUG": rates.pick("MUG", "EUR", 1000, 2)}

    terms = read_terms(write_terms(rates, items))

    assert terms is not None
    assert (terms.list_id, terms.name, terms.revision, terms.items) == (1, "Spring", 4, items)
    assert read_terms(write_terms(None, items)) is None
    assert read_terms(write_terms(rates, {})) is None
