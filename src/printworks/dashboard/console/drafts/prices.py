"""Prices of a draft as a file for a spreadsheet: downloaded, looked at again, and applied."""

from collections.abc import Sequence
from typing import Final

from starlette.responses import Response

from printworks.catalogue.drafts.prices import PriceTable, read_prices, write_prices
from printworks.catalogue.drafts.products import set_prices
from printworks.dashboard.console.drafts.editing import OpenDraft, change_draft, open_draft
from printworks.dashboard.console.drafts.pages import EDIT
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import BadInput
from printworks.rules.people import Duty

_MOST_SHOWN: Final = 100


@page_at(f"{EDIT}/prices")
def show_prices(visit: ConsoleVisit, table: PriceTable | None = None) -> Response:
    """Show how prices are downloaded and uploaded, and what a file would change."""
    opened = open_draft(visit, visit.db)
    return visit.render(
        "console/drafts/prices.html",
        opened=opened,
        table=table,
        lines=_write_lines(table) if table else "",
        most=_MOST_SHOWN,
        is_mine=visit.may(Duty.ADMINISTER) and opened.may_change,
    )


@page_at(f"{EDIT}/prices.csv")
def download_prices(visit: ConsoleVisit) -> Response:
    """Send every price of a draft as a file."""
    opened = open_draft(visit, visit.db)
    name = f"prices-{opened.version.id}.csv"
    return Response(
        write_prices(opened.draft),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


@show_prices.action("check-catalogue-prices", duty=Duty.ADMINISTER, alone=True, only_shows=True)
def check_prices(visit: ConsoleVisit) -> Response:
    """Show what a file would change, and what is wrong with which of its lines."""
    text = _read_file(visit)
    with visit.services.database.reading() as db:
        here = visit.within(db)
        table = read_prices(text, open_draft(here, db).draft)
        if not (table.changes or table.bad or table.unchanged):
            raise BadInput("The file has no line with a price.", field="file")
        return show_prices(here, table)


def _read_file(visit: ConsoleVisit) -> str:
    files = visit.sent.files.get("file", ())
    if not files:
        raise BadInput("Choose a file, such as prices.csv.", field="file")
    try:
        return files[0].file.read().decode()
    except UnicodeDecodeError:
        raise BadInput("The file must be written in UTF-8.", field="file") from None


@show_prices.action(
    "apply-catalogue-prices", "The prices were changed.", duty=Duty.ADMINISTER, alone=True
)
def apply_prices(visit: ConsoleVisit) -> str:
    """Set the prices in the draft; nothing if one of the lines is wrong."""
    where = f"/console/versions/{visit.number('id')}/edit/prices"
    text = visit.sent.text("lines")

    def edit(opened: OpenDraft) -> str:
        table = read_prices(text, opened.draft)
        if table.bad:
            told = [f"Line {line.number}: {line.sentence}" for line in table.bad]
            raise BadInput(_join(told), field="lines")
        if not table.changes:
            raise BadInput("No price would change.", field="lines")
        set_prices(opened.draft, table.by_sku)
        return f"{len(table.changes)} prices"

    change_draft(visit, edit, where=where)
    return where


def _join(told: Sequence[str], most: int = 10) -> str:
    more = f" And {len(told) - most} more." if len(told) > most else ""
    return " ".join(told[:most]) + more


def _write_lines(table: PriceTable) -> str:
    """Return the lines that are new or wrong, to be mended and applied."""
    lines = ["sku,currency,country,price"]
    for line in table.changes:
        currency, _, country = line.name.partition("-")
        lines.append(f"{line.sku},{currency},{country},{line.price / 100:.2f}")
    lines += [bad.text.replace(", ", ",") for bad in table.bad]
    return "\n".join(lines)
