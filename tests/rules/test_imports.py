"""Files of orders: read as spreadsheets of any kind write them, and rows grouped to orders."""

import pytest

from printworks.errors import BadInput, WrongState
from printworks.rules.imports import IMPORT_COLUMNS, group_rows, read_import
from printworks.rules.lots import LineState, LotProgress, LotState, may_start
from printworks.rules.spreadsheets import SheetRow, as_text, from_text, read_table

TABLE = 'name;town\r\n"Jörg\r\nMüller";Köln\r\n\r\nZoë;Łódź\r\n'
ROWS = [
    SheetRow(1, ["name", "town"]),
    SheetRow(2, ["Jörg\r\nMüller", "Köln"]),
    SheetRow(4, ["Zoë", "Łódź"]),
]
WESTERN = TABLE.replace("Łódź", "Århus")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_is_read_in_every_usual_alphabet(encoding: str) -> None:
    assert read_table(TABLE.encode(encoding), most_rows=10) == ROWS


def test_a_file_of_an_old_spreadsheet_is_read() -> None:
    assert read_table(WESTERN.encode("cp1252"), most_rows=10)[-1].cells == ["Zoë", "Århus"]


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\r"])
def test_a_file_is_read_with_every_usual_separator(separator: str, line_end: str) -> None:
    text = line_end.join([f"a{separator}b", f'"1{separator}1"{separator}2', ""])
    assert [row.cells for row in read_table(text.encode(), most_rows=9)] == [
        ["a", "b"],
        [f"1{separator}1", "2"],
    ]


@pytest.mark.parametrize("first", ["sep=;\n", '"sep=;"\r\n'])
def test_the_line_that_names_the_separator_is_no_row(first: str) -> None:
    assert read_table(f"{first}a,b;c\n1;2\n".encode(), most_rows=9) == [
        SheetRow(1, ["a,b", "c"]),
        SheetRow(2, ["1", "2"]),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"\xff\xfea", "cannot be read as text"),
        (b"a,b\n\x81,\x8d\n", "cannot be read as text"),
        (b"a\n" + b"x" * 140_000, "cannot be read as a CSV file"),
        (b"a\n1\n2\n3\n", "more than 2 rows"),
    ],
)
def test_what_is_no_table_is_refused_in_words(content: bytes, reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        read_table(content, most_rows=2)


@pytest.mark.parametrize("text", ["=1+1", "+44 1904 1", "-5", "@x", "\tx", "plain", "'quoted'", ""])
def test_a_cell_comes_back_as_it_was(text: str) -> None:
    assert from_text(as_text(text)) == text


def test_columns_are_found_by_any_of_their_names_in_any_order() -> None:
    heads = ["Qty", "ZIP Code", "City", "Country", "Street", "Name", "SKU", "Colour", "Image URL"]
    cells = ["2", "YO1 7HH", "York", "GB", "1 Lane", "Mary", "X", "red", "https://x.example/1"]
    [row] = read_import([SheetRow(1, heads), SheetRow(3, cells)]).rows
    assert (row.number, row.value("copies"), row.value("postal_code")) == (3, "2", "YO1 7HH")
    assert "red" not in row.values.values()
    assert row.value("email") == ""


def test_a_short_row_has_empty_cells() -> None:
    heads = list(IMPORT_COLUMNS)
    [row] = read_import([SheetRow(1, heads), SheetRow(2, ["A-1"])]).rows
    assert (row.value("reference"), row.value("sku")) == ("A-1", "")


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([], "has no orders"),
        ([SheetRow(1, list(IMPORT_COLUMNS))], "has no orders"),
        ([SheetRow(1, ["a"]), SheetRow(2, ["b"])], "recipient_name, .* or image_url"),
        (
            [SheetRow(1, [name for name in IMPORT_COLUMNS if name != "sku"]), SheetRow(2, ["b"])],
            "no column sku",
        ),
        ([SheetRow(1, [*IMPORT_COLUMNS, "Product"]), SheetRow(2, ["b"])], "“sku” and “Product”"),
    ],
)
def test_a_file_that_cannot_be_one_of_orders_is_refused(rows: list[SheetRow], reason: str) -> None:
    with pytest.raises(BadInput, match=reason):
        read_import(rows)


def test_rows_with_the_same_reference_make_one_order() -> None:
    heads = list(IMPORT_COLUMNS)
    table = [SheetRow(1, heads), *(SheetRow(n, [r]) for n, r in enumerate("ABA", start=2))]
    table += [SheetRow(5, ["", "x"]), SheetRow(6, ["", "y"])]
    groups = group_rows(read_import(table).rows)
    assert [[row.number for row in rows] for rows in groups] == [[2, 4], [3], [5], [6]]


def test_a_lot_starts_once_and_not_with_nothing_to_do() -> None:
    assert may_start(LotState.CHECKED, good=1)
    assert not may_start(LotState.RUNNING, good=1)
    with pytest.raises(WrongState, match="No order of the file"):
        may_start(LotState.CHECKED, good=0)


def test_the_progress_leaves_out_what_was_never_to_be_done() -> None:
    progress = LotProgress({LineState.BAD: 5, LineState.DONE: 2, LineState.READY: 3})
    assert (progress.total, progress.finished) == (5, 2)
