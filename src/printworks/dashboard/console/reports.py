"""What was sold, what it cost and what is left, by day, merchant, product, lab or country."""

from collections.abc import Mapping, Sequence
from datetime import UTC, date, timedelta
from tempfile import TemporaryFile
from typing import Final

import msgspec
from starlette.responses import Response, StreamingResponse

from printworks.catalogue.country_names import name_country
from printworks.catalogue.products import Currency
from printworks.dashboard.console.report_csv import write_report
from printworks.dashboard.shared.charts import Chart, ChartOptions, Series, make_chart
from printworks.dashboard.shared.dates import write_stored_day
from printworks.dashboard.shared.downloads import pour
from printworks.dashboard.shared.money import format_money
from printworks.dashboard.shared.order_routing import name_lab
from printworks.dashboard.site.forms import find_choice
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.sales import ADJUSTMENTS, SHIPPING, Figures, ReportBy
from printworks.store.engine.rows import cut_page
from printworks.store.views.console.reports import (
    ReportLine,
    ReportPeriod,
    add_up,
    list_by_day,
    list_report,
    list_whole_report,
    name_merchants,
)

_ROWS: Final = 50
_LONGEST: Final = 366
# Of a longer period, a chart shows the end.
_CHARTED: Final = 31
_CHOICES: Final = [(by.value, f"By {by.value}") for by in ReportBy]
_NOTHING: Final = Figures()
_NO_PRODUCT: Final = {SHIPPING: "Shipping", ADJUSTMENTS: "Credits and debits"}


class ShownLine(msgspec.Struct, frozen=True):
    """A line of a report, as it is shown."""

    name: str
    address: str
    figures: Figures


@page_at("/console/reports")
def show_reports(visit: ConsoleVisit) -> Response:
    """Show the figures of a period in one currency."""
    period, by = _read_period(visit), _read_by(visit)
    days = list_by_day(visit.db, period)
    totals = add_up(days)
    currencies = list(totals) or list(visit.services.catalogue.currencies)[:1]
    wanted = find_choice(Currency, visit.query.get("currency", ""))
    currency = wanted if wanted in totals else currencies[0]
    of_currency = [line for line in days if line.currency is currency]
    lines, after = _list_lines(visit, by, period, currency, of_currency)
    return visit.render(
        "console/reports.html",
        period=period,
        by=by,
        choices=_CHOICES,
        currency=currency,
        currencies=[(one.value, one.value) for one in currencies],
        total=totals.get(currency, _NOTHING),
        lines=lines,
        charts=_list_charts(of_currency, period, currency),
        csv=f"/console/reports.csv?{visit.here().partition('?')[2]}",
        pages=visit.pages(after, by="after"),
    )


@page_at("/console/reports.csv")
def download_report(visit: ConsoleVisit) -> Response:
    """Return a report in all currencies as a table for spreadsheets."""
    period, by = _read_period(visit), _read_by(visit)
    # On the disk: the lines of many merchants are too much for memory.
    file = TemporaryFile()  # noqa: SIM115  (closed when all of it was sent)
    write_report(by, list_whole_report(visit.db, by, period), file)
    name = f"{by.value}-{period.since}-{period.until}.csv"
    headers = {
        "Content-Disposition": f'attachment; filename="{name}"',
        "Cache-Control": "no-store",
    }
    return StreamingResponse(pour(file), media_type="text/csv", headers=headers)


def _read_by(visit: ConsoleVisit) -> ReportBy:
    return find_choice(ReportBy, visit.query.get("by", "")) or ReportBy.DAY


def _read_period(visit: ConsoleVisit) -> ReportPeriod:
    """Read the first and the last day; without them, it is the month until today."""
    today = visit.real_now.astimezone(UTC).date()
    until = _read_day(visit.query.get("to", "")) or today
    since = _read_day(visit.query.get("from", "")) or until.replace(day=1)
    since = min(since, until)
    longest = timedelta(days=_LONGEST - 1)
    return ReportPeriod(max(since, until - longest), until)


def _read_day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    # Days before that cannot be counted back from.
    return day if day.year > 1 else None


def _list_lines(
    visit: ConsoleVisit,
    by: ReportBy,
    period: ReportPeriod,
    currency: Currency,
    days: Sequence[ReportLine],
) -> tuple[list[ShownLine], str | None]:
    """Return a page of lines, and the key after which the next one begins."""
    after = visit.query.get("after", "").replace("\0", "") or None
    if by is ReportBy.DAY:
        found = [line for line in days if after is None or line.key > after][: _ROWS + 1]
    else:
        found = list_report(visit.db, by, period, currency, after=after, limit=_ROWS + 1)
    shown, last = cut_page(found, _ROWS, lambda line: line.key)
    names = _name_lines(visit, by, shown)
    return [ShownLine(*names[line.key], line.figures) for line in shown], last


def _name_lines(
    visit: ConsoleVisit, by: ReportBy, lines: Sequence[ReportLine]
) -> Mapping[str, tuple[str, str]]:
    """Return the name and the address of what each line is about."""
    keys, catalogue = [line.key for line in lines], visit.services.catalogue
    match by:
        case ReportBy.DAY:
            return {key: (write_stored_day(key), "") for key in keys}
        case ReportBy.MERCHANT:
            named = name_merchants(visit.db, keys)
            return {key: (named[key], f"/console/merchants/{key}") for key in keys}
        case ReportBy.PRODUCT:
            products = {key: catalogue.find_product(key) for key in keys}
            return {
                key: (
                    (product.description, f"/console/catalogue/{key}")
                    if product
                    else (_NO_PRODUCT.get(key, key), "")
                )
                for key, product in products.items()
            }
        case ReportBy.LAB:
            return {
                key: (
                    name_lab(key, catalogue) if key else "No lab",
                    f"/console/labs/{key}" if catalogue.find_lab(key) else "",
                )
                for key in keys
            }
        case ReportBy.COUNTRY:
            return {key: (name_country(key) if key else "No country", "") for key in keys}


def _list_charts(
    lines: Sequence[ReportLine], period: ReportPeriod, currency: Currency
) -> list[Chart]:
    first = max(period.since, period.until - timedelta(days=_CHARTED - 1))
    figures = {line.key: line.figures for line in lines}
    days = [first + timedelta(days=past) for past in range((period.until - first).days + 1)]
    of_days = [figures.get(str(day), _NOTHING) for day in days]
    margins = [one.margin for one in of_days]

    def write(amount: int) -> str:
        return format_money(amount, currency)

    options = ChartOptions(write=write, write_axis=lambda amount: write(amount).removesuffix(".00"))
    return [
        make_chart(
            "Revenue without tax", days, [Series("Revenue", [one.net for one in of_days])], options
        ),
        make_chart(
            "Margin",
            days,
            [
                Series("Margin", [max(0, margin) for margin in margins]),
                Series("Loss", [max(0, -margin) for margin in margins], "bad"),
            ],
            options,
        ),
    ]
