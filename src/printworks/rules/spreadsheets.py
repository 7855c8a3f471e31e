"""Tables for spreadsheets, which must not take texts for formulas, and what people make of them."""

import csv
from io import StringIO
from typing import Final, NamedTuple
from unicodedata import category, normalize

from printworks.errors import BadInput

# What begins so is a formula to a spreadsheet; full-width forms become the usual ones.
_FORMULAS: Final = frozenset("=+-@")
# The minus sign of typography is no form of the one on the keyboard.
_LIKE_FORMULAS: Final = frozenset("\u2212")
# Blanks, controls, formats and marks: a program may cut them off before it looks.
_INVISIBLE: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn", "Cs", "Mn", "Me", "Mc"})
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_CONTROLS: Final = frozenset("\t\r\n\0")

_BOMS: Final = (
    (b"\xef\xbb\xbf", "utf-8-sig"),
    (b"\xff\xfe", "utf-16"),
    (b"\xfe\xff", "utf-16"),
)
_SEPARATORS: Final = ",;\t|"
# Some programs write a first line that names the separator; spreadsheets do not show it.
_NAMES_SEPARATOR: Final = "sep="
_NO_TEXT: Final = (
    "The file cannot be read as text. Save it as “CSV UTF-8” in your spreadsheet, and upload that."
)
# So much of a file shows how it is written.
_SAMPLE: Final = 2000


class SheetRow(NamedTuple):
    """A row of a table, by the number that a spreadsheet gives it."""

    number: int
    cells: list[str]


def as_text(value: str) -> str:
    """Return a text that a spreadsheet shows and does not calculate."""
    # The first may be cut off, or turn what follows into the beginning of another cell.
    if value[:1] in _CONTROLS or _is_formula(value):
        return f"'{value}"
    return value


def from_text(cell: str) -> str:
    """Return what a cell says, without the sign that `as_text` may have put before it."""
    return cell[1:] if cell.startswith("'") and as_text(cell[1:]) == cell else cell


def _is_formula(value: str) -> bool:
    """Whether the first visible character begins a formula, in whatever width it is written."""
    for character in value:
        # Fillers are letters that show nothing.
        if category(character) not in _INVISIBLE and character not in _FILLERS:
            return character in _LIKE_FORMULAS or normalize("NFKC", character)[:1] in _FORMULAS
    return False


def read_table(content: bytes, *, most_rows: int) -> list[SheetRow]:
    """Read a CSV file as spreadsheets write it; the first row that is not empty comes first.

    Rows are numbered as people see them: a cell may have several lines, and an empty row counts.
    """
    text = _decode(content)
    if "\0" in text:
        # No database stores it, and no spreadsheet writes it.
        raise BadInput(_NO_TEXT)
    separator, text = _find_separator(text)
    rows = []
    try:
        # Line endings as they are: those in quotes belong to their cells.
        table = csv.reader(StringIO(text, newline=""), delimiter=separator)
        for number, cells in enumerate(table, start=1):
            if not any(cell.strip() for cell in cells):
                continue
            rows.append(SheetRow(number, [from_text(cell.strip()) for cell in cells]))
            # The first row has the names of the columns.
            if len(rows) > most_rows + 1:
                raise BadInput(
                    f"The file has more than {most_rows:,} rows. Split it, and import one part "
                    "after the other."
                )
    except csv.Error as error:
        raise BadInput(f"The file cannot be read as a CSV file: {error}.") from error
    return rows


def _decode(content: bytes) -> str:
    for mark, encoding in _BOMS:
        if content.startswith(mark):
            return _decode_as(content, encoding)
    # Every other byte of Western text is zero in UTF-16.
    head = content[:_SAMPLE]
    if head[1::2].count(0) > len(head) // 4:
        return _decode_as(content, "utf-16-le")
    if head[::2].count(0) > len(head) // 4:
        return _decode_as(content, "utf-16-be")
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        # Spreadsheets on Windows write their own alphabet where nobody asks them for another.
        return _decode_as(content, "cp1252")


def _decode_as(content: bytes, encoding: str) -> str:
    try:
        return content.decode(encoding)
    except UnicodeDecodeError as error:
        raise BadInput(_NO_TEXT) from error


def _find_separator(text: str) -> tuple[str, str]:
    """Return what separates the cells, and the text without the line that says so."""
    first, _, rest = text.lstrip("\r\n").partition("\n")
    named = first.strip().strip('"').lower()
    if named.startswith(_NAMES_SEPARATOR) and named[len(_NAMES_SEPARATOR) :] in set(_SEPARATORS):
        return named[len(_NAMES_SEPARATOR) :], rest
    return max(_SEPARATORS, key=first.count), text
