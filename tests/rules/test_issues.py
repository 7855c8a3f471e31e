"""The moves of issues, held against the contract, and what is told of them."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import WrongState
from printworks.rules.issues import (
    ACTION_DESCRIPTIONS,
    CHARGED,
    DESCRIPTIONS,
    ISSUE_MOVES,
    MOST_ON_ORDER,
    MOST_REMARKS,
    UNSETTLED,
    Author,
    IssueAction,
    IssueKind,
    IssueState,
    Remark,
    check_charged,
    check_comment,
    check_issue_move,
    check_opening,
    check_refund,
    check_settling,
    write_commentary,
)
from printworks.rules.orders import OrderStatus
from tests.factories import NOON

_S = IssueState
STATES = st.sampled_from(IssueState)


def test_every_state_has_a_line_in_the_table() -> None:
    assert set(ISSUE_MOVES) == set(IssueState)


def test_the_moves_are_those_of_the_contract() -> None:
    moves = {(start, end) for start, ends in ISSUE_MOVES.items() for end in ends}

    assert moves == {
        (_S.OPEN, _S.IN_PROGRESS),
        (_S.IN_PROGRESS, _S.CLOSED_RESOLVED),
        (_S.CLOSED_RESOLVED, _S.CANCELLED),
        (_S.OPEN, _S.CANCELLED),
        (_S.IN_PROGRESS, _S.CANCELLED),
    }


@given(now_at=STATES, wanted=STATES)
def test_the_table_alone_decides(now_at: IssueState, wanted: IssueState) -> None:
    if wanted in ISSUE_MOVES[now_at]:
        check_issue_move(now_at, wanted)
    else:
        with pytest.raises(WrongState, match=now_at):
            check_issue_move(now_at, wanted)


@given(state=STATES)
def test_no_issue_can_become_what_it_is(state: IssueState) -> None:
    with pytest.raises(WrongState, match=f"The issue is {state} already"):
        check_issue_move(state, state)


@given(wanted=st.lists(STATES))
def test_whatever_is_tried_an_end_is_an_end(wanted: list[IssueState]) -> None:
    state, ended = IssueState.OPEN, False
    for move in wanted:
        try:
            check_issue_move(state, move)
        except WrongState:
            continue
        # What was settled can still be dropped; then nothing follows.
        assert not ended or (state, move) == (_S.CLOSED_RESOLVED, _S.CANCELLED)
        state, ended = move, move not in UNSETTLED


@pytest.mark.parametrize("state", IssueState)
def test_only_what_has_not_ended_can_be_settled(state: IssueState) -> None:
    if state in {_S.OPEN, _S.IN_PROGRESS}:
        check_settling(state)
    else:
        with pytest.raises(WrongState, match=state):
            check_settling(state)


def test_an_order_has_a_bounded_number_of_issues() -> None:
    check_opening(MOST_ON_ORDER - 1)

    with pytest.raises(WrongState, match="50 issues already"):
        check_opening(MOST_ON_ORDER)


@pytest.mark.parametrize("status", OrderStatus)
def test_only_what_is_charged_can_be_compensated_for(status: OrderStatus) -> None:
    if status in CHARGED:
        check_charged(status)
    else:
        with pytest.raises(WrongState, match=f"The order is {status}: nothing is charged"):
            check_charged(status)


def test_an_issue_has_a_bounded_number_of_remarks() -> None:
    check_comment(MOST_REMARKS - 1)

    with pytest.raises(WrongState, match="no more"):
        check_comment(MOST_REMARKS)


@pytest.mark.parametrize("amount", [1, 50, 100])
def test_a_part_or_all_of_what_is_left_can_be_given_back(amount: int) -> None:
    check_refund(amount, left=100, currency="GBP")


@pytest.mark.parametrize(("amount", "left"), [(0, 100), (-1, 100), (101, 100), (1, 0), (1, -5)])
def test_nothing_else_can_be_given_back(amount: int, left: int) -> None:
    with pytest.raises(WrongState, match="refunded"):
        check_refund(amount, left=left, currency="GBP")


def test_everything_has_a_description() -> None:
    assert set(DESCRIPTIONS) == set(IssueKind)
    assert set(ACTION_DESCRIPTIONS) == set(IssueAction)


def test_the_commentary_tells_every_change_and_comment_in_turn() -> None:
    later = NOON + timedelta(minutes=5)
    remarks = [
        Remark(NOON, Author.MERCHANT, None, _S.OPEN, None),
        Remark(NOON, Author.MERCHANT, None, None, "It is torn."),
        Remark(later, Author.SERVICE, _S.OPEN, _S.IN_PROGRESS, "We look into it."),
    ]

    assert write_commentary(remarks).splitlines() == [
        "2026-11-15 12:00:00 Merchant: Issue created.",
        "2026-11-15 12:00:00 Merchant: It is torn.",
        "2026-11-15 12:05:00 Service: State changed from Open to InProgress.",
        "2026-11-15 12:05:00 Service: We look into it.",
    ]
