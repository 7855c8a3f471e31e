"""Who did what, over all merchants and the console itself."""

from typing import Final

from starlette.responses import Response

from printworks.dashboard.site.router import Page
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.people import Duty
from printworks.store.accounts.audit import list_audit
from printworks.store.accounts.merchants import find_merchant_by_code
from printworks.store.console.merchants import name_merchants

_ROWS: Final = 50


def show_audit(visit: ConsoleVisit) -> Response:
    """Show what was done lately, perhaps in the affairs of one merchant only."""
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
    entries = found[:_ROWS]
    return visit.render(
        "console/audit.html",
        entries=entries,
        names=name_merchants(visit.db, (entry.merchant_id for entry in entries)),
        code=code,
        merchant=merchant,
        pages=visit.pages(entries[-1].id if len(found) > _ROWS else None),
    )


PAGES: Final[tuple[Page[ConsoleVisit], ...]] = (
    Page(path="/console/audit", show=show_audit, duty=Duty.SUPPORT),
)
