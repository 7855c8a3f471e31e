"""Invitation links: mailed to whom they are for, or else shown once."""

import msgspec

from printworks.dashboard.site.visits import Visit


class FreshLink(msgspec.Struct, frozen=True):
    """An invitation link, and the address it is for."""

    email: str
    # Empty if it was mailed: nobody else needs to see it.
    address: str


def is_mailed(visit: Visit) -> bool:
    """Return whether a link is mailed, and not shown to whoever invites."""
    return visit.services.mail_terms is not None and not visit.sent.text("by_hand")


def make_link(visit: Visit, email: str, token: str) -> FreshLink:
    """Return the link of an invitation that was just made."""
    if is_mailed(visit):
        return FreshLink(email, "")
    return FreshLink(email, f"{visit.services.settings.public_url}/invitations/{token}")
