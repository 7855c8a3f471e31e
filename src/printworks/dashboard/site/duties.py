"""What somebody reads whose role does not allow something."""

from collections.abc import Mapping
from typing import Final

from starlette.responses import Response

from printworks.dashboard.site.rendering import Link, Message, render_message
from printworks.rules.people import Duty, Realm

# Whom to ask for another role, and where to go on.
_ELSEWHERE: Final[Mapping[Realm, tuple[str, Link]]] = {
    Realm.MERCHANT: (
        "Ask an owner of the shop for access.",
        Link("Back to your home page", "/home"),
    ),
    Realm.OPERATOR: ("Ask an administrator for access.", Link("Back to the overview", "/console")),
}


def refuse_duty(realm: Realm, duty: Duty) -> Response:
    """Return the page for somebody whose role does not include a duty."""
    whom_to_ask, link = _ELSEWHERE[realm]
    message = Message(
        tone="warn",
        title="Not allowed",
        sentences=(
            f"Your role does not allow you to {duty}. Nothing was changed.",
            whom_to_ask,
        ),
        link=link,
    )
    return render_message(message, status=403)
