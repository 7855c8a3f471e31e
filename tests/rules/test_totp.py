"""Codes that change every thirty seconds."""

import base64
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.totp import find_step, make_address, make_code

SECRET = base64.b32encode(b"12345678901234567890").decode()
NOW = datetime(2026, 11, 15, 12, tzinfo=UTC)
STEP = int(NOW.timestamp()) // 30


# The last six digits of the examples in RFC 6238, appendix B.
@pytest.mark.parametrize(
    ("seconds", "code"),
    [
        (59, "287082"),
        (1111111109, "081804"),
        (1111111111, "050471"),
        (1234567890, "005924"),
        (2000000000, "279037"),
        (20000000000, "353130"),
    ],
)
def test_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    assert make_code(SECRET, seconds // 30) == code


@pytest.mark.parametrize("neighbour", [-1, 0, 1])
def test_a_clock_that_is_a_little_off_does_no_harm(neighbour: int) -> None:
    code = make_code(SECRET, STEP + neighbour)
    assert find_step(SECRET, code, last_step=0, now=NOW) == STEP + neighbour


@pytest.mark.parametrize("neighbour", [-2, 2])
def test_a_code_from_further_away_is_none(neighbour: int) -> None:
    code = make_code(SECRET, STEP + neighbour)
    assert find_step(SECRET, code, last_step=0, now=NOW) is None


def test_a_code_counts_once_and_none_before_it_counts_any_more() -> None:
    code = make_code(SECRET, STEP)
    earlier = make_code(SECRET, STEP - 1)
    assert find_step(SECRET, code, last_step=STEP, now=NOW) is None
    assert find_step(SECRET, earlier, last_step=STEP, now=NOW) is None
    later = NOW + timedelta(seconds=30)
    assert find_step(SECRET, make_code(SECRET, STEP + 1), last_step=STEP, now=later) == STEP + 1


def test_spaces_in_a_code_do_not_matter() -> None:
    code = make_code(SECRET, STEP)
    assert find_step(SECRET, f" {code[:3]} {code[3:]} ", last_step=0, now=NOW) == STEP


@given(st.text(max_size=20))
def test_whatever_is_typed_is_at_most_a_wrong_code(text: str) -> None:
    if "".join(text.split()) not in {make_code(SECRET, STEP + step) for step in (-1, 0, 1)}:
        assert find_step(SECRET, text, last_step=0, now=NOW) is None


@given(st.text(max_size=40))
def test_a_secret_that_is_none_finds_nothing(secret: str) -> None:
    assert find_step(secret, "no code", last_step=0, now=NOW) is None


def test_what_authenticators_read_names_whose_it_is() -> None:
    address = make_address(SECRET, issuer="Printworks", account="mary@example.com")
    assert address == (
        f"otpauth://totp/Printworks%3Amary%40example.com?secret={SECRET}&issuer=Printworks"
    )
