"""Which version of the catalogue is in use, and what can be done with the others."""

from datetime import timedelta

import pytest

from printworks.errors import BadInput, WrongState
from printworks.rules.catalogue_versions import (
    LONGEST_AHEAD,
    VersionState,
    check_deleting,
    check_editing,
    check_publishing,
    check_rolling_back,
    check_withdrawing,
    find_state,
    read_title,
)
from tests.factories import NOON

S = VersionState
HOUR = timedelta(hours=1)


def test_the_state_follows_from_when_versions_are_published() -> None:
    assert find_state(None, is_current=False, now=NOON) is S.DRAFT
    assert find_state(NOON + HOUR, is_current=False, now=NOON) is S.SCHEDULED
    assert find_state(NOON, is_current=True, now=NOON) is S.PUBLISHED
    assert find_state(NOON - HOUR, is_current=False, now=NOON) is S.SUPERSEDED


@pytest.mark.parametrize("state", S)
def test_each_state_permits_what_makes_sense(state: S) -> None:
    permitted = {
        S.DRAFT: {check_deleting},
        S.SCHEDULED: {check_withdrawing},
        S.PUBLISHED: set(),
        S.SUPERSEDED: {check_rolling_back},
    }[state]
    for check in (check_deleting, check_withdrawing, check_rolling_back):
        if check in permitted:
            check(state)
        else:
            with pytest.raises(WrongState, match=str(state)):
                check(state)


def test_only_a_draft_is_changed() -> None:
    check_editing(S.DRAFT)
    with pytest.raises(WrongState, match="Withdraw it"):
        check_editing(S.SCHEDULED)
    for state in (S.PUBLISHED, S.SUPERSEDED):
        with pytest.raises(WrongState, match="Make a draft of it"):
            check_editing(state)


def test_only_what_was_never_in_use_is_published_and_within_a_year() -> None:
    check_publishing(S.DRAFT, NOON, now=NOON)
    check_publishing(S.SCHEDULED, NOON + HOUR, now=NOON)
    with pytest.raises(WrongState, match="in use already"):
        check_publishing(S.PUBLISHED, NOON, now=NOON)
    with pytest.raises(WrongState, match="Roll back to it"):
        check_publishing(S.SUPERSEDED, NOON, now=NOON)
    with pytest.raises(BadInput, match="at most 366 days ahead"):
        check_publishing(S.DRAFT, NOON + LONGEST_AHEAD + HOUR, now=NOON)


def test_a_title_is_one_printable_line() -> None:
    assert read_title(" Spring \n prices ") == "Spring prices"
    for wrong in ("", "x" * 201, "a\u202eb"):
        with pytest.raises(BadInput, match="`title`"):
            read_title(wrong)
