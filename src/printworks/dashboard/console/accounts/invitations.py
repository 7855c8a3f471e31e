"""Invitation links, which are shown once."""

import msgspec

from printworks.dashboard.site.visits import Visit


class FreshLink(msgspec.Struct, frozen=True):
    """An invitation link, and the address it is for."""

    email: str
    address: str


def make_link(visit: Visit, email: str, token: str) -> FreshLink:
    """Return the link of an invitation that was just made."""
    return FreshLink(email, f"{visit.services.settings.public_url}/invitations/{token}")
