"""A report as a table for spreadsheets, which must not take its texts for formulas."""

import csv
import io
from collections.abc import Iterable
from typing import IO, Final

from printworks.dashboard.shared.money import write_amount
from printworks.rules.sales import ReportBy
from printworks.rules.spreadsheets import as_text
from printworks.store.views.console.reports import ReportLine

_AMOUNTS: Final = (
    *("net", "tax", "gross", "refunded", "refunded_net", "credited", "credited_tax", "debited"),
    *("items_cost", "shipping_cost", "margin"),
)


def write_report(by: ReportBy, lines: Iterable[ReportLine], file: IO[bytes]) -> None:
    """Write the lines of a report to a file."""
    written = io.TextIOWrapper(file, "utf-8", newline="")
    table = csv.writer(written)
    table.writerow((by.value, "currency", "orders", "copies", *_AMOUNTS))
    for line in lines:
        figures = line.figures
        amounts = (write_amount(getattr(figures, name), line.currency) for name in _AMOUNTS)
        key = as_text(line.key.removeprefix("#"))
        table.writerow((key, line.currency, figures.orders, figures.copies, *amounts))
    # The file stays open: it belongs to the caller.
    written.detach()
