"""A merchant's account: how it pays, what it owes, and its statement by month."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from tempfile import TemporaryFile
from typing import Final

from starlette.responses import Response, StreamingResponse

from printworks.dashboard.merchant.account.means import find_means
from printworks.dashboard.merchant.account.months import Month, list_months
from printworks.dashboard.merchant.account.statement_csv import write_statement
from printworks.dashboard.shared.downloads import pour
from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import MerchantVisit, refuse_unknown
from printworks.rules.ledger import EntryKind
from printworks.rules.payments import Payer
from printworks.rules.people import Duty
from printworks.store.money.invoices import list_invoices
from printworks.store.money.sellers import find_seller
from printworks.store.money.statements import (
    StatementLine,
    find_first_and_last,
    list_pending_payments,
    list_statement,
    list_whole_statement,
    sum_statement,
)

_LINES: Final = 25
_MOST_MONTHS: Final = 36
_MOST_PENDING: Final = 20

_PAYERS: Final[Mapping[Payer, str]] = {Payer.MERCHANT: "You", Payer.RECIPIENT: "The recipient"}


@page_at("/account", duty=Duty.ACCOUNT)
def show_account(visit: MerchantVisit) -> Response:
    """Show how the merchant pays and what it owes, and what moved in a month."""
    written = find_first_and_last(visit.db, visit.merchant.id)
    month = Month.read(visit.query.get("month", "")) or _find_newest(visit, written)
    rows, older = _list_rows(visit, month)
    return visit.render(
        "merchant/account.html",
        means=find_means(visit),
        pending=list_pending_payments(visit.db, visit.merchant.id, limit=_MOST_PENDING),
        payers=_PAYERS,
        is_unused=written is None,
        has_invoices=bool(list_invoices(visit.db, visit.merchant.id, limit=1)),
        month=month,
        choices=[(str(one), one.name) for one in _list_months(visit, written, month)],
        totals=sum_statement(visit.db, visit.merchant.id, month.span),
        kinds=EntryKind,
        rows=rows,
        pages=visit.pages(older, month=month),
        limits=visit.services.settings,
        has_seller=find_seller(visit.db) is not None,
    )


def _find_newest(visit: MerchantVisit, written: tuple[datetime, datetime] | None) -> Month:
    return Month.of(visit.now if written is None else written[1])


def _list_months(
    visit: MerchantVisit, written: tuple[datetime, datetime] | None, shown: Month
) -> Sequence[Month]:
    """Return the months in which something may have moved, and the one that is shown."""
    # What an operator writes down has the real time; the merchant's may be ahead.
    times = [visit.now, visit.real_now, *(written or ())]
    months = list_months(Month.of(min(times)), Month.of(max(times)), most=_MOST_MONTHS)
    return months if shown in months else [*months, shown]


def _list_rows(visit: MerchantVisit, month: Month) -> tuple[Sequence[StatementLine], int | None]:
    """Return a page of lines, and where the next page begins."""
    found = list_statement(
        visit.db, visit.merchant.id, month.span, before=visit.cursor(), limit=_LINES + 1
    )
    shown, last = cut(found, _LINES)
    return shown, last.number if last else None


@page_at("/account/statement.csv", duty=Duty.ACCOUNT)
def download_statement(visit: MerchantVisit) -> Response:
    """Return what moved in a month as a table for spreadsheets, oldest first."""
    merchant_id = visit.merchant.id
    wanted = visit.query.get("month")
    month = (
        _find_newest(visit, find_first_and_last(visit.db, merchant_id))
        if wanted is None
        else Month.read(wanted)
    )
    if month is None:
        refuse_unknown()
    lines = list_whole_statement(visit.db, merchant_id, month.span)
    headers = {
        "Content-Disposition": f'attachment; filename="statement-{month}.csv"',
        "Cache-Control": "no-store",
    }
    # On the disk: a month of a large shop is too much for memory.
    file = TemporaryFile()  # noqa: SIM115  (closed when all of it was sent)
    write_statement(lines, file)
    return StreamingResponse(pour(file), media_type="text/csv", headers=headers)
