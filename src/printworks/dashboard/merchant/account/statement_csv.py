"""A statement as a table for spreadsheets, which must not take its texts for formulas."""

import csv
import io
from collections.abc import Iterable
from typing import IO, Final

from printworks.dashboard.shared.money import write_amount
from printworks.rules.spreadsheets import as_text
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
    "tax",
)


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
                write_amount(line.tax, line.currency),
            )
        )
    # The file stays open: it belongs to the caller.
    written.detach()
