"""A statement as a table for spreadsheets, which must not take its texts for formulas."""

import csv
import io
from collections.abc import Iterable
from typing import IO, Final
from unicodedata import category, normalize

from printworks.dashboard.shared.money import write_amount
from printworks.store.money.statements import StatementLine

_HEADS: Final = (
    "number",
    "date",
    "what",
    "order",
    "reference",
    "memo",
    "amount",
    "owed",
    "currency",
)
# What begins so is a formula to a spreadsheet; full-width forms become the usual ones.
_FORMULAS: Final = frozenset("=+-@")
# The minus sign of typography is no form of the one on the keyboard.
_LIKE_FORMULAS: Final = frozenset("\u2212")
# Blanks, controls, formats and marks: a program may cut them off before it looks.
_INVISIBLE: Final = frozenset({"Zs", "Zl", "Zp", "Cc", "Cf", "Co", "Cn", "Cs", "Mn", "Me", "Mc"})
_FILLERS: Final = frozenset("\u115f\u1160\u3164\uffa0\u2800")
_CONTROLS: Final = frozenset("\t\r\n\0")


def write_statement(lines: Iterable[StatementLine], file: IO[bytes]) -> None:
    """Write lines to a file."""
    written = io.TextIOWrapper(file, "utf-8", newline="")
    table = csv.writer(written)
    table.writerow(_HEADS)
    for line in lines:
        table.writerow(
            (
                line.number,
                f"{line.created_at:%Y-%m-%d %H:%M:%S}",
                line.kind,
                line.order_id or "",
                as_text(line.merchant_order_id or ""),
                as_text(line.memo),
                write_amount(line.owed, line.currency),
                write_amount(line.balance, line.currency),
                line.currency,
            )
        )
    # The file stays open: it belongs to the caller.
    written.detach()


def as_text(value: str) -> str:
    """Return a text that a spreadsheet shows and does not calculate."""
    # The first may be cut off, or turn what follows into the beginning of another cell.
    if value[:1] in _CONTROLS or _is_formula(value):
        return f"'{value}"
    return value


def _is_formula(value: str) -> bool:
    """Whether the first visible character begins a formula, in whatever width it is written."""
    for character in value:
        # Fillers are letters that show nothing.
        if category(character) not in _INVISIBLE and character not in _FILLERS:
            return character in _LIKE_FORMULAS or normalize("NFKC", character)[:1] in _FORMULAS
    return False
