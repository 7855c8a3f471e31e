"""What an operator is told by mail."""

from starlette.responses import Response

from printworks.dashboard.mail.choosing import describe_choices, take_choices
from printworks.dashboard.site.router import page_at
from printworks.dashboard.site.visits import ConsoleVisit
from printworks.rules.people import Duty


@page_at("/console/mail/settings", forms=Duty.LOOK)
def show_mail_settings(visit: ConsoleVisit) -> Response:
    """Show what the operator is told of."""
    return visit.render("console/mail_settings.html", **describe_choices(visit))


@show_mail_settings.action("choose-operator-mails", "Your choice was saved.")
def choose(visit: ConsoleVisit) -> None:
    take_choices(visit)
