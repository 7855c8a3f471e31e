"""Which passwords are refused, and that the others are not."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import BadInput
from printworks.rules.passwords import check_password, list_forms, normalise

OWN = ("mary.fox@brightprints.example", "Fox & Sons", "printworks")
COMMON = frozenset({"password", "manchester", "iloveyou", "letmein", "dragon1x", "qwerty"})


def refusal(password: str) -> str:
    """Return why a password is refused."""
    with pytest.raises(BadInput) as refused:
        check_password(password, own=OWN, common=COMMON)
    return refused.value.message


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("", "at least 10"),
        ("nine char", "at least 10"),
        ("x" * 201, "at most 200"),
        ("aaaabbbbaaaa", "too easy"),
        ("1234567890", "too easy"),
        ("0987654321", "too easy"),
        ("qwertyuiop123", "too easy"),
        ("abcdefghijkl", "too easy"),
        ("1qaz2wsx3edc", "too easy"),
        ("asdfghjkl;;;", "too easy"),
        ("password123", "tried first"),
        ("P@ssw0rd2024!", "tried first"),
        ("PASS WORD 99", "tried first"),
        ("!!manchester!!", "tried first"),
        ("passwordpassword", "tried first"),
        ("letmeinletmein7", "tried first"),
        ("pässwörd1999", "tried first"),
        ("1l0vey0u2026", "tried first"),
        ("mary.fox@brightprints.example", "your address"),
        ("brightprints1", "your address"),
        ("foxsons2026", "your address"),
        ("fox & sons 1", "your address"),
        ("printworks42", "your address"),
    ],
)
def test_one_that_is_short_or_easy_is_refused_with_the_reason(password: str, why: str) -> None:
    assert why in refusal(password)


@pytest.mark.parametrize(
    "password",
    [
        "correct horse battery",
        "пароль из слов",
        "x1y2z3x1y2",
        "password of a longer sentence",
        "brightprints and a green bicycle",
        "tr0ub4dor&3x",
        "9f2kdb01mq",
        "8172635490",
    ],
)
def test_a_long_one_may_be_anything_else(password: str) -> None:
    check_password(password, own=OWN, common=COMMON)


@given(st.text(max_size=250))
def test_any_text_is_taken_or_refused(text: str) -> None:
    with suppress(BadInput):
        check_password(text, own=(text, ""), common=COMMON)
    assert all(isinstance(form, str) for form in list_forms(text))


def test_spelling_makes_no_difference() -> None:
    assert normalise("Pass Wörd") == normalise("password")
