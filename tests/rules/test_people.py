"""Who may come in, for how long, and what each may do."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import BadInput
from printworks.rules.people import (
    IDLE,
    LONGEST,
    MAY,
    OPERATORS,
    TEAM,
    Duty,
    Realm,
    Role,
    end_of_session,
    is_proved,
    read_email,
    wait_after,
)

NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Mary@Example.COM", "mary@example.com"),
        ("  mary.fox+prints@mail.example.co.uk ", "mary.fox+prints@mail.example.co.uk"),
        ("märy@exämple.de", "märy@exämple.de"),
    ],
)
def test_an_address_is_kept_in_one_spelling(written: str, kept: str) -> None:
    assert read_email(written) == kept


@pytest.mark.parametrize(
    "written",
    [
        "",
        "mary",
        "mary@",
        "@example.com",
        "mary@example",
        "a b@example.com",
        "mary@@example.com",
        "mary@example.com\nBcc: all",
        "<mary@example.com>",
        "x" * 250 + "@example.com",
        "mary@example.com\0",
    ],
)
def test_what_cannot_be_an_address_is_refused(written: str) -> None:
    with pytest.raises(BadInput, match="email address"):
        read_email(written)


@given(st.text(max_size=300))
def test_an_address_is_read_or_refused_whatever_was_typed(text: str) -> None:
    try:
        email = read_email(text)
    except BadInput:
        return
    assert read_email(email) == email


def test_waits_begin_after_four_mistakes_double_and_have_an_end() -> None:
    waits = [wait_after(failures).total_seconds() for failures in range(15)]
    assert waits[:5] == [0] * 5
    assert waits[5:11] == [15, 30, 60, 120, 240, 480]
    assert waits[11:] == [900] * 4


@given(st.integers(0, 10_000))
def test_more_mistakes_never_cost_less(failures: int) -> None:
    assert wait_after(failures) <= wait_after(failures + 1) <= timedelta(minutes=15)


def test_a_password_counts_for_ten_minutes() -> None:
    assert is_proved(NOW, now=NOW + timedelta(minutes=9, seconds=59))
    assert not is_proved(NOW, now=NOW + timedelta(minutes=10))
    assert not is_proved(None, now=NOW)


@pytest.mark.parametrize("realm", list(Realm))
def test_a_session_that_is_used_lasts_on_but_not_for_ever(realm: Realm) -> None:
    assert end_of_session(realm, NOW, now=NOW) == NOW + IDLE[realm]
    late = NOW + LONGEST - timedelta(minutes=1)
    assert end_of_session(realm, NOW, now=late) == NOW + LONGEST


def test_every_role_of_the_console_may_look_and_one_may_do_everything() -> None:
    assert all(Duty.LOOK in MAY[role] for role in OPERATORS)
    of_console = {Duty.LOOK, Duty.PRODUCE, Duty.SUPPORT, Duty.ADMINISTER}
    assert [role for role in Role if MAY[role] == of_console] == [Role.ADMIN]


def test_every_role_of_a_team_may_look_and_an_owner_may_do_everything() -> None:
    assert all(Duty.LOOK in MAY[role] for role in TEAM)
    of_merchant = {Duty.LOOK, Duty.ORDER, Duty.ACCOUNT, Duty.MANAGE}
    assert [role for role in Role if MAY[role] == of_merchant] == [Role.OWNER]
