"""What a restricted key may do, and how it is refused."""

import pytest

from printworks.errors import BadInput, Restricted
from printworks.rules.keys import (
    KeyAccess,
    KeyLimits,
    check_labs,
    check_may_change,
    check_may_spend,
    read_key_name,
)


@pytest.mark.parametrize(
    ("access", "may_change", "may_spend"),
    [
        (KeyAccess.FULL, True, True),
        (KeyAccess.NO_MONEY, True, False),
        (KeyAccess.READ_ONLY, False, False),
    ],
)
def test_each_access_allows_less(access: KeyAccess, *, may_change: bool, may_spend: bool) -> None:
    limits = KeyLimits("Reports", access)
    for check, is_allowed in ((check_may_change, may_change), (check_may_spend, may_spend)):
        if is_allowed:
            check(limits)
            continue
        with pytest.raises(Restricted, match=r"This API key “Reports” (is read-only|cannot spend)"):
            check(limits)


def test_a_key_for_one_lab_is_refused_where_others_make_part_of_it() -> None:
    limits = KeyLimits(lab="hill")

    check_labs(limits, ["hill", "hill"])
    check_labs(limits, [])
    check_labs(KeyLimits(), ["dale"])
    with pytest.raises(
        Restricted, match="This API key is restricted to one lab, and others make part"
    ):
        check_labs(limits, ["hill", "dale"])


def test_a_name_is_short_and_printable() -> None:
    assert read_key_name("  Reports \u00e9 ") == "Reports \u00e9"
    assert read_key_name("") == ""
    for wrong in ("x" * 81, "a\nb", "a\0b", "\u202e"):
        with pytest.raises(BadInput, match="at most 80 printable characters"):
            read_key_name(wrong)
