"""Orders from a CSV file: the form, and the template."""

import csv
import io
from typing import Final

from starlette.responses import Response

from printworks.actions.lots.imports import check_file, read_file, store_import
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit
from printworks.errors import BadInput
from printworks.rules.image_names import clean_file_name
from printworks.rules.imports import IMPORT_COLUMNS
from printworks.rules.lots import LotKind
from printworks.rules.people import Duty
from printworks.store.orders.lots import list_lots, measure_each

# The name of the field.
FILE: Final = "file"
_LATEST: Final = 10


@page_at("/orders/import", duty=Duty.ORDER)
def show_import(visit: MerchantVisit) -> Response:
    """Show the form, what a file looks like, and the latest files."""
    lots = list_lots(visit.db, visit.merchant.id, LotKind.IMPORT, limit=_LATEST)
    progress = measure_each(visit.db, [lot.id for lot in lots])
    return visit.render(
        "merchant/import.html",
        columns=IMPORT_COLUMNS,
        most_rows=visit.services.settings.import_rows,
        most_bytes=visit.services.settings.import_size,
        latest=[(lot, progress[lot.id]) for lot in lots],
        days=visit.services.settings.keep_lots.days,
    )


@show_import.action("check-file", alone=True)
def check(visit: MerchantVisit) -> str:
    """Look at a file; nothing is created before somebody has seen what it comes to."""
    settings, files = visit.services.settings, visit.sent.files.get(FILE, ())
    if not files:
        raise BadInput("Choose a CSV file.", field=FILE)
    content = files[0].file.read(settings.import_size + 1)
    if len(content) > settings.import_size:
        raise BadInput(
            f"The file is larger than {settings.import_size / 1_000_000:,.1f} MB. Split it, and "
            "import one part after the other."
        )
    name = clean_file_name(files[0].filename or "") or "orders.csv"
    file = read_file(name, content, most_rows=settings.import_rows)
    # Before the transaction that writes: a large file takes a while.
    with visit.services.database.reading() as db:
        checked = check_file(visit.work_in(db), file)
    with visit.services.database.writing() as db:
        lot_id = store_import(visit.work_in(db), checked)
    return f"/orders/lots/{lot_id}"


@page_at("/orders/import/template.csv")
def download_template(visit: MerchantVisit) -> Response:  # noqa: ARG001  (the same for everybody)
    """Return a file with all columns and one example."""
    written = io.StringIO(newline="")
    table = csv.writer(written)
    table.writerow(IMPORT_COLUMNS)
    table.writerow(column.example for column in IMPORT_COLUMNS.values())
    return send_table("orders-template.csv", written.getvalue())


def send_table(name: str, text: str) -> Response:
    """Return a file for spreadsheets, which read UTF-8 only where it says so."""
    headers = {"Content-Disposition": f'attachment; filename="{name}"', "Cache-Control": "no-store"}
    return Response(text.encode("utf-8-sig"), media_type="text/csv", headers=headers)
