"""`printworks invoice`: list, show and export."""

import json
import zipfile
from pathlib import Path

import pytest

from printworks.store.engine.database import Database
from tests.actions.complaints import cancel, submitted
from tests.actions.invoicing import make_all
from tests.actions.test_taxes import sell
from tests.cli.operators import Operator


@pytest.mark.both_databases
def test_invoices_are_listed_shown_and_exported(
    keeper: Operator, database: Database, tmp_path: Path
) -> None:
    assert "No invoice was issued yet." in keeper.asks("invoice", "list").said
    with database.writing() as db:
        sell(db)
        cancel(db, keeper.merchant, submitted(db, keeper.merchant))
        invoice, credit = make_all(db, keeper.merchant)
    code, folder = keeper.merchant.code, tmp_path / "invoices"

    listed = keeper.reads("invoice", "list")
    shown = keeper.reads("invoice", "show", credit.number)
    exported = keeper.reads("invoice", "export", str(folder), "--year", str(invoice.year))
    again = keeper.asks("invoice", "export", str(folder), "--merchant", code)
    verified = keeper.asks("ledger", "verify").said
    keeper.reads("merchant", "export", code, str(tmp_path / "all.zip"))

    assert [row["number"] for row in listed] == [credit.number, invoice.number]
    assert listed == keeper.reads("invoice", "list", "--merchant", code)
    assert (shown["corrects"], shown["merchantId"]) == (invoice.number, code)
    assert "corrects" in keeper.asks("invoice", "show", credit.number).said
    assert exported["invoices"] == 2
    assert (folder / f"invoice-{invoice.number}.pdf").read_bytes().startswith(b"%PDF")
    assert (folder / "invoices.csv").read_text().count(invoice.number) >= 2
    assert (again.code, "exists already" in again.complained) == (1, True)
    assert "2 invoices; 0 entries wait for theirs." in verified
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        kept = [json.loads(line) for line in archive.read("invoices.jsonl").splitlines()]
    assert [each["kind"] for each in kept] == ["invoice", "credit-note"]


def test_a_number_that_nobody_gave_does_not_exist(keeper: Operator, tmp_path: Path) -> None:
    code = keeper.merchant.code
    assert "There is no invoice" in keeper.asks("invoice", "show", "2020-1").complained
    keeper.reads("invoice", "export", str(tmp_path / "none"), "--merchant", code)
    assert keeper.reads("merchant", "billing", code, "--invoicing", "monthly")["invoicing"] == (
        "monthly"
    )
