"""The states of an account, and what each of them permits."""

import pytest

from printworks.errors import BadInput, Restricted, WrongState
from printworks.rules.merchants import (
    LONGEST_NAME,
    MerchantState,
    check_currency,
    check_may_order,
    check_move,
    check_not_closed,
    check_nothing_open,
    read_merchant_name,
    read_state_reason,
)

S = MerchantState
POSSIBLE = {
    (S.ACTIVE, S.SUSPENDED),
    (S.ACTIVE, S.CLOSED),
    (S.SUSPENDED, S.ACTIVE),
    (S.SUSPENDED, S.CLOSED),
    (S.CLOSED, S.ACTIVE),
}


@pytest.mark.parametrize("state", S)
@pytest.mark.parametrize("wanted", S)
def test_only_moves_that_make_sense_are_possible(state: S, wanted: S) -> None:
    if (state, wanted) in POSSIBLE:
        check_move(state, wanted)
        return
    with pytest.raises(WrongState, match=str(state)):
        check_move(state, wanted)


def test_only_an_active_merchant_orders_and_others_read_why() -> None:
    check_may_order(S.ACTIVE, "")
    for state in (S.SUSPENDED, S.CLOSED):
        with pytest.raises(Restricted, match=rf"This account is {state} \(May is unpaid\)"):
            check_may_order(state, "May is unpaid")


def test_nobody_comes_in_to_a_closed_account() -> None:
    check_not_closed(S.ACTIVE)
    check_not_closed(S.SUSPENDED)
    with pytest.raises(WrongState, match="This account is closed"):
        check_not_closed(S.CLOSED)


@pytest.mark.parametrize(
    ("orders", "balance", "said"),
    [
        (1, 0, "an order that is neither complete nor cancelled"),
        (1000, 0, "1,000 orders that are neither complete nor cancelled"),
        (0, -5, "a balance that is not settled"),
        (2, 5, "2 orders that are neither complete nor cancelled and a balance"),
    ],
)
def test_what_is_open_is_named(orders: int, balance: int, said: str) -> None:
    with pytest.raises(WrongState, match=f"It cannot be closed while the merchant has {said}"):
        check_nothing_open("It cannot be closed", open_orders=orders, balance=balance)


def test_nothing_open_is_no_obstacle() -> None:
    check_nothing_open("It cannot be closed", open_orders=0, balance=0)


def test_names_and_reasons_are_printable_and_not_too_long() -> None:
    assert read_merchant_name("  A shop ") == "A shop"
    assert read_state_reason(" May  is\tunpaid ") == "May is unpaid"
    for wrong in ("", " ", "x" * (LONGEST_NAME + 1), "a\u202eb"):
        with pytest.raises(BadInput, match="`name` must be 1 to 200"):
            read_merchant_name(wrong)
        with pytest.raises(BadInput, match="`reason` must be 1 to 200"):
            read_state_reason(wrong)


def test_a_currency_in_which_nothing_is_sold_is_refused() -> None:
    check_currency("EUR", ("EUR", "USD"))
    with pytest.raises(BadInput, match=r"Nothing is sold in GBP; .* are: EUR, USD\."):
        check_currency("GBP", ("EUR", "USD"))
