"""Codes on paper."""

import pytest

from printworks.rules.recovery_codes import CODE_BYTES, read_code, write_code


def test_a_code_is_four_groups_that_are_easy_to_copy() -> None:
    assert write_code(bytes(CODE_BYTES)) == "aaaa-aaaa-aaaa-aaaa"
    assert write_code(b"\xff" * CODE_BYTES) == "7777-7777-7777-7777"


@pytest.mark.parametrize("typed", ["loab-7777", "LOAB 7777", " 10A8-7777 ", "loab7777"])
def test_it_is_read_however_it_is_typed(typed: str) -> None:
    assert read_code(typed) == "loab7777"
