"""How far a shipment has come at its lab, and what may still be changed on the way."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.orders import PERMISSIONS, OrderStatus, Permissions
from printworks.rules.production import (
    DROPPED,
    LAB_MOVES,
    OPEN,
    LabRules,
    LabState,
    find_permissions,
    is_news,
    judge_report,
)

_S = LabState

# The way that every parcel goes.
WAY = (_S.OFFERED, _S.ACCEPTED, _S.IN_PRODUCTION, _S.DISPATCHED)

USUAL = LabRules(
    cancel=frozenset({_S.OFFERED}), hold=frozenset(), update_shipping=frozenset({_S.OFFERED})
)
GENEROUS = LabRules(*[frozenset({_S.OFFERED, _S.ACCEPTED})] * 3)


class TestReports:
    def test_every_state_has_a_line_in_the_table(self) -> None:
        assert set(LAB_MOVES) == set(LabState)

    def test_a_shipment_never_goes_back(self) -> None:
        for earlier, later in permutations(WAY, 2):
            is_forward = WAY.index(later) > WAY.index(earlier)

            assert is_news(earlier, later) is is_forward

    @pytest.mark.parametrize("state", LabState)
    def test_the_same_again_is_no_news(self, state: LabState) -> None:
        assert not is_news(state, state)

    @given(st.lists(st.sampled_from(WAY), max_size=12))
    def test_reports_in_any_order_and_number_end_at_the_furthest(
        self, reports: list[LabState]
    ) -> None:
        known = _S.OFFERED
        for reported in reports:
            if is_news(known, reported):
                known = reported

        assert known == max([_S.OFFERED, *reports], key=WAY.index)

    def test_what_was_dispatched_can_only_be_delivered(self) -> None:
        assert LAB_MOVES[_S.DISPATCHED] == frozenset({_S.DELIVERED})
        assert LAB_MOVES[_S.DELIVERED] == frozenset()

    def test_a_lab_rejects_only_what_it_has_not_begun(self) -> None:
        may_reject = {state for state in LabState if _S.REJECTED in LAB_MOVES[state]}

        assert may_reject == {_S.OFFERED, _S.ACCEPTED}

    @pytest.mark.parametrize("known", LabState)
    def test_only_the_rejection_of_what_was_begun_means_something_else(
        self, known: LabState
    ) -> None:
        meant = {reported: judge_report(known, reported) for reported in LabState}

        others = {reported: reported for reported in LabState}
        begun = {_S.REJECTED: _S.FAILED} if known is _S.IN_PRODUCTION else {}
        assert meant == {**others, **begun}

    def test_what_is_open_can_still_be_dispatched(self) -> None:
        assert {state for state in LabState if _S.DISPATCHED in LAB_MOVES[state]} == OPEN
        assert not OPEN & DROPPED


class TestPermissions:
    @pytest.mark.parametrize("status", set(OrderStatus) - {OrderStatus.SUBMITTED})
    def test_before_and_after_the_labs_the_status_alone_decides(self, status: OrderStatus) -> None:
        assert find_permissions(status, [], is_held=False) == PERMISSIONS[status]

    @pytest.mark.parametrize(
        ("state", "rules", "cancel", "hold", "update_shipping"),
        [
            (_S.OFFERED, USUAL, True, False, True),
            (_S.OFFERED, GENEROUS, True, True, True),
            (_S.ACCEPTED, USUAL, False, False, False),
            (_S.ACCEPTED, GENEROUS, True, True, True),
            (_S.IN_PRODUCTION, GENEROUS, False, False, False),
            (_S.DISPATCHED, GENEROUS, False, False, False),
        ],
    )
    def test_at_a_lab_its_rules_decide(
        self, state: LabState, rules: LabRules, cancel: bool, hold: bool, update_shipping: bool
    ) -> None:
        permissions = find_permissions(OrderStatus.SUBMITTED, [(state, rules)], is_held=False)

        assert permissions == Permissions(
            cancel=cancel, hold=hold, update_shipping=update_shipping, remove_images=False
        )

    def test_every_lab_of_the_order_must_agree(self) -> None:
        shipments = [(_S.OFFERED, GENEROUS), (_S.ACCEPTED, USUAL)]

        permissions = find_permissions(OrderStatus.SUBMITTED, shipments, is_held=False)

        assert not any(permissions)

    def test_a_lab_that_rejected_has_no_say(self) -> None:
        shipments = [(_S.REJECTED, USUAL), (_S.OFFERED, GENEROUS)]

        permissions = find_permissions(OrderStatus.SUBMITTED, shipments, is_held=False)

        assert permissions.cancel

    @pytest.mark.parametrize("status", OrderStatus)
    def test_what_is_held_cannot_be_held_again(self, status: OrderStatus) -> None:
        shipments = [(_S.OFFERED, GENEROUS)]

        assert not find_permissions(status, shipments, is_held=True).hold
