"""Amounts are divided among products and labs to the last unit."""

from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.ledger import EntryKind
from printworks.rules.sales import (
    SHIPPING,
    Figures,
    Sale,
    SoldItem,
    divide_sale,
    figures_of_sale,
    mirror_parts,
    price_lines,
    spread,
)

WEIGHTS = st.lists(st.integers(0, 10**6), min_size=1, max_size=12)


@given(amount=st.integers(-(10**9), 10**9), weights=WEIGHTS)
def test_the_parts_are_the_whole(amount: int, weights: list[int]) -> None:
    assert sum(spread(amount, weights)) == amount


@given(amount=st.integers(0, 10**9), weights=WEIGHTS)
def test_each_part_is_its_share_to_less_than_a_unit(amount: int, weights: list[int]) -> None:
    total = sum(weights) or len(weights)
    for part, weight in zip(spread(amount, weights), weights, strict=True):
        share = amount * weight if sum(weights) else amount
        assert abs(part * total - share) < total


ITEMS = st.lists(
    st.builds(
        SoldItem,
        st.sampled_from(["leeds", "york"]),
        st.sampled_from(["print", "mug", "frame"]),
        st.integers(0, 50),
        st.integers(0, 10**6),
    ),
    min_size=1,
    max_size=8,
)


@given(
    items=ITEMS,
    shipping=st.integers(0, 10**4),
    amount=st.integers(0, 10**7),
    tax=st.integers(0, 99),
)
def test_a_sale_is_its_parts(items: list[SoldItem], shipping: int, amount: int, tax: int) -> None:
    *goods, sending = price_lines(items, shipping=shipping, amount=amount)

    parts = divide_sale(items, [*goods, sending._replace(tax=tax)], is_new=True)

    assert sum(part.net for part in parts) == amount
    assert sum(part.tax for part in parts) == tax
    assert sum(part.orders for part in parts) == 1
    assert sum(part.copies for part in parts) == sum(item.copies for item in items)
    assert len({(part.lab, part.sku) for part in parts}) == len(parts)


@given(items=ITEMS, shipping=st.integers(1, 10**4))
def test_each_part_is_what_was_asked_for_it(items: list[SoldItem], shipping: int) -> None:
    amount = shipping + sum(item.price for item in items)

    parts = divide_sale(items, price_lines(items, shipping=shipping, amount=amount), is_new=False)

    for sku in {item.sku for item in items}:
        asked = sum(item.price for item in items if item.sku == sku)
        assert sum(part.net for part in parts if part.sku == sku) == asked
    assert sum(part.net for part in parts if part.sku == SHIPPING) == shipping
    assert all(part.orders == part.copies == 0 for part in parts)


@given(items=ITEMS, amount=st.integers(0, 10**7))
def test_a_refund_mirrors_its_charge(items: list[SoldItem], amount: int) -> None:
    lines = price_lines(items, shipping=5, amount=amount)
    parts = divide_sale(items, lines, is_new=True)
    facts = {"number": 1, "day": "2026-11-15", "currency": "GBP", "country": "GB"}
    charge = Sale(kind=EntryKind.CHARGE, parts=parts, **facts)  # type: ignore[arg-type]
    refund = Sale(kind=EntryKind.REFUND, parts=mirror_parts(parts), **facts)  # type: ignore[arg-type]

    sums = Figures()
    for _, figures in [*figures_of_sale(charge), *figures_of_sale(refund)]:
        sums = sums.plus(figures)

    assert (sums.net, sums.tax) == (sums.refunded_net, sums.refunded_tax)
    assert (sums.margin, sums.gross, sums.refunded) == (0, amount, amount)
