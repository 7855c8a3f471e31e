"""When a merchant is reminded of what is overdue, and in which words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import BadInput
from printworks.rules.reminders import (
    LONGEST_PAUSE_REASON,
    ReminderTone,
    find_due_step,
    find_tone,
    read_pause_reason,
)

DAYS = st.lists(st.integers(1, 60), min_size=1, max_size=5, unique=True).map(sorted)


@pytest.mark.parametrize(
    ("overdue_days", "sent", "days_since", "step"),
    [
        (2, 0, 0, None),
        (3, 0, 0, 1),
        (9, 1, 6, None),
        (10, 1, 7, 2),
        # They began late, and still come one after the other.
        (60, 0, 0, 1),
        (60, 1, 6, None),
        (60, 1, 7, 2),
        (21, 2, 11, 3),
        (99, 3, 78, None),
        # The oldest part was paid meanwhile.
        (5, 1, 20, None),
    ],
)
def test_reminders_come_in_turn(
    overdue_days: int, sent: int, days_since: int, step: int | None
) -> None:
    due = find_due_step((3, 10, 21), overdue_days=overdue_days, sent=sent, days_since=days_since)

    assert due == step


@given(days=DAYS, begin=st.integers(0, 90), gaps=st.lists(st.integers(1, 5), max_size=40))
def test_each_is_sent_once_and_never_too_early(
    days: list[int], begin: int, gaps: list[int]
) -> None:
    today, sent_on = begin, list[int]()
    for gap in gaps:
        since = today - sent_on[-1] if sent_on else 0
        step = find_due_step(days, overdue_days=today, sent=len(sent_on), days_since=since)
        if step is not None:
            assert step == len(sent_on) + 1
            sent_on.append(today)
        today += gap

    assert len(sent_on) <= len(days)
    assert all(when >= wanted for when, wanted in zip(sent_on, days, strict=False))
    assert sent_on == sorted(set(sent_on))


def test_the_words_become_firmer() -> None:
    assert [find_tone(step, 3) for step in (1, 2, 3)] == list(ReminderTone)
    assert [find_tone(step, 2) for step in (1, 2)] == [ReminderTone.FRIENDLY, ReminderTone.LAST]
    assert find_tone(1, 1) is ReminderTone.FRIENDLY


def test_a_pause_has_a_reason() -> None:
    assert read_pause_reason(" They dispute\n it. ") == "They dispute it."
    for wrong in ("", "  ", "x" * (LONGEST_PAUSE_REASON + 1), "a\x00b"):
        with pytest.raises(BadInput, match="Write the reason") as refused:
            read_pause_reason(wrong)
        assert list(refused.value.fields) == ["reason"]
