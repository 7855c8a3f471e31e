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
        links = self.find_made()
        if links is None:
            key = get_link_key(db, self._services.vault)
            links = Links(self._services.settings.public_url, key, self._find_end())
            self._links = links
        return links

    def find_made(self) -> Links | None:
        """Return what makes links now, without a look into the database; None if that is needed."""
        links = self._links
        return links if links is not None and links.end == self._find_end() else None

    def _find_end(self) -> int | None:
        valid_for = self._services.settings.proof_links_valid_for
        return None if valid_for is None else find_end(self._services.clock(), valid_for)

    def time_left(self, signature: str) -> timedelta:
        """Return how long a link with a valid signature still works."""
        end = end_of(signature)
        if end is not None:
            return end - self._services.clock()
        # Where links end, those that do not are from before.
        return timedelta(0) if self._services.settings.proof_links_valid_for else _YEAR
