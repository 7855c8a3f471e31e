"""Quarantine: what may have happened since a backup, and letting things out again."""

from typing import Final

from starlette.responses import Response

from printworks.actions.quarantine import begin_quarantine, end_quarantine
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.people import Duty
from printworks.rules.quarantine import DOUBTS, QuarantineCause
from printworks.store.queue.quarantine import find_quarantine
from printworks.store.views.console.doubts import list_doubts

_ROWS: Final = 20


@page_at("/console/quarantine")
def show_quarantine(visit: ConsoleVisit) -> Response:
    """Show since when nothing leaves the service, and what may have happened before."""
    quarantine = find_quarantine(visit.db)
    return visit.render(
        "console/quarantine.html",
        quarantine=quarantine,
        doubts=[] if quarantine is None else list_doubts(visit.db, limit=_ROWS),
        words=DOUBTS,
        is_mine=visit.may(Duty.ADMINISTER),
    )


@show_quarantine.action(
    "begin-quarantine",
    "Nothing leaves the service from now on.",
    needs_password=True,
    duty=Duty.ADMINISTER,
)
def begin(visit: ConsoleVisit) -> None:
    """Let nothing leave the service."""
    begin_quarantine(visit.system_work, QuarantineCause.OPERATOR)
    visit.services.quarantine.forget()


@show_quarantine.action(
    "end-quarantine",
    "The quarantine has ended: what has waited goes out now.",
    needs_password=True,
    duty=Duty.ADMINISTER,
)
def end(visit: ConsoleVisit) -> None:
    """Let everything go out that has waited."""
    end_quarantine(visit.system_work)
    visit.services.quarantine.forget()
