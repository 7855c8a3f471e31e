"""Audit log, over all merchants and the console itself."""

from typing import Final

from starlette.responses import Response

from printworks.dashboard.shared.paging import cut
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.people import Duty
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import find_merchant_by_code
from printworks.store.views.console.merchants import name_merchants

_ROWS: Final = 50


@page_at("/console/audit", duty=Duty.SUPPORT)
def show_audit(visit: ConsoleVisit) -> Response:
    """Show the latest entries, of all merchants or of one."""
    code = visit.query.get("merchant", "").strip()
    merchant = find_merchant_by_code(visit.db, code)
    found = (
        []
        if code and merchant is None
        else list_audit(
            visit.db,
            merchant_id=merchant.id if merchant else None,
            before=visit.cursor(),
            limit=_ROWS + 1,
        )
    )
    entries, last = cut(found, _ROWS)
    return visit.render(
        "console/audit.html",
        entries=entries,
        names=name_merchants(visit.db, (entry.merchant_id for entry in entries)),
        code=code,
        merchant=merchant,
        pages=visit.pages(last.id if last else None),
    )
