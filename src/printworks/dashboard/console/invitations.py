"""Links that let somebody in, shown once to whoever made them."""

import msgspec

from printworks.dashboard.site.visits import Visit


class FreshLink(msgspec.Struct, frozen=True):
    """A link that only this page shows, and whom it is for."""

    email: str
    address: str


def make_link(visit: Visit, email: str, token: str) -> FreshLink:
    """Return the link of an invitation that was just made."""
    return FreshLink(email, f"{visit.services.settings.public_url}/invitations/{token}")
