"""Makes and checks the signed links of a process."""

from datetime import timedelta
from typing import Final

from sqlalchemy import Connection

from printworks.actions.services import Services
from printworks.store.accounts.secrets import get_link_key
from printworks.wire.links import Links, end_of, find_end

_YEAR: Final = timedelta(days=365)


class LinkMaker:
    """Makes links; reads the key that signs them on first use, so that a start does not wait."""

    def __init__(self, services: Services) -> None:
        self._services = services
        self._links: Links | None = None

    def make(self, db: Connection) -> Links:
        links, valid_for = self._links, self._services.settings.proof_links_valid_for
        end = None if valid_for is None else find_end(self._services.clock(), valid_for)
        if links is None or links.end != end:
            key = get_link_key(db, self._services.vault)
            links = self._links = Links(self._services.settings.public_url, key, end)
        return links

    def time_left(self, signature: str) -> timedelta:
        """Return how long a link with a valid signature still works."""
        end = end_of(signature)
        if end is not None:
            return end - self._services.clock()
        # Where links end, those that do not are from before.
        return timedelta(0) if self._services.settings.proof_links_valid_for else _YEAR
