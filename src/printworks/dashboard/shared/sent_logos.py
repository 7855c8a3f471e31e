"""Logos that are sent with a form, for the service or for a shop."""

from collections.abc import Callable
from typing import Final, TypeVar

from sqlalchemy import Connection

from printworks.actions.accounts.shops import begin_logo, render_logo
from printworks.actions.images.redrawing import PendingFile
from printworks.actions.work import SystemWork
from printworks.dashboard.site.visits import Visit
from printworks.errors import BadInput
from printworks.store.accounts.shops import Logo

# The name of the field.
_LOGO: Final = "logo"
_Work = TypeVar("_Work", bound=SystemWork)


def take_logo(
    visit: Visit,
    work_in: Callable[[Connection], _Work],
    change: Callable[[_Work, PendingFile, Logo], None],
) -> None:
    """Render a picture that was sent, between two transactions, and make it the logo."""
    services, sent = visit.services, visit.sent.files.get(_LOGO, ())
    if len(sent) != 1:
        raise BadInput("Choose one picture for the logo.")
    services.check_room()
    with services.database.writing() as db:
        upload = begin_logo(work_in(db))
    logo = render_logo(services.processor, services.files, upload, sent[0].file)
    with services.database.writing() as db:
        change(work_in(db), upload, logo)
