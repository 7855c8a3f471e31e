"""The ledger of all merchants or of one, and its verification."""

import re
import threading
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
from starlette.responses import Response

from printworks.actions.payments.ledger import LedgerCheck, verify_ledgers
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.errors import StillRunning
from printworks.rules.people import Duty
from printworks.store.accounts.merchants import find_merchant_by_code
from printworks.store.views.console.ledger import EntryPage, EntryPlace, list_money, sum_balances
from printworks.store.views.console.merchants import get_merchant_line

_ROWS: Final = 50
_MOST_FAULTS: Final = 50
_PLACE: Final = re.compile(r"([0-9]{1,17})\.([0-9]{1,18})\.([0-9]{1,18})")
_BEGINNING: Final = datetime(1970, 1, 1, tzinfo=UTC)
# It reads the whole ledger: one at a time per process is enough.
_verifying: Final = threading.Lock()


class LedgerResult(msgspec.Struct, frozen=True):
    """The result of verifying the ledger, and how long that took."""

    verified: LedgerCheck
    seconds: float

    @property
    def shown(self) -> int:
        """How many of the faults a page shows."""
        return _MOST_FAULTS


@page_at("/console/ledger")
def show_ledger(visit: ConsoleVisit, verdict: LedgerResult | None = None) -> Response:
    """Show the entries, latest first."""
    code = visit.query.get("merchant", "").strip()
    found = find_merchant_by_code(visit.db, code)
    before = read_place(visit.query.get("before", ""))
    page = (
        EntryPage([], None)
        if code and found is None
        else list_money(
            visit.db, merchant_id=found.id if found else None, before=before, limit=_ROWS
        )
    )
    return visit.render(
        "console/ledger.html",
        entries=page.entries,
        code=code,
        merchant=get_merchant_line(visit.db, found.id) if found else None,
        owed=sum_balances(visit.db),
        verdict=verdict,
        pages=visit.pages(write_place(page.next) if page.next else None),
    )


@show_ledger.action("verify-ledger", duty=Duty.ADMINISTER, alone=True, only_shows=True)
def verify(visit: ConsoleVisit) -> Response:
    """Verify the whole ledger, and show what does not add up."""
    if not _verifying.acquire(blocking=False):
        raise StillRunning("The ledger is already being verified. Wait until that is done.")
    try:
        begun = visit.services.clock()
        with visit.services.database.reading() as db:
            verified = verify_ledgers(db)
            seconds = (visit.services.clock() - begun).total_seconds()
            return show_ledger(visit.within(db), LedgerResult(verified, seconds))
    finally:
        _verifying.release()


def write_place(place: EntryPlace) -> str:
    """Return a place in the ledger as a parameter."""
    timestamp = (place.created_at - _BEGINNING) // timedelta(microseconds=1)
    return f"{timestamp}.{place.merchant_id}.{place.number}"


def read_place(text: str) -> EntryPlace | None:
    """Return the place that a parameter names; None, the beginning, for any other text."""
    found = _PLACE.fullmatch(text)
    if found is None:
        return None
    timestamp, merchant_id, number = map(int, found.groups())
    return EntryPlace(_BEGINNING + timedelta(microseconds=timestamp), merchant_id, number)
