"""Who may owe how much."""

import pytest

from printworks.rules.payments import may_owe


@pytest.mark.parametrize(
    ("added", "owed", "limit", "on_account", "expected"),
    [
        (100, 0, None, True, True),
        (100, 900, None, True, True),
        (100, 900, 1000, True, True),
        (101, 900, 1000, True, False),
        (100, 900, 1000, False, True),
        (101, 900, 1000, False, False),
        (0, 1001, 1000, False, False),
        (100, 0, None, False, True),
        (100, -50, None, False, True),
        (100, 1, None, False, False),
        (0, 1, None, False, True),
    ],
)
def test_nobody_owes_beyond_a_limit_and_who_has_a_card_owes_for_one_order(
    added: int, owed: int, limit: int | None, on_account: bool, expected: bool
) -> None:
    assert may_owe(added, owed=owed, limit=limit, on_account=on_account) is expected
