"""The tables of moves and permissions, held against the decisions line by line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import WrongState
from printworks.rules.orders import (
    MOVES,
    PERMISSIONS,
    OrderStatus,
    Permissions,
    check_change,
    check_move,
)

_S = OrderStatus


def test_every_status_has_a_line_in_both_tables() -> None:
    assert set(MOVES) == set(PERMISSIONS) == set(OrderStatus)


@pytest.mark.parametrize(
    ("now_at", "wanted"),
    [
        (_S.NOT_YET_SUBMITTED, _S.SUBMITTED),
        (_S.NOT_YET_SUBMITTED, _S.AWAITING_PAYMENT),
        (_S.AWAITING_PAYMENT, _S.SUBMITTED),
        (_S.AWAITING_PAYMENT, _S.NOT_YET_SUBMITTED),
        (_S.NOT_YET_SUBMITTED, _S.CANCELLED),
        (_S.AWAITING_PAYMENT, _S.CANCELLED),
        (_S.SUBMITTED, _S.CANCELLED),
        (_S.SUBMITTED, _S.COMPLETE),
    ],
)
def test_the_decided_moves_are_possible(now_at: OrderStatus, wanted: OrderStatus) -> None:
    check_move(now_at, wanted)


def test_no_other_move_is_possible() -> None:
    assert sum(len(targets) for targets in MOVES.values()) == 8


@given(now_at=st.sampled_from(OrderStatus), wanted=st.sampled_from(OrderStatus))
def test_the_table_alone_decides(now_at: OrderStatus, wanted: OrderStatus) -> None:
    if wanted in MOVES[now_at]:
        check_move(now_at, wanted)
    else:
        with pytest.raises(WrongState, match=f"is {now_at} cannot become {wanted}"):
            check_move(now_at, wanted)


@pytest.mark.parametrize("status", [_S.COMPLETE, _S.CANCELLED])
def test_an_order_that_has_ended_permits_nothing(status: OrderStatus) -> None:
    assert PERMISSIONS[status] == Permissions(
        cancel=False, hold=False, update_shipping=False, remove_images=False
    )


def test_an_order_that_is_not_yet_submitted_permits_everything() -> None:
    assert all(PERMISSIONS[_S.NOT_YET_SUBMITTED])


def test_what_may_be_cancelled_may_move_to_cancelled() -> None:
    for status, permissions in PERMISSIONS.items():
        assert permissions.cancel == (_S.CANCELLED in MOVES[status])


@pytest.mark.parametrize("status", set(OrderStatus) - {_S.NOT_YET_SUBMITTED})
def test_only_an_order_that_is_not_yet_submitted_can_be_changed(status: OrderStatus) -> None:
    check_change(_S.NOT_YET_SUBMITTED)

    with pytest.raises(WrongState, match=status):
        check_change(status)
