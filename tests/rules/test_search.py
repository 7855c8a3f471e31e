"""How somebody is found by name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.rules.search import make_recipient_key, simplify


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("Mary Fox", "fox mary"),
        ("  José  García López ", "lopez garcia jose"),
        ("STRASSE Straße", "strasse strasse"),
        ("李小龍", "李小龍"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_name_is_looked_for_by_surname_without_case_and_accents(
    name: str | None, key: str
) -> None:
    assert make_recipient_key(name) == key


@given(st.text())
def test_a_key_fits_into_an_index_and_both_databases(name: str) -> None:
    key = make_recipient_key(name)
    assert len(key) <= 200
    assert "\0" not in key
    assert simplify(simplify(name)) == simplify(name)
