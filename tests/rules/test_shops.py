"""What a merchant may say about its shop."""

from typing import Any

import pytest

from printworks.errors import BadInput
from printworks.rules.shops import (
    LONGEST,
    PLACEHOLDERS,
    ShopProfile,
    fill_in_slip,
    list_time_zones,
    tidy_profile,
)


def test_what_is_typed_is_tidied() -> None:
    typed = ShopProfile(
        name="  Fox   & Daughters ",
        email=" Hello@Fox.example ",
        telephone="+44 1904 123456",
        website="fox.example/prints",
        return_address=" 1 High Street \r\n York \n",
        packing_slip="Dear {recipient},  \nthank you.",
        time_zone="",
    )

    assert tidy_profile(typed) == ShopProfile(
        name="Fox & Daughters",
        email="hello@fox.example",
        telephone="+44 1904 123456",
        website="https://fox.example/prints",
        return_address="1 High Street\n York",
        packing_slip="Dear {recipient},\nthank you.",
        time_zone="UTC",
    )
    assert tidy_profile(ShopProfile()) == ShopProfile()


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ({"name": "x" * 101}, "The name can have at most 100 characters."),
        ({"name": "Fox\u202e"}, "The name contains a character that cannot be printed."),
        ({"return_address": "York\x07"}, "The return address contains a character"),
        ({"email": "fox at home"}, "Enter an email address such as"),
        ({"telephone": "call me"}, "Enter a telephone number such as"),
        ({"telephone": "1;drop"}, "Enter a telephone number such as"),
        ({"website": "javascript:alert(1)"}, "Enter the address of a website"),
        ({"website": "javascript://fox.example/%0aalert(1)"}, "Enter the address of a website"),
        ({"website": "https://me:secret@fox.example"}, "Enter the address of a website"),
        ({"website": "https://fox.example/<b>"}, "Enter the address of a website"),
        ({"website": "https://localhost"}, "Enter the address of a website"),
        ({"website": "https://[::1"}, "Enter the address of a website"),
        ({"website": "https://fox.example:99999"}, "Enter the address of a website"),
        ({"website": "https://fox.example:0"}, "Enter the address of a website"),
        ({"time_zone": "Mars/Olympus"}, "Choose a time zone from the list"),
        ({"time_zone": "../../etc/passwd"}, "Choose a time zone from the list"),
        ({"packing_slip": "{recipient} {price}"}, r"cannot name \{price\}. It can name"),
    ],
)
def test_what_cannot_be_is_refused_with_the_field(said: dict[str, Any], why: str) -> None:
    with pytest.raises(BadInput, match=why):
        tidy_profile(ShopProfile(**said))


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(BadInput) as refused:
        tidy_profile(ShopProfile(email="x", telephone="y"))

    assert "email" in refused.value.message
    assert "telephone" in refused.value.message


def test_every_field_has_a_longest_text() -> None:
    assert set(LONGEST) == set(ShopProfile.__struct_fields__)


def test_the_zones_are_those_that_people_live_in() -> None:
    zones = list_time_zones()

    assert zones[0] == "UTC"
    assert {"Europe/London", "America/Argentina/Buenos_Aires", "Pacific/Auckland"} <= set(zones)
    assert not {"localtime", "posixrules", "Factory", "Etc/GMT+1", "US/Eastern"} & set(zones)


def test_a_slip_names_what_it_may_and_nothing_that_a_value_says() -> None:
    text = "Dear {recipient}, {order} {oops} { shop } {{shop}}"

    filled = fill_in_slip(text, {"recipient": "{order}", "order": "7", "shop": "Fox"})

    assert filled == "Dear {order}, 7 {oops} { shop } {Fox}"
    assert set(PLACEHOLDERS) >= {"recipient", "order", "items"}
