"""What somebody reads whose role does not allow something."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from printworks.dashboard.site.rendering import Link, Message, render_message
from printworks.rules.people import Duty, Realm

# What somebody without this duty tried to do.
_PHRASES: Final[Mapping[Duty, str]] = {
    Duty.LOOK: "view this",
    Duty.ORDER: "create or change orders and issues",
    Duty.ACCOUNT: "view or change the shop's billing",
    Duty.MANAGE: "manage the shop",
    Duty.PRODUCE: "work on lab jobs",
    Duty.SUPPORT: "do support work, such as handling issues and orders or reading the audit log",
    Duty.ADMINISTER: "do admin work, such as changing merchants, money, the catalogue or people",
}
# Whom to ask for another role, and where to go on.
_ELSEWHERE: Final[Mapping[Realm, tuple[str, Link]]] = {
    Realm.MERCHANT: (
        "Ask an owner of the shop for access.",
        Link("Back to your home page", "/home"),
    ),
    Realm.OPERATOR: ("Ask an admin for access.", Link("Back to the overview", "/console")),
}


def refuse_duty(realm: Realm, duty: Duty) -> Response:
    """Return the page for somebody whose role does not include a duty."""
    whom_to_ask, link = _ELSEWHERE[realm]
    message = Message(
        tone="warn",
        title="Not allowed",
        sentences=(
            f"Your role does not allow you to {_PHRASES[duty]}. Nothing was changed.",
            whom_to_ask,
        ),
        link=link,
    )
    return render_message(message, status=403)
