"""What people type into price lists is read, or refused with what to do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from printworks.errors import BadInput
from printworks.rules.price_list_reading import (
    COLUMNS,
    Sold,
    read_lines,
    read_name,
    read_percent,
    write_lines,
    write_percent,
)
from printworks.rules.price_lists import PriceLine
from printworks.rules.spreadsheets import SheetRow

SOLD = Sold({"mug": "MUG", "poster": "POSTER"}.get, ["EUR", "GBP"])


def a_table(*rows: tuple[str, ...]) -> list[SheetRow]:
    return [SheetRow(number, list(cells)) for number, cells in enumerate([COLUMNS, *rows], 1)]


@pytest.mark.parametrize(
    ("text", "hundredths"),
    [("12.5", 1250), ("12,5 %", 1250), ("0", 0), ("", 0), ("100", 10_000), (" 0.01", 1)],
)
def test_a_percentage_is_read_as_people_write_it(text: str, hundredths: int) -> None:
    assert read_percent(text) == hundredths


@pytest.mark.parametrize("text", ["-1", "100.01", "0.001", "x", "NaN", "1e9999", "Infinity"])
def test_what_is_no_percentage_is_refused_at_its_field(text: str) -> None:
    with pytest.raises(BadInput) as refused:
        read_percent(text)

    assert list(refused.value.fields) == ["percent_off"]


@given(st.integers(0, 10_000))
def test_a_percentage_that_is_written_is_read_again(hundredths: int) -> None:
    assert read_percent(write_percent(hundredths)) == hundredths


def test_a_name_is_some_printable_characters() -> None:
    assert read_name("  Schools \t 2027 ") == "Schools 2027"
    for wrong in ("", "x" * 101, "a\0b"):
        with pytest.raises(BadInput, match="1 to 100 characters"):
            read_name(wrong)


@given(
    st.lists(
        st.builds(
            PriceLine,
            st.sampled_from(["MUG", "POSTER"]),
            st.integers(1, 1_000_000),
            st.sampled_from(["EUR", "GBP"]),
            st.integers(0, 1_000_000_000),
        )
        | st.builds(
            lambda copies, off: PriceLine("", copies, percent_off=off),
            st.integers(1, 1000),
            st.integers(0, 10_000),
        ),
        unique_by=lambda line: line.key,
    )
)
def test_a_table_that_was_written_is_read_as_the_same_lines(lines: list[PriceLine]) -> None:
    sold = Sold({"MUG": "MUG", "POSTER": "POSTER"}.get, ["EUR", "GBP"])
    rows = [SheetRow(number, list(cells)) for number, cells in enumerate(write_lines(lines), 1)]

    assert sorted(read_lines(rows, sold), key=lambda line: line.key) == sorted(
        lines, key=lambda line: line.key
    )


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (("cup", "1", "EUR", "1", ""), "Row 2: there is no product cup"),
        (("mug", "0", "EUR", "1", ""), "whole number of 1 or more"),
        (("mug", "1.5", "EUR", "1", ""), "whole number of 1 or more"),
        (("mug", "1", "EUR", "1", "5"), "either a price or a percentage"),
        (("mug", "1", "EUR", "", ""), "either a price or a percentage"),
        (("mug", "1", "USD", "1", ""), "`currency` must be one of EUR, GBP"),
        (("mug", "1", "EUR", "1.234", ""), "an amount such as 12.50"),
        (("mug", "1", "EUR", "-1", ""), "an amount such as 12.50"),
        (("*", "1", "EUR", "1", ""), "that of one product"),
        (("mug", "1", "", "", "101"), "from 0 to 100"),
    ],
)
def test_a_row_that_makes_no_sense_is_named(row: tuple[str, ...], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_lines(a_table(row), SOLD)


def test_a_row_that_comes_twice_and_too_many_problems_are_said() -> None:
    with pytest.raises(BadInput, match="Row 3: another row says the same"):
        read_lines(a_table(("mug", "1", "", "", "5"), ("mug", "1", "", "", "6")), SOLD)
    with pytest.raises(BadInput, match="And 5 more"):
        read_lines(a_table(*[("cup", "1", "", "", "5")] * 25), SOLD)


@pytest.mark.parametrize("rows", [[], [SheetRow(1, ["sku", "price"])]])
def test_a_table_must_name_its_columns(rows: list[SheetRow]) -> None:
    with pytest.raises(BadInput, match="percent_off is missing"):
        read_lines(rows, SOLD)
