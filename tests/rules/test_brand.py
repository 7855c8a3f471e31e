"""What may stand in a brand, and how its texts become pages."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import BadInput
from printworks.rules.brand import LONGEST, Brand, TextPart, split_text, tidy_brand

GIVEN = Brand(
    name="Fox Prints",
    accent="#7a1f5c",
    sender_name="Fox Prints",
    sender_email="hello@fox.example",
    reply_to="help@fox.example",
    imprint="Fox Prints\n1 High Street\n\nhello@fox.example",
    terms="Be kind.",
    show_labs=True,
)


def test_a_brand_is_kept_as_it_was_said() -> None:
    assert tidy_brand(GIVEN) == GIVEN
    assert tidy_brand(Brand()) == Brand()


def test_a_brand_is_tidied() -> None:
    typed = Brand(name="  Fox \t Prints ", accent=" 7A1F5C", imprint="\r\nA \r\nB\r\n\r\n")

    assert tidy_brand(typed) == Brand(name="Fox Prints", accent="#7a1f5c", imprint="A\nB")


@pytest.mark.parametrize(
    ("field", "text", "sentence"),
    [
        ("accent", "crimson", "Enter a colour such as #2443b8."),
        ("accent", "#ffcc00", "its contrast is 1.2 to 1, and at least 4.5 to 1 is needed."),
        ("accent", "#777777", "its contrast is 3.7 to 1"),
        ("sender_email", "nobody", "Enter an email address such as hello@example.com."),
        ("reply_to", "a@b", "Enter an email address such as hello@example.com."),
        ("name", "F\u202eox", "The name contains a character that cannot be printed."),
        ("name", "F" * 61, "The name can have at most 60 characters."),
        ("terms", "F" * 30_001, "The terms can have at most 30,000 characters."),
    ],
)
def test_what_is_wrong_is_said_at_its_field(field: str, text: str, sentence: str) -> None:
    with pytest.raises(BadInput) as refused:
        tidy_brand(msgspec.structs.replace(Brand(name="Fox"), **{field: text}))

    assert list(refused.value.fields) == [field]
    assert sentence in refused.value.fields[field]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    with pytest.raises(BadInput) as refused:
        tidy_brand(Brand(accent="#fff", reply_to="nobody"))

    assert set(refused.value.fields) == {"accent", "reply_to"}


def test_a_text_becomes_paragraphs_with_lines_and_links() -> None:
    text = "Fox Prints\nWrite to hello@fox.example.\n\n\nSee https://fox.example/a?b=1, or call."

    assert split_text(text) == [
        [
            [TextPart("Fox Prints")],
            [
                TextPart("Write to "),
                TextPart("hello@fox.example", "mailto:hello@fox.example"),
                TextPart("."),
            ],
        ],
        [
            [
                TextPart("See "),
                TextPart("https://fox.example/a?b=1", "https://fox.example/a?b=1"),
                TextPart(", or call."),
            ]
        ],
    ]
    assert split_text("") == []


@given(st.text(max_size=200))
def test_no_word_is_lost_and_no_link_runs_anything(text: str) -> None:
    paragraphs = split_text(text)
    parts = [part for paragraph in paragraphs for line in paragraph for part in line]

    assert "".join(part.text for part in parts).split() == "".join(text.split("\n")).split()
    assert all(part.address.startswith(("https://", "http://", "mailto:", "")) for part in parts)
    assert not any("javascript:" in part.address[:11] for part in parts)


def test_every_text_has_a_longest_length() -> None:
    assert {*LONGEST, "show_labs"} == set(Brand.__struct_fields__)
