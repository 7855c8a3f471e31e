"""What a form sends is read before anybody believes it."""

import pytest

from printworks.dashboard.site.forms import Sent, read_number


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("42", 42), ("007", 7), ("9" * 18, 10**18 - 1)]
)
def test_a_number_is_read(text: str, number: int) -> None:
    assert read_number(text) == number


@pytest.mark.parametrize(
    "text", ["", " 1", "-1", "+1", "1.0", "1e3", "٣", "²", "9" * 19, "9" * 5000]
)
def test_what_no_row_can_have_is_no_number(text: str) -> None:
    assert read_number(text) is None


def test_of_a_field_that_came_twice_the_last_counts() -> None:
    sent = Sent({"image": ["1", " 2 "], "name": ["", " a b "]})

    assert (sent.number("image"), sent.text("image"), sent.raw("image")) == (2, "2", " 2 ")
    assert (sent.text("name"), sent.number("name"), sent.texts("name")) == (
        "a b",
        None,
        ["", " a b "],
    )
    assert (sent.text("other"), sent.number("other"), sent.texts("other")) == ("", None, ())
