"""Documents as CSV: sums that spreadsheets can add up, and texts that they do not calculate."""

import csv
from decimal import Decimal
from io import StringIO

import msgspec

from printworks.invoices.listed import write_rows
from tests.invoices import documents


def test_there_is_a_row_for_each_line_and_credit_notes_are_below_zero() -> None:
    written = b"".join(write_rows([documents.invoice(), documents.credit_note()])).decode()
    rows = list(csv.DictReader(StringIO(written)))
    assert [row["number"] for row in rows] == ["2026-000123"] * 4 + ["2026-000124"] * 4
    assert rows[4]["corrects"] == "2026-000123"
    assert rows[2]["tax rate"] == "7"
    assert sum(Decimal(row["gross"]) for row in rows) == 0


def test_no_text_becomes_a_formula() -> None:
    buyer = msgspec.structs.replace(documents.BUYER, name="=HYPERLINK(1)")
    lines = (documents.line(1, description="+1", sku="@x"),)
    written = b"".join(write_rows([documents.invoice(buyer=buyer, lines=lines)])).decode()
    (row,) = csv.DictReader(StringIO(written))
    assert (row["buyer"], row["description"], row["sku"]) == ("'=HYPERLINK(1)", "'+1", "'@x")
